"""Where to cut ordered values into bins, from exact counts and in exact arithmetic."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.values import Value, canonical, label, read_number
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BINS = 250
STRATEGIES = ("quantile", "uniform")


@dataclass(frozen=True)
class BinRules:
    """How many bins, and where.

    Attributes
    ----------
    bins : int
        Bins a column.
    strategy : {"quantile", "uniform"}
        Equally full or equally wide.
    by_column : Mapping of str to int or tuple
        Another number, or the cut points themselves, for single columns.
    """

    bins: int = 5
    strategy: str = "quantile"
    by_column: Mapping[str, int | tuple[Value, ...]] = field(default_factory=dict)

    @classmethod
    def parse(cls, bins: object, strategy: str) -> BinRules:
        """Read the parameters ``bins`` (a number, or a dict by column) and ``binning``."""
        if strategy not in STRATEGIES:
            raise MisfeatError(f"binning={strategy!r} is unknown; use one of {STRATEGIES}.")
        if not isinstance(bins, Mapping):
            return cls(_number_of_bins(bins, "bins"), strategy)
        columns = {
            column: _number_of_bins(rule, f"bins[{column!r}]")
            if _is_integer(rule)
            else cut_points(rule, f"bins[{column!r}]")
            for column, rule in bins.items()
        }
        everywhere = columns.pop("*", cls.bins)
        if not isinstance(everywhere, int):
            raise MisfeatError("bins['*'] must be a number of bins, such as 5.")
        return cls(everywhere, strategy, columns)


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _number_of_bins(value: Any, name: str) -> int:
    if not _is_integer(value) or not 2 <= value <= MOST_BINS:
        raise MisfeatError(f"{name}={value!r}; it must be a whole number from 2 to {MOST_BINS}.")
    return int(value)


def cut_points(points: object, name: str) -> tuple[Value, ...]:
    """Check cut points: numbers or dates (ISO text will do), ascending, at least one."""
    if not isinstance(points, Sequence | np.ndarray) or isinstance(points, str) or not len(points):
        raise MisfeatError(f"{name}={points!r}; give cut points as a list, such as [40, 65].")
    parsed = tuple(_cut_point(point, name) for point in points)
    if any(
        isinstance(a, int | float) != isinstance(b, int | float) for a in parsed for b in parsed
    ):
        raise MisfeatError(f"{name} mixes numbers and dates; give one kind.")
    if any(a >= b for a, b in itertools.pairwise(parsed)):
        raise MisfeatError(f"{name}={points!r} must ascend, without repeats.")
    return parsed


def _cut_point(point: object, name: str) -> Value:
    if isinstance(point, str):
        number = read_number(point)
        try:
            return canonical(dt.datetime.fromisoformat(point) if number is None else number)
        except ValueError:
            raise MisfeatError(f"{name}: {point!r} is neither a number nor a date.") from None
    value = canonical(point)
    if value is None or isinstance(value, bool | str):
        raise MisfeatError(f"{name}: {point!r} is neither a number nor a date.")
    return value


def quantile_edges(values: NDArray[Any], counts: NDArray[np.int64], bins: int) -> tuple[Value, ...]:
    """Edges that fill the bins as equally as ties allow; each edge is a value of the column.

    Edge k is the smallest value with at least k/bins of the rows at or below it. Counts are whole
    numbers, so no rounding enters.

    Examples
    --------
    >>> quantile_edges(np.array([1, 2, 3, 4]), np.array([1, 1, 1, 1]), bins=2)
    (2,)
    """
    cumulative = np.cumsum(counts)
    wanted = np.arange(1, bins, dtype=np.int64) * int(cumulative[-1])
    positions = np.unique(np.searchsorted(cumulative * bins, wanted, side="left"))
    return tuple(canonical(values[p]) for p in positions if p < len(values) - 1)


def uniform_edges(low: Value, high: Value, bins: int) -> tuple[Value, ...]:
    """Edges that make the bins equally wide.

    Examples
    --------
    >>> uniform_edges(0, 10, bins=4)
    (2.5, 5, 7.5)
    """
    if isinstance(low, dt.datetime):
        return tuple(low + (high - low) * k / bins for k in range(1, bins))
    if np.isfinite(high - low):
        return tuple(canonical(low + (high - low) * k / bins) for k in range(1, bins))
    return tuple(canonical(low * (1 - k / bins) + high * (k / bins)) for k in range(1, bins))


def interval_labels(edges: Sequence[Value]) -> tuple[str, ...]:
    """Labels of the bins between edges.

    Examples
    --------
    >>> interval_labels([40, 65])
    ('<=40', '(40, 65]', '>65')
    """
    cuts = _short_labels(edges)
    inner = [f"({a}, {b}]" for a, b in itertools.pairwise(cuts)]
    return (f"<={cuts[0]}", *inner, f">{cuts[-1]}") if cuts else ("any",)


def _short_labels(edges: Sequence[Value]) -> list[str]:
    """Six digits tell edges apart, or else all of them are shown."""
    short = [f"{edge:.6g}" if isinstance(edge, float) else label(edge) for edge in edges]
    return short if len(set(short)) == len(short) else [label(edge) for edge in edges]
