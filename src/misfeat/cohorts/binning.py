"""Where to cut ordered values into bins, from exact counts and in exact arithmetic."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.values import LARGEST_INTEGER, Value, canonical, label, read_number
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BINS = 250
MOST_CUT_POINTS = 1000


@dataclass(frozen=True)
class BinRules:
    """How many bins, and where."""

    bins: int = 5
    strategy: str = "quantile"
    """{"quantile", "uniform"}: equally full or equally wide."""
    by_column: Mapping[str, int | tuple[Value, ...]] = field(default_factory=dict)
    """Another number, or the cut points themselves, for single columns."""

    @classmethod
    def parse(cls, bins: object, strategy: str) -> BinRules:
        """Read the parameters ``bins`` (a number, or a dict by column) and ``binning``."""
        if not isinstance(bins, Mapping):
            return cls(_number_of_bins(bins), strategy)
        columns = {
            column: _number_of_bins(rule, column)
            if _is_integer(rule)
            else cut_points(rule, "bins", column)
            for column, rule in bins.items()
        }
        everywhere = columns.pop("*", cls.bins)
        if not isinstance(everywhere, int):
            raise MisfeatError(
                "{setting}; it must be a number of bins, such as 5.",
                setting=Setting("bins", bins["*"], column="*"),
            )
        return cls(everywhere, strategy, columns)


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _number_of_bins(value: Any, column: str | None = None) -> int:
    if not _is_integer(value) or not 2 <= value <= MOST_BINS:
        raise MisfeatError(
            "{setting}; it must be an integer from 2 to {most}.",
            setting=Setting("bins", value, column=column),
            most=MOST_BINS,
        )
    return int(value)


def cut_points(points: object, parameter: str, column: str | None = None) -> tuple[Value, ...]:
    """Check cut points: numbers or dates (ISO text will do), ascending, at least one.

    Messages name the parameter that they are given in, and the column that they cut.

    Examples
    --------
    >>> cut_points(["40", 65.5], "bins", "age")
    (40, 65.5)
    """
    setting = Setting(parameter, points, column=column)
    if not isinstance(points, Sequence | np.ndarray) or isinstance(points, str) or not len(points):
        raise MisfeatError(
            "{setting}; give cut points, such as {example}.",
            setting=setting,
            example=Setting(parameter, [40, 65], column=column),
        )
    parsed = tuple(map(_cut_point, points))
    if None in parsed:
        raise MisfeatError(
            "{setting}: {point!r} is neither a number nor a date.",
            setting=setting,
            point=points[parsed.index(None)],
        )
    if any(isinstance(p, int) and abs(p) > LARGEST_INTEGER for p in parsed):
        raise MisfeatError(
            "{setting} holds an integer that 64 bits do not; give cut points between -2**63 and "
            "2**63.",
            setting=setting,
        )
    if len(parsed) > MOST_CUT_POINTS:
        raise MisfeatError(
            "{setting} has {n:,} cut points; give at most {most:,}.",
            setting=setting,
            n=len(parsed),
            most=MOST_CUT_POINTS,
        )
    if len({isinstance(point, int | float) for point in parsed}) > 1:
        raise MisfeatError("{setting} mixes numbers and dates; give one kind.", setting=setting)
    if any(a >= b for a, b in itertools.pairwise(parsed)):
        raise MisfeatError("{setting} must ascend, without repeats.", setting=setting)
    return parsed


def _cut_point(point: object) -> Value:
    if isinstance(point, str):
        number = read_number(point)
        try:
            return canonical(dt.datetime.fromisoformat(point) if number is None else number)
        except ValueError:
            return None
    value = canonical(point)
    return None if isinstance(value, bool | str) else value


def quantile_edges(
    values: NDArray[Any], counts: NDArray[np.int64], bins: int, part: int = 0, parts: int = 1
) -> tuple[Value, ...]:
    """Edges that fill the bins as equally as ties allow; each edge is a value of the column.

    Edge k is the smallest value with at least k/bins of the rows at or below it. Counts are
    integers, so no rounding enters. All edges may be moved up by part/parts of a bin, where the
    first bin is what is cut off below them.

    Examples
    --------
    >>> quantile_edges(np.array([1, 2, 3, 4]), np.array([1, 1, 1, 1]), bins=2)
    (2,)
    >>> quantile_edges(np.array([1, 2, 3, 4]), np.array([1, 1, 1, 1]), bins=2, part=1, parts=2)
    (1, 3)
    """
    cumulative = np.cumsum(counts)
    numerators = np.array(_numerators(bins, part, parts), dtype=np.int64)
    wanted = numerators * int(cumulative[-1])
    positions = np.unique(np.searchsorted(cumulative * (bins * parts), wanted, side="left"))
    return tuple(canonical(values[p]) for p in positions if p < len(values) - 1)


def quantile_levels(bins: int, part: int = 0, parts: int = 1) -> list[Fraction]:
    """The shares of rows at or below the edges of `quantile_edges`, at least."""
    return [Fraction(numerator, bins * parts) for numerator in _numerators(bins, part, parts)]


def _numerators(bins: int, part: int, parts: int) -> list[int]:
    return [n for n in range(part, bins * parts, parts) if n > 0]


def uniform_edges(low: Value, high: Value, bins: int) -> tuple[Value, ...]:
    """Edges that make the bins equally wide."""
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
