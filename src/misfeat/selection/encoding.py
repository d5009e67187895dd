"""Python values as JSON and back, without loss: tuples stay tuples, keys stay what they were."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from misfeat.cohorts.dataframes import names_held
from misfeat.exceptions import MisfeatError, Setting


def encoded(value: Any, name: str) -> Any:
    """What JSON can hold for a value.

    Parameters
    ----------
    value : object
        Text, numbers, flags, None, dates, and lists, tuples and mappings of these.
    name : str
        What it is, for the message where it cannot be held.

    Examples
    --------
    >>> encoded({"age": (40, 65)}, "groups")
    {'dict': [['age', {'tuple': [40, 65]}]]}
    >>> decoded(encoded({"age": (40, 65)}, "groups"))
    {'age': (40, 65)}
    """
    match value:
        case np.generic():
            return encoded(value.item(), name)
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": str(value)}
        case dt.datetime():
            return {"datetime": value.isoformat()}
        case dt.date():
            return {"date": value.isoformat()}
        case list():
            return [encoded(one, name) for one in value]
        case tuple():
            return {"tuple": [encoded(one, name) for one in value]}
        case Mapping():
            return {"dict": [[encoded(k, name), encoded(v, name)] for k, v in value.items()]}
        case np.ndarray():
            return encoded(value.tolist(), name)
        case set() | frozenset():
            return [encoded(one, name) for one in sorted(value, key=repr)]
    if (held := names_held(value)) is not None:
        return encoded(held, name)
    raise MisfeatError(
        "{setting} cannot be saved; only text, numbers, dates, and lists, tuples and mappings of "
        "these can.",
        setting=Setting(name, value),
    )


def decoded(value: Any) -> Any:
    """The value that `encoded` was given; a ValueError for anything else."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [decoded(one) for one in value]
        case {"tuple": list(members)}:
            return tuple(decoded(one) for one in members)
        case {"dict": list(pairs)}:
            return {decoded(k): decoded(v) for k, v in pairs}
        case {"float": str(text)}:
            return float(text)
        case {"datetime": str(text)}:
            return dt.datetime.fromisoformat(text)
        case {"date": str(text)}:
            return dt.date.fromisoformat(text)
    raise ValueError(f"{value!r} is no encoded value")
