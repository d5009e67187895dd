"""Python values as JSON and back, without loss: tuples stay tuples, keys stay what they were."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Special = Callable[[Any, Callable[[Any], Any]], Any]

NOT_SPECIAL = object()
"""What a function for special values gives for all others."""
_AS_THEY_ARE = frozenset({type(None), bool, int, str})


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
