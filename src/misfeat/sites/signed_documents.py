"""Documents that sites exchange: JSON of one form, a checksum, and a signature if there is a key.

A document is written in one way only, so that no byte of it can change unseen. What a stranger
wrote is read within bounds, and nothing in it is run. Keys are Ed25519 (the extra ``sites``).
"""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

from misfeat.exceptions import DamagedFileError, MisfeatError
from misfeat.runtime.file_system import as_path, refusals_told, write_file
from misfeat.saving.run_format import parse_json

VERSION = 1
LARGEST_DOCUMENT = 8 * 2**20  # Bytes of a proposal, a codebook, or the head of a summary
SHORT = 16  # Digits of a fingerprint or a key that people compare
SEALS = ("checksum", "signature")  # What is written about a document into itself
LARGEST_KEY_FILE = 10_000  # Bytes; a key takes some hundred
CHANCE = b"misfeat: chance of rounding"  # What rounding's chance is drawn for
KEY_LENGTH, SIGNATURE_LENGTH = 64, 128  # Hexadecimal digits of a public key and of a signature


def sealed(kind: str, contents: dict[str, Any], key: Any = None) -> bytes:
    """A document in one line: what it is, what it holds, its checksum and signature."""
    document = {"format": kind, "version": VERSION, **contents}
    document["signed_by"] = None if key is None else public_key(key)
    text = as_text(document)
    seals = {"checksum": hashlib.sha256(text).hexdigest(), "signature": None}
    if key is not None:
        seals["signature"] = str(key.sign(text).hex())
    return as_text({**document, **seals})


def unsealed(text: bytes, kind: str, file: str) -> dict[str, Any]:
    """The document that was sealed, checked; its ``signed_by`` is whoever did sign it, or None."""
    try:
        document = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise not_whole(file, "it is cut off, or no file of misfeat") from error
    if not isinstance(document, dict) or document.get("format") != kind:
        raise MisfeatError(f"{file!r} is no {kind.removeprefix('misfeat ')}.")
    if document.get("version") != VERSION:
        raise DamagedFileError(
            f"{file!r} is of the format {str(document.get('version'))[:20]}, and this misfeat "
            f"reads {VERSION}; use the same misfeat everywhere."
        )
    rest = {name: value for name, value in document.items() if name not in SEALS}
    plain = as_text(rest)
    if document.get("checksum") != hashlib.sha256(plain).hexdigest() or as_text(document) != text:
        raise not_whole(file, "its checksum is not that of its contents")
    public, signature = document.get("signed_by"), document.get("signature")
    if public is None and signature is None:
        return document
    digits = (public, KEY_LENGTH), (signature, SIGNATURE_LENGTH)
    if any(not isinstance(text, str) or len(text) != n for text, n in digits):
        raise not_whole(file, "its signature is none")
    from cryptography.exceptions import InvalidSignature

    try:
        key = _keys().Ed25519PublicKey.from_public_bytes(bytes.fromhex(str(public)))
        key.verify(bytes.fromhex(str(signature)), plain)
    except (InvalidSignature, ValueError) as error:
        raise not_whole(file, "its signature is not that of its contents") from error
    return document


def read_document(file: str | Path, kind: str, parameter: str) -> dict[str, Any]:
    """A document that was written to a file of its own, checked; `parameter` named it."""
    place = as_path(file, parameter)
    return unsealed(read_within(place, LARGEST_DOCUMENT).rstrip(b"\n"), kind, str(place))


def write_document(file: str | Path, kind: str, contents: dict[str, Any], key: Any) -> None:
    """Seal a document, and write it to a file of its own."""
    write_file(as_path(file, "out"), sealed(kind, contents, key) + b"\n")


def read_within(place: Path, most: int) -> bytes:
    """The contents of a file, refused where it is larger than it can be."""
    with refusals_told(place, "read"), place.open("rb") as opened:
        text = opened.read(most + 1)
    if len(text) > most:
        raise not_whole(str(place), f"it has more than {most:,} bytes")
    return text


def not_whole(file: str, why: str) -> DamagedFileError:
    """The error for a file that is not what somebody sent."""
    return DamagedFileError(f"{file!r} is damaged or was altered: {why}. Ask for it again.")


def as_text(contents: Any) -> bytes:
    """The one way in which plain values are written."""
    return json.dumps(
        contents, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":")
    ).encode()


def make_key(file: str | Path) -> str:
    """Make a key that signs, and write it to a new file that only its owner can read.

    Returns the public key, in hexadecimal digits, by which others know the site.
    """
    from cryptography.hazmat.primitives import serialization

    place = as_path(file, "out")
    if place.exists():
        raise MisfeatError(
            f"{str(place)!r} is there already, and a key that is lost cannot be made again; give "
            "another name."
        )
    key = _keys().Ed25519PrivateKey.generate()
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_file(place, text, mode=0o600)
    return public_key(key)


def read_key(file: str | Path) -> Any:
    """The key that `make_key` wrote."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    place = as_path(file, "key")
    text = read_within(place, LARGEST_KEY_FILE)
    try:
        key = load_pem_private_key(text, password=None)
    except (ValueError, TypeError) as error:
        why = f"{str(place)!r} holds no key; make one with 'misfeat site key'."
        raise MisfeatError(why) from error
    if not isinstance(key, _keys().Ed25519PrivateKey):
        why = "holds a key of another kind than Ed25519; make one with 'misfeat site key'"
        raise MisfeatError(f"{str(place)!r} {why}.")
    return key


def public_key(key: Any) -> str:
    """By which others know who signs with a key."""
    return str(key.public_key().public_bytes_raw().hex())


def secret_of(key: Any) -> bytes:
    """What only the owner of a key can draw chance from; nothing is secret without one."""
    return b"" if key is None else hmac.digest(key.private_bytes_raw(), CHANCE, "sha256")


def _keys() -> Any:
    """The module that knows keys; an error says what to install."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        why = "Signatures need the package 'cryptography'; install misfeat[sites]."
        raise MisfeatError(why) from error
    return ed25519
