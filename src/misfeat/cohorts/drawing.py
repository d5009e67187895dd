"""Rows drawn at random inside an engine, where more different ones come back than memory holds.

Every coded row has a place between 0 and 1 that follows from its codes alone and looks random. Of a
row that occurs n times, so many are kept as the binomial distribution has at that place: what is
kept are rows drawn one by one, and all engines draw the same. Large subgroups give up rows before
small ones do. All that is shown then speaks of the rows that were drawn: scores, intervals and
tests hold for these.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import narwhals as nw
import numpy as np
from scipy.stats import binom

from misfeat.cohorts.coders import CodedRows, Coder, pack_keys
from misfeat.cohorts.expressions import one_where
from misfeat.cohorts.predicates import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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
