"""Plain data as bytes and back, without loss and without pickling: JSON beside safetensors."""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import UNSAID, InPython, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Kinds = Sequence[type]

VALUE = "value"
"""Under which all that is no array is written."""
_WORDS = (Setting, InPython)
"""What messages are made of."""


class UnpackableError(ValueError):
    """Something is no plain data, or some bytes are not what `packed` gave."""


def packed(value: Any, kinds: Kinds = ()) -> bytes:
    """Plain data as bytes.

    Parameters
    ----------
    value : object
        Numbers, text, flags, None, dates, messages, arrays, and lists, tuples, dicts and
        dataclasses of these.
    kinds : sequence of type, default=()
        The dataclasses that may be among them.

    Examples
    --------
    >>> held = packed({1: (np.array([0.5, np.nan]), "text", float("nan"))})
    >>> unpacked(held)
    {1: (array([0.5, nan]), 'text', nan)}
    """
    from safetensors.numpy import save

    arrays: list[NDArray[Any]] = []
    written = json.dumps(_written(value, (*kinds, *_WORDS), arrays))
    named = {str(number): np.array(array, order="C") for number, array in enumerate(arrays)}
    content: bytes = save(named, metadata={VALUE: written})
    return content


def unpacked(content: bytes, kinds: Kinds = ()) -> Any:
    """What `packed` was given; anything else is an `UnpackableError`.

    Parameters
    ----------
    content : bytes
        What `packed` gave.
    kinds : sequence of type, default=()
        The dataclasses that may be among it.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        header = int.from_bytes(content[:8], "little")
        written = json.loads(content[8 : 8 + header])["__metadata__"][VALUE]
        by_name = {kind.__name__: kind for kind in (*kinds, *_WORDS)}
        return _read(json.loads(written), by_name, load(content))
    except (SafetensorError, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise UnpackableError(str(error)) from error


def _written(value: Any, kinds: Kinds, arrays: list[NDArray[Any]]) -> Any:
    """What JSON can hold; arrays are put into a list of their own."""

    def inner(held: Any) -> Any:
        return _written(held, kinds, arrays)

    match value:
        case Message():
            return {"message": value.template, "about": inner(value.about)}
        case np.generic():
            return inner(value.item())
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": str(value)}
        case dt.datetime():
            return {"datetime": value.isoformat()}
        case dt.date():
            return {"date": value.isoformat()}
        case np.ndarray():
            arrays.append(value)
            return {"array": len(arrays) - 1}
        case list():
            return [inner(one) for one in value]
        case tuple():
            return {"tuple": [inner(one) for one in value]}
        case dict():
            return {"dict": [[inner(key), inner(one)] for key, one in value.items()]}
    if is_dataclass(value) and type(value) in kinds:
        held = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        said = {name: inner(one) for name, one in held.items() if one is not UNSAID}
        return {"kind": type(value).__name__, "fields": said}
    raise UnpackableError(f"{type(value).__name__} is no plain data")


def _read(written: Any, kinds: dict[str, type], arrays: dict[str, NDArray[Any]]) -> Any:
    def inner(held: Any) -> Any:
        return _read(held, kinds, arrays)

    match written:
        case None | bool() | int() | float() | str():
            return written
        case list():
            return [inner(one) for one in written]
        case {"array": int(number)}:
            return arrays[str(number)]
        case {"tuple": list(members)}:
            return tuple(inner(one) for one in members)
        case {"dict": list(pairs)}:
            return {inner(key): inner(one) for key, one in pairs}
        case {"float": str(text)}:
            return float(text)
        case {"datetime": str(text)}:
            return dt.datetime.fromisoformat(text)
        case {"date": str(text)}:
            return dt.date.fromisoformat(text)
        case {"message": str(template), "about": about}:
            return Message(template, **inner(about))
        case {"kind": str(name), "fields": dict(held)}:
            return kinds[name](**{key: inner(one) for key, one in held.items()})
    raise ValueError(f"{written!r} is no plain data")
