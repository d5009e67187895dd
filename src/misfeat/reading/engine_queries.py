"""What an engine works out over all rows, so that few numbers leave it: quantiles and samples.

**Quantiles** are exact. The range of a column is cut into many equal parts, and the engine counts
the values in each. Parts that hold a wanted rank are cut again until they hold few values, which
are then counted one by one. Ranks are integers and values are only compared, so that every engine
finds the same ones.

**Samples** are drawn where more different rows come back than memory holds. Every coded row has a
place between 0 and 1 that follows from its codes alone and looks random. Of a row that occurs n
times, so many are kept as the binomial distribution has at that place: what is kept are rows drawn
one by one, and all engines draw the same. Large subgroups give up rows before small ones do. All
that is shown then speaks of the rows that were drawn: scores, intervals and tests hold for these.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import narwhals as nw
import numpy as np
from scipy.stats import binom

from misfeat.reading.coders import CodedRows, Coder, joined, pack_keys
from misfeat.reading.expressions import one_where
from misfeat.reading.table import ranks_of

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


PRIME = 2_147_483_629
"""Places are whole numbers below this prime, the squares of which fit 64 bits."""
TURNS = (1_003_515_245, 747_796_405, 389_019_331)
"""What is added before each squaring; any numbers below the prime would do."""
_SPREAD = 1_327_217_885
"""Takes neighbouring numbers far from each other: about PRIME over the golden ratio."""
LOOKED_AT = 1_000_000
"""Different rows whose numbers say how many of each subgroup there are, at most."""
PLACE = "place"


def with_key(place: Any, key: Any) -> Any:
    """A place moved on by a whole number; arrays and expressions of an engine alike."""
    return (key % PRIME + place) % PRIME


def turned(place: Any, turn: int) -> Any:
    """A place moved on so that where it came from cannot be told."""
    return (place + turn) * ((place + turn) % PRIME) % PRIME


def places_of(keys: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The places of coded rows, from the whole numbers that hold their codes.

    Examples
    --------
    >>> places_of([np.array([0, 1, 2])])
    array([ 436567837, 1423086897, 1686130470])
    """
    place = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        place = with_key(place, key)
        for turn in TURNS:
            place = turned(place, turn)
    return place


def one_looked_at_in(n_rows: int) -> int:
    """Of how many different rows one is looked at, in a table of so many rows."""
    return 1 << ((n_rows - 1) // LOOKED_AT).bit_length()


def is_looked_at(keys: Sequence[Any], one_in: int) -> Any:
    """Whether a coded row is among those that are looked at, which one in so many is.

    They are spread evenly, which is enough to tell how many there are; an engine works it out
    faster than places.
    """
    place: Any = 0
    for key in keys:
        place = (key % PRIME * _SPREAD + place) % PRIME
    return place < PRIME // one_in


@dataclass(frozen=True)
class Drawing:
    """How many rows are kept, by subgroup."""

    one_in: dict[int, int]
    """Of the rows of a combination of group codes, one in so many is kept; all of those that are
    not among them."""
    n_rows: int
    """How many different rows there are, about."""

    @classmethod
    def planned(
        cls, groups: NDArray[np.int64], counts: NDArray[np.int64], looked_at: int, most: int
    ) -> Drawing | None:
        """Draw so that at most so many different rows are left; None where they are no more.

        `groups` are the group codes, as one number, of one in `looked_at` different rows, and
        `counts` how often each of these occurs.

        Examples
        --------
        >>> groups, counts = np.array([0] * 9 + [1]), np.ones(10, dtype=np.int64)
        >>> Drawing.planned(groups, counts, 100, 500).one_in
        {0: 3}
        """
        if len(groups) * looked_at <= most:
            return None
        by_group = {int(g): counts[groups == g] for g in np.unique(groups)}
        held = np.sort([len(own) * looked_at for own in by_group.values()])
        share = _largest_share(held, most)
        one_in = {
            group: _one_in(own, share / looked_at)
            for group, own in by_group.items()
            if len(own) * looked_at > share
        }
        return cls(one_in, len(groups) * looked_at)

    def by_rate(self) -> dict[int, list[int]]:
        """The groups of which one row in so many is kept, by that number."""
        found: dict[int, list[int]] = {}
        for group, rate in self.one_in.items():
            found.setdefault(rate, []).append(group)
        return found

    def rates(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of which number of rows one is kept, row by row."""
        found = np.ones(len(groups), dtype=np.int64)
        for rate, among in self.by_rate().items():
            found[np.isin(groups, among)] = rate
        return found


@runtime_checkable
class DrawsRows(Protocol):
    """A table in an engine, which can keep back a part of its rows."""

    def draw_codes(
        self, coders: Sequence[Coder], n_groups: int, most: int
    ) -> tuple[CodedRows, Drawing | None]:
        """Code every row and collapse equal ones; draw from them where more than `most` are left.

        The first coders are those of the groupings. The second value says how rows were drawn, and
        is None where they were not.
        """
        ...


def _largest_share(held: NDArray[np.int64], most: int) -> float:
    """How many rows a group may keep so that all together keep at most so many."""
    for place, own in enumerate(held.tolist()):
        share = most / (len(held) - place)
        if own >= share:
            return share
        most -= own
    return float(held[-1])


def _one_in(counts: NDArray[np.int64], most: float) -> int:
    """The smallest of some round numbers that leaves at most so many different rows."""
    rate = 1
    while (1.0 - (1.0 - 1.0 / rate) ** counts).sum() > most:
        rate = _next(rate)
    return rate


def _next(rate: int) -> int:
    """The next of 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ..."""
    return rate + max(1, (1 << (rate.bit_length() - 1)) // 4)


def drawn(rows: CodedRows, places: NDArray[np.int64], rates: NDArray[np.int64]) -> CodedRows:
    """The rows that are kept of coded rows, one in `rates`, by their `places_of`."""
    at, share = places / PRIME, 1.0 / rates
    kept = np.where(at < share, 1, 0).astype(np.int64)
    kept = np.where(rates == 1, rows.weights, kept)
    several = (rates > 1) & (rows.weights > 1)
    kept[several] = binom.isf(at[several], rows.weights[several], share[several]).astype(np.int64)
    some = kept > 0
    share = (kept / rows.weights)[some]
    more = [np.ceil(one[some] * share).astype(np.int64) for one in rows.more]
    return CodedRows(rows.codes[:, some], kept[some], *more)


def likely_kept(
    counted: nw.LazyFrame[Any], keys: Sequence[str], below: int, drawing: Drawing, count: str
) -> nw.LazyFrame[Any]:
    """Counted rows without most of those that are not kept; `kept_of` has the last word.

    The columns `keys` hold the codes, those of the groupings in the first, of which `below` numbers
    have the same codes of the groupings.
    """
    counted = counted.with_columns((nw.col(keys[0]) * 0).alias(PLACE))
    for key in keys:
        counted = counted.with_columns(with_key(nw.col(PLACE), nw.col(key)).alias(PLACE))
        for turn in TURNS:  # one by one: engines repeat what is written into one expression
            counted = counted.with_columns(turned(nw.col(PLACE), turn).alias(PLACE))
    first = nw.col(keys[0])
    group = first - first % below
    of_group = (
        one_where(group.is_in([one * below for one in among])) * (rate - 1)
        for rate, among in drawing.by_rate().items()
    )
    rate = joined(operator.add, [nw.lit(1), *of_group]).cast(nw.Float64)
    place, rows = nw.col(PLACE).cast(nw.Float64), nw.col(count).cast(nw.Float64)
    return counted.filter(place * rate < rows * float(PRIME)).drop(PLACE)


def kept_of(rows: CodedRows, bases: Sequence[int], n_groups: int, drawing: Drawing) -> CodedRows:
    """The rows that are kept of coded rows, whose first codes are those of the groupings."""
    codes = list(rows.codes)
    groups = np.zeros(len(rows.weights), dtype=np.int64)
    if n_groups:
        (groups,) = pack_keys(codes[:n_groups], bases[:n_groups])
    return drawn(rows, places_of(pack_keys(codes, bases)), drawing.rates(groups))
