"""Keys of sites: Ed25519 through `cryptography`, which the extra ``sites`` brings along."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError
from misfeat.machine.paths import as_path, unreadable
from misfeat.machine.writing import write_file

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_KEY_FILE = 10_000
"""Bytes; a key takes some hundred."""
CHANCE = b"misfeat: chance of rounding"
"""What a key is asked for where chance is drawn from it, and not a signature."""
KEY_LENGTH, SIGNATURE_LENGTH = 64, 128
"""Hexadecimal digits of a public key and of a signature."""


def make_key(file: str | Path) -> str:
    """Make a key that signs, write it to a file that only its owner can read, and say who it is.

    Parameters
    ----------
    file : str or Path
        Where to; a file that is there already is not replaced.

    Returns
    -------
    str
        The public key, in hexadecimal digits, by which others know the site.
    """
    from cryptography.hazmat.primitives import serialization

    place = as_path(file, "out")
    if place.exists():
        raise MisfeatError(
            "{file!r} is there already, and a key that is lost cannot be made again; give another "
            "name.",
            file=str(place),
        )
    key = _keys().Ed25519PrivateKey.generate()
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    write_file(place, text)
    place.chmod(0o600)
    return public_key(key)


def read_key(file: str | Path) -> Any:
    """The key that `make_key` wrote.

    Parameters
    ----------
    file : str or Path
        Where it is.
    """
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    place = as_path(file, "key")
    try:
        with place.open("rb") as opened:
            text = opened.read(LARGEST_KEY_FILE)
    except OSError as error:
        raise unreadable(place, error) from error
    try:
        key = load_pem_private_key(text, password=None)
    except (ValueError, TypeError) as error:
        raise MisfeatError(
            "{file!r} holds no key; make one with 'misfeat site key'.", file=str(place)
        ) from error
    if not isinstance(key, _keys().Ed25519PrivateKey):
        raise MisfeatError(
            "{file!r} holds a key of another kind than Ed25519; make one with 'misfeat site key'.",
            file=str(place),
        )
    return key


def public_key(key: Any) -> str:
    """By which others know who signs with a key."""
    return str(key.public_key().public_bytes_raw().hex())


def signature_of(content: bytes, key: Any) -> str:
    """What only the owner of a key can write under something."""
    return str(key.sign(content).hex())


def secret_of(key: Any) -> bytes:
    """What only the owner of a key can draw chance from, the same every time.

    Without a key, nothing is secret.
    """
    if key is None:
        return b""
    return hmac.digest(key.private_bytes_raw(), CHANCE, "sha256")


def is_signed(content: bytes, public: str, signature: str) -> bool:
    """Whether the owner of a public key signed something."""
    from cryptography.exceptions import InvalidSignature

    try:
        key = _keys().Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), content)
    except (InvalidSignature, ValueError):
        return False
    return True


def _keys() -> Any:
    """The module that knows keys; an error says what to install."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MisfeatError(
            "Signatures need the package 'cryptography'; install misfeat[sites]."
        ) from error
    return ed25519
