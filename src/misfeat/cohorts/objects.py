"""Columns of Python objects, sorted out once: numbers, dates, flags, text, or nothing usable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.coders import Kind
from misfeat.cohorts.values import EXACT_INTEGERS, Value, canonical, check_values, label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_CONTAINERS = (list, dict, set, np.ndarray)


def settle_objects(values: Iterable[Any], column: str) -> tuple[Kind, NDArray[Any]]:
    """Find what a column of objects holds, and bring its values to one type.

    Numbers become float64 with NaN, dates ``datetime64[us]`` with NaT, all else objects with None:
    bool for flags, str for text, int for integers of 64 bits that floats would round. Values of
    several types become their labels. A list or another container is `UNSUPPORTED`.

    Examples
    --------
    >>> settle_objects([1, None, 2.5], "x")
    (<Kind.NUMBER: 'number'>, array([1. , nan, 2.5]))
    >>> settle_objects([1, "a", None], "x")
    (<Kind.TEXT: 'text'>, array(['1', 'a', None], dtype=object))
    """
    listed = list(values)
    if any(isinstance(value, _CONTAINERS) for value in listed):
        return Kind.UNSUPPORTED, np.empty(len(listed), dtype=object)
    plain = [canonical(value) for value in listed]
    types = {type(value) for value in plain} - {type(None)}
    if types == {int} and _need_integers(plain):
        return Kind.INTEGER, _objects(plain)
    if types and types <= {int, float}:
        return Kind.NUMBER, np.array([np.nan if v is None else v for v in plain], dtype=np.float64)
    if types and all(not issubclass(t, bool | int | float | str) for t in types):
        return Kind.TIME, np.array(plain, dtype="datetime64[us]")
    if types == {bool}:
        return Kind.FLAG, _objects(plain)
    texts = [None if value is None else label(value) for value in plain]
    check_values(texts, column)
    return Kind.TEXT, _objects(texts)


def _need_integers(values: list[Value]) -> bool:
    """Whether integers differ where floats would not, and 64 bits hold them all."""
    known = [value for value in values if value is not None]
    return max(map(abs, known)) >= EXACT_INTEGERS and all(-(2**63) <= v < 2**63 for v in known)


def _objects(values: list[Value]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
