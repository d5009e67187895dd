"""Settings as JSON and back, without loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.completion.named import COMPLETERS, completer_classes
from misfeat.exceptions import MisfeatError, Setting
from misfeat.machine.packing import NOT_SPECIAL, NotPlainError, read, written
from misfeat.reading.dataframes import names_held

if TYPE_CHECKING:
    from collections.abc import Callable


def encoded(value: Any, name: str) -> Any:
    """What JSON can hold for a value.

    `name` is what a message calls it.

    Examples
    --------
    >>> encoded({"age": (40, 65)}, "groups")
    {'dict': [['age', {'tuple': [40, 65]}]]}
    >>> decoded(encoded({"age": (40, 65)}, "groups"))
    {'age': (40, 65)}
    """
    try:
        return written(value, _other_collections)
    except NotPlainError as error:
        raise MisfeatError(
            "{setting} cannot be saved; only text, numbers, dates, and lists, tuples and mappings "
            "of these can.",
            setting=Setting(name, error.value),
        ) from error


def decoded(value: Any) -> Any:
    """The value that `encoded` was given; a ValueError for anything else."""
    return read(value)


def encoded_completer(completer: Any) -> Any:
    """A completer's name, or a completer of ours with its settings, as JSON can hold it."""
    if isinstance(completer, str):
        return completer
    name = completer_classes().get(type(completer).__name__)
    if name is None or type(completer) is not COMPLETERS[name]:
        raise MisfeatError(
            "{setting} cannot be saved; only those that misfeat comes with can.",
            setting=Setting("completer", completer),
        )
    params = completer.get_params(deep=False)
    return {"name": name, "params": {k: encoded(v, k) for k, v in params.items()}}


def decoded_completer(saved: Any) -> Any:
    """What `encoded_completer` was given."""
    if isinstance(saved, str):
        return saved
    params = {name: decoded(value) for name, value in saved["params"].items()}
    return COMPLETERS[saved["name"]](**params)


def _other_collections(value: Any, inner: Callable[[Any], Any]) -> Any:
    """Mappings, arrays, sets and columns of names as the plain collection that is nearest."""
    match value:
        case Mapping():
            return inner(dict(value)) if type(value) is not dict else NOT_SPECIAL
        case np.ndarray():
            return inner(value.tolist())
        case set() | frozenset():
            return [inner(one) for one in sorted(value, key=repr)]
        case list() | tuple() | np.generic():
            return NOT_SPECIAL
    held = names_held(value)
    return NOT_SPECIAL if held is None else inner(held)
