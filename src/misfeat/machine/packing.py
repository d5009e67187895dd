"""Plain data as bytes and back, without loss and without pickling: JSON beside safetensors.

Tuples stay tuples, and keys stay what they were. `packed` and `unpacked` are for bytes with arrays,
`written` and `read` for what JSON alone can hold.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import UNSAID, InPython, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Kinds = Sequence[type]
    Special = Callable[[Any, Callable[[Any], Any]], Any]

VALUE = "value"
"""Under which all that is no array is written."""
_WORDS = (Setting, InPython)
"""What messages are made of."""
NOT_SPECIAL = object()
"""What a function for special values gives for all others."""
_AS_THEY_ARE = frozenset({type(None), bool, int, str})


class UnpackableError(ValueError):
    """Something is no plain data, or some bytes are not what `packed` gave."""


def packed(value: Any, kinds: Kinds = ()) -> bytes:
    """Plain data as bytes.

    That is numbers, text, flags, None, dates, messages, arrays, and lists, tuples and dicts of
    these, and dataclasses of the given kinds.

    Examples
    --------
    >>> held = packed({1: (np.array([0.5, np.nan]), "text", float("nan"))})
    >>> unpacked(held)
    {1: (array([0.5, nan]), 'text', nan)}
    """
    from safetensors.numpy import save

    arrays: list[NDArray[Any]] = []
    try:
        said = json.dumps(_as_json(value, (*kinds, *_WORDS), arrays))
    except NotPlainError as error:
        raise UnpackableError(str(error)) from error
    named = {str(number): np.array(array, order="C") for number, array in enumerate(arrays)}
    content: bytes = save(named, metadata={VALUE: said})
    return content


def unpacked(content: bytes, kinds: Kinds = ()) -> Any:
    """What `packed` was given; anything else is an `UnpackableError`."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        header = int.from_bytes(content[:8], "little")
        said = json.loads(content[8 : 8 + header])["__metadata__"][VALUE]
        by_name = {kind.__name__: kind for kind in (*kinds, *_WORDS)}
        return _from_json(json.loads(said), by_name, load(content))
    except (SafetensorError, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise UnpackableError(str(error)) from error


def _as_json(value: Any, kinds: Kinds, arrays: list[NDArray[Any]]) -> Any:
    """What JSON can hold; arrays are put into a list of their own."""

    def special(held: Any, inner: Callable[[Any], Any]) -> Any:
        if isinstance(held, Message):
            return {"message": held.template, "about": inner(held.about)}
        if isinstance(held, np.ndarray):
            arrays.append(held)
            return {"array": len(arrays) - 1}
        if is_dataclass(held) and type(held) in kinds:
            parts = {one.name: getattr(held, one.name) for one in fields(held) if one.init}
            said = {name: inner(one) for name, one in parts.items() if one is not UNSAID}
            return {"kind": type(held).__name__, "fields": said}
        return NOT_SPECIAL

    return written(value, special)


def _from_json(found: Any, kinds: dict[str, type], arrays: dict[str, NDArray[Any]]) -> Any:
    def special(held: Any, inner: Callable[[Any], Any]) -> Any:
        match held:
            case {"array": int(number)}:
                return arrays[str(number)]
            case {"message": str(template), "about": about}:
                return Message(template, **inner(about))
            case {"kind": str(name), "fields": dict(parts)}:
                return kinds[name](**{key: inner(one) for key, one in parts.items()})
        return NOT_SPECIAL

    return read(found, special)


class NotPlainError(ValueError):
    """A value is no plain data, or something is not what `written` gave."""

    def __init__(self, message: str, value: Any) -> None:
        super().__init__(message)
        self.value = value


def _none_special(_value: Any, _inner: Callable[[Any], Any]) -> Any:
    return NOT_SPECIAL


def written(value: Any, special: Special = _none_special) -> Any:
    """What JSON can hold for a value: text, numbers, flags, None, dates, lists, tuples and dicts.

    `special` takes a value and how to write what it holds; it gives what is written for it, or
    NOT_SPECIAL.

    Examples
    --------
    >>> written({"age": (40, 65)})
    {'dict': [['age', {'tuple': [40, 65]}]]}
    >>> read(written({"age": (40, 65)}))
    {'age': (40, 65)}
    """
    if type(value) in _AS_THEY_ARE:
        return value

    def inner(held: Any) -> Any:
        return written(held, special)

    found = special(value, inner)
    if found is not NOT_SPECIAL:
        return found
    match value:
        case np.generic():
            return inner(value.item())
        case int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": str(value)}
        case dt.datetime():
            return {"datetime": value.isoformat()}
        case dt.date():
            return {"date": value.isoformat()}
        case list():
            return [inner(one) for one in value]
        case tuple():
            return {"tuple": [inner(one) for one in value]}
        case dict():
            return {"dict": [[inner(key), inner(one)] for key, one in value.items()]}
    raise NotPlainError(f"{type(value).__name__} is no plain data", value)


def read(held: Any, special: Special = _none_special) -> Any:
    """The value that `written` was given; a NotPlainError for anything else."""

    def inner(one: Any) -> Any:
        return read(one, special)

    match held:
        case None | bool() | int() | float() | str():
            return held
        case list():
            return [inner(one) for one in held]
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
    found = special(held, inner)
    if found is NOT_SPECIAL:
        raise NotPlainError(f"{held!r} is no plain data", held)
    return found
