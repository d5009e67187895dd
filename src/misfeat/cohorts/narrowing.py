"""Values by their ranks, exactly, from counts that an engine makes: no column leaves it whole.

The range of a column is cut into many equal parts, and the engine counts the values in each. Parts
that hold a wanted rank are cut again until they hold few values, which are then counted one by one.
Ranks are integers and values are only compared, so that every engine finds the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from misfeat.cohorts.predicates import joined
from misfeat.cohorts.weighing import ranks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    Collect = Callable[[nw.LazyFrame[Any]], nw.DataFrame[Any]]

N_PARTS = 2**14
"""Parts that a range is cut into at once: their counts are few for an engine to hold."""
FEW_VALUES = 200_000
"""Parts with at most so many rows are counted value by value."""
WIDEST = 8e307
"""Ranges beyond this would overflow; what lies outside is a part of its own."""
VALUE, TIMES = "value", "times"
_BUCKET, _LOW, _HIGH, _ROWS = "bucket", "low", "high", "n_rows"


@dataclass(frozen=True)
class Part:
    """A stretch of the values of a column."""

    low: Any
    high: Any
    """The smallest and the largest of its values."""
    below: int
    """Rows whose values are smaller."""
    rows: int
    """Rows whose values lie in it."""

    def holds(self, rank: int) -> bool:
        """Whether the value of a rank, from 1 on, lies in it."""
        return self.below < rank <= self.below + self.rows

    @property
    def bounds(self) -> tuple[float, float]:
        """Where it is cut into parts; what is infinite lies outside."""
        return max(float(self.low), -WIDEST), min(float(self.high), WIDEST)

    @property
    def scale(self) -> float:
        """Parts a unit of the column; infinite where values lie too close for that."""
        low, high = self.bounds
        return N_PARTS / (high - low) if high > low else inf


@dataclass(frozen=True)
class Counted:
    """What an engine counted, sorted by value."""

    low: NDArray[Any]
    high: NDArray[Any]
    """The smallest and the largest value of each line; the same where it counts one value."""
    rows: NDArray[np.int64]
    """How many rows each line stands for."""

    @classmethod
    def of(cls, low: NDArray[Any], high: NDArray[Any], rows: NDArray[np.int64]) -> Counted:
        """Lines in whatever order."""
        order = np.argsort(low, kind="stable")
        return cls(low[order], high[order], rows[order])


class EngineColumn:
    """A numeric column of a table in an engine, rows without a value left out.

    Rows have a column `VALUE`, and `TIMES` where they occur more than once. What was counted is
    remembered, so that further ranks take fewer passes.
    """

    def __init__(self, rows: nw.LazyFrame[Any], collect: Collect) -> None:
        self._rows = rows
        self._collect = collect
        repeats = TIMES in rows.collect_schema().names()
        self._count = nw.col(TIMES).sum() if repeats else nw.len()
        self._whole: Part | None = None
        self._parts: dict[Part, Counted] = {}

    def whole(self) -> Part | None:
        """All values; None where there is none."""
        if self._whole is None:
            self._whole = self._counted_whole()
        return self._whole

    def _counted_whole(self) -> Part | None:
        value = nw.col(VALUE)
        found = self._collect(
            self._rows.select(
                value.min().alias(_LOW), value.max().alias(_HIGH), self._count.alias(_ROWS)
            )
        )
        rows = found[_ROWS][0]
        if not rows:
            return None
        low, high = (found[name].to_numpy()[0].item() for name in (_LOW, _HIGH))
        return Part(low, high, 0, int(rows))

    def parts(self, part: Part) -> Counted:
        """Rows in each of `N_PARTS` equal parts of a part, empty ones left out."""
        if part not in self._parts:
            self._parts[part] = self._counted_parts(part)
        return self._parts[part]

    def _counted_parts(self, part: Part) -> Counted:
        value = nw.col(VALUE)
        low, high = part.bounds
        place = value.cast(nw.Float64)
        inside = ((place - low) * part.scale).floor()
        bucket = (
            nw.when(place > high)
            .then(nw.lit(float(N_PARTS + 1)))
            .otherwise(nw.when(place < low).then(nw.lit(-1.0)).otherwise(inside))
            .cast(nw.Int64)  # PostgreSQL makes decimals of what is rounded down
        )
        chosen = self._rows.filter((value >= part.low) & (value <= part.high))
        return self._counted(chosen.with_columns(bucket.alias(_BUCKET)), _BUCKET)

    def values(self, parts: Sequence[Part]) -> Counted:
        """Rows of every value in some parts."""
        value = nw.col(VALUE)
        within = [(value >= part.low) & (value <= part.high) for part in parts]
        chosen = self._rows.filter(joined(lambda one, other: one | other, within))
        return self._counted(chosen.with_columns(value.alias(_BUCKET)), _BUCKET)

    def _counted(self, rows: nw.LazyFrame[Any], key: str) -> Counted:
        """Rows by a key, with the smallest and the largest value of each."""
        value = nw.col(VALUE)
        found = self._collect(
            rows.group_by(key).agg(
                value.min().alias(_LOW), value.max().alias(_HIGH), self._count.alias(_ROWS)
            )
        )
        low, high, count = (found[name].to_numpy() for name in (_LOW, _HIGH, _ROWS))
        return Counted.of(low, high, count.astype(np.int64))


def values_at(shares: Sequence[float | Fraction], column: EngineColumn) -> list[Any]:
    """The smallest values with at least given shares, from 0 to 1, of the rows at or below them."""
    whole = column.whole()
    if whole is None:
        return []
    ranks = ranks_of(shares, whole.rows)
    found = {1: whole.low, whole.rows: whole.high}
    open_parts = [whole]
    few: list[Part] = []
    while open_parts:
        part = open_parts.pop()
        wanted = {rank for rank in ranks if part.holds(rank) and rank not in found}
        if not wanted:
            continue
        if part.rows <= FEW_VALUES or not isfinite(part.scale):
            few.append(part)
            continue
        for smaller in _holding(wanted, part, column.parts(part)):
            if smaller.low == smaller.high:
                found |= dict.fromkeys(filter(smaller.holds, wanted), smaller.low)
            else:
                open_parts.append(smaller)
    if few:
        found |= _one_by_one(ranks, found, few, column.values(few))
    return [found[rank] for rank in ranks]


def _holding(ranks: set[int], part: Part, counted: Counted) -> list[Part]:
    below = part.below + np.concatenate([[0], np.cumsum(counted.rows)])
    places = {int(np.searchsorted(below, rank, side="left")) - 1 for rank in ranks}
    return [
        Part(
            counted.low[place].item(),
            counted.high[place].item(),
            int(below[place]),
            int(counted.rows[place]),
        )
        for place in sorted(places)
    ]


def _one_by_one(
    ranks: Sequence[int], known: dict[int, Any], parts: Sequence[Part], counted: Counted
) -> dict[int, Any]:
    """The values of ranks that lie in parts whose values were counted."""
    found = {}
    for part in parts:
        inside = (counted.low >= part.low) & (counted.low <= part.high)
        values, ends = counted.low[inside], part.below + np.cumsum(counted.rows[inside])
        for rank in ranks:
            if rank not in known and part.holds(rank):
                found[rank] = values[np.searchsorted(ends, rank, side="left")].item()
    return found
