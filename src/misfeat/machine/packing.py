"""Plain data as bytes and back, without loss and without pickling: JSON beside safetensors."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import UNSAID, InPython, Message, Setting
from misfeat.machine.values import NOT_SPECIAL, NotPlainError, read, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        said = json.dumps(_written(value, (*kinds, *_WORDS), arrays))
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
        return _read(json.loads(said), by_name, load(content))
    except (SafetensorError, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise UnpackableError(str(error)) from error


def _written(value: Any, kinds: Kinds, arrays: list[NDArray[Any]]) -> Any:
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


def _read(found: Any, kinds: dict[str, type], arrays: dict[str, NDArray[Any]]) -> Any:
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
