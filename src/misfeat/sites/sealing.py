"""Documents that sites exchange: JSON of one form, a checksum, and a signature if there is a key.

A document is written in one way only, so that no byte of it can change unseen. What a stranger
wrote is read within bounds, and nothing in it is run.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import DamagedFileError, MisfeatError
from misfeat.machine.paths import as_path, unreadable
from misfeat.machine.writing import write_file
from misfeat.sites.signing import (
    KEY_LENGTH,
    SIGNATURE_LENGTH,
    is_signed,
    public_key,
    signature_of,
)

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
LARGEST_DOCUMENT = 8 * 2**20
"""Bytes of a proposal, a codebook, or the head of a summary."""
SEALS = ("checksum", "signature")
"""What is written about a document into itself."""


def sealed(kind: str, contents: dict[str, Any], key: Any = None) -> bytes:
    """A document in one line: what it is, what it holds, its checksum and signature.

    Examples
    --------
    >>> text = sealed("misfeat codebook", {"target": "num"})
    >>> unsealed(text, "misfeat codebook", "codebook.json")["target"]
    'num'
    """
    document = {"format": kind, "version": VERSION, **contents}
    document["signed_by"] = None if key is None else public_key(key)
    text = _as_text(document)
    seals = {"checksum": hashlib.sha256(text).hexdigest(), "signature": None}
    if key is not None:
        seals["signature"] = signature_of(text, key)
    return _as_text({**document, **seals})


def unsealed(text: bytes, kind: str, file: str) -> dict[str, Any]:
    """The document that was sealed, checked; its ``signed_by`` is whoever did sign it, or None.

    `file` says where it came from, for messages.
    """
    try:
        document = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise not_whole(file, "it is cut off, or no file of misfeat") from error
    if not isinstance(document, dict) or document.get("format") != kind:
        raise MisfeatError("{file!r} is no {kind}.", file=file, kind=kind.removeprefix("misfeat "))
    if document.get("version") != VERSION:
        raise DamagedFileError(
            "{file!r} is of the format {version}, and this misfeat reads {own}; use the same "
            "misfeat everywhere.",
            file=file,
            version=str(document.get("version"))[:20],
            own=VERSION,
        )
    rest = {name: value for name, value in document.items() if name not in SEALS}
    plain = _as_text(rest)
    if document.get("checksum") != hashlib.sha256(plain).hexdigest() or _as_text(document) != text:
        raise not_whole(file, "its checksum is not that of its contents")
    _check_signature(document, plain, file)
    return document


def read_document(file: str | Path, kind: str, parameter: str) -> dict[str, Any]:
    """A document that was written to a file of its own, checked.

    `parameter` named it, for messages.
    """
    place = as_path(file, parameter)
    text = read_within(place, LARGEST_DOCUMENT)
    return unsealed(text.rstrip(b"\n"), kind, str(place))


def write_document(file: str | Path, text: bytes, parameter: str = "out") -> None:
    """Write a sealed document to a file."""
    write_file(as_path(file, parameter), text + b"\n")


def read_within(place: Path, most: int) -> bytes:
    """The contents of a file, refused where it is larger than it can be."""
    try:
        with place.open("rb") as opened:
            text = opened.read(most + 1)
    except OSError as error:
        raise unreadable(place, error) from error
    if len(text) > most:
        raise not_whole(str(place), f"it has more than {most:,} bytes")
    return text


def not_whole(file: str, why: str) -> DamagedFileError:
    """The error for a file that is not what somebody sent."""
    return DamagedFileError(
        "{file!r} is damaged or was altered: {why}. Ask for it again.", file=file, why=why
    )


def checksum_of(contents: Any) -> str:
    """The checksum of plain values, by which people compare what they have."""
    return hashlib.sha256(_as_text(contents)).hexdigest()


def _check_signature(document: dict[str, Any], plain: bytes, file: str) -> None:
    public, signature = document.get("signed_by"), document.get("signature")
    if public is None and signature is None:
        return
    if not isinstance(public, str) or not isinstance(signature, str):
        raise not_whole(file, "its signature is none")
    if len(public) != KEY_LENGTH or len(signature) != SIGNATURE_LENGTH:
        raise not_whole(file, "its signature is none")
    if not is_signed(plain, public, signature):
        raise not_whole(file, "its signature is not that of its contents")


def _no_number(word: str) -> None:
    """What Python would read as infinite or as no number is not JSON."""
    raise ValueError(word)


def _as_text(contents: Any) -> bytes:
    """The one way in which plain values are written."""
    return json.dumps(
        contents, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":")
    ).encode()
