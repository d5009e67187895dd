"""Settings as JSON and back, without loss, and JSON that is read strictly."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from misfeat.completion.registry import completer_class, completer_classes
from misfeat.exceptions import MisfeatError, Setting
from misfeat.reading.inputs import names_held


class NotPlainError(ValueError):
    """A value cannot be written, or something is not what `encoded` gave."""

    def __init__(self, value: Any) -> None:
        super().__init__(f"{type(value).__name__} is no plain data")
        self.value = value


def encoded(value: Any, name: str) -> Any:
    """What JSON can hold for a value; messages call it by a name."""
    try:
        return _encoded(value)
    except NotPlainError as error:
        raise MisfeatError(
            "{setting} cannot be saved; only text, numbers, dates, and lists, tuples and mappings "
            "of these can.",
            setting=Setting(name, error.value),
        ) from error


def decoded(value: Any) -> Any:
    """The value that `encoded` was given; a ValueError for anything else."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [decoded(member) for member in value]
        case {"tuple": list(members)}:
            return tuple(decoded(member) for member in members)
        case {"dict": list(pairs)}:
            return {decoded(key): decoded(member) for key, member in pairs}
        case {"float": str(text)}:
            return float(text)
        case {"datetime": str(text)}:
            return dt.datetime.fromisoformat(text)
        case {"date": str(text)}:
            return dt.date.fromisoformat(text)
    raise NotPlainError(value)


def encoded_completer(completer: Any) -> Any:
    """A completer's name, or a completer of ours with its settings, as JSON can hold it."""
    if isinstance(completer, str):
        return completer
    name = completer_classes().get(type(completer).__name__)
    if name is None or type(completer) is not completer_class(name):
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
    return completer_class(saved["name"])(**params)


def parse_json(text: bytes) -> Any:
    """What JSON holds; a ValueError also for what Python alone takes for a number, as NaN."""
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _encoded(value: Any) -> Any:
    """What JSON can hold; other collections are written as the plain one that is nearest."""
    match value:
        case np.generic():
            return _encoded(value.item())
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": str(value)}
        case dt.datetime():
            return {"datetime": value.isoformat()}
        case dt.date():
            return {"date": value.isoformat()}
        case list():
            return [_encoded(member) for member in value]
        case tuple():
            return {"tuple": [_encoded(member) for member in value]}
        case Mapping():
            return {"dict": [[_encoded(key), _encoded(member)] for key, member in value.items()]}
        case np.ndarray():
            return _encoded(value.tolist())
        case set() | frozenset():
            return [_encoded(member) for member in sorted(value, key=repr)]
    names = names_held(value)
    if names is None:
        raise NotPlainError(value)
    return _encoded(names)
