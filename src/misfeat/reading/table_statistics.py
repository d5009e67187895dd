"""What tables answer with, in memory and in engines alike."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from misfeat.reading.coders import Coder, Kind, Reading
from misfeat.reading.values import Value, canonical, sort_key
from misfeat.runtime.array_types import Array, Flags, Floats, Indices, Integers

EAGER_LIBRARIES = ("pandas", "polars", "pyarrow")
"""Libraries that hold tables in memory and that results can come back in, the first preferred."""
NO_COLUMNS = "The table has no columns; pass one with a column for every feature."


@dataclass(frozen=True)
class ValueCounts:
    """The distinct values of a column, ascending, with how often each occurs."""

    values: Array  # Numbers, or canonical Python values (dtype object)
    counts: Integers
    missing: int  # Rows with null, NaN, None or NaT

    def in_order(self, order: Sequence[Value]) -> "ValueCounts":
        """The same with values in a given order, which has all of them."""
        rank = {value: position for position, value in enumerate(order)}
        by_rank = np.argsort([rank[value] for value in self.values.tolist()])
        return ValueCounts(self.values[by_rank], self.counts[by_rank], self.missing)

    def without(self, is_code: Flags) -> "ValueCounts":
        """Count the flagged values as missing."""
        missing = self.missing + int(self.counts[is_code].sum())
        return ValueCounts(self.values[~is_code], self.counts[~is_code], missing)


def tally(values: Iterable[Any], counts: Integers, kind: Kind) -> ValueCounts:
    """Bring raw values and their counts to canonical, sorted, merged form."""
    if isinstance(values, np.ndarray) and kind in (Kind.INTEGER, Kind.NUMBER):
        absent = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        distinct, position = np.unique(values[~absent], return_inverse=True)
        sums = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(sums, position, counts[~absent])
        return ValueCounts(distinct, sums, int(counts[absent].sum()))
    totals: Counter[Value] = Counter()
    missing = 0
    for value, count in zip(map(canonical, values), counts.tolist(), strict=True):
        if value is None:
            missing += count
        else:
            # The type keeps True and 1 apart, which are equal as dictionary keys.
            totals[type(value), value] += count
    ordered = sorted(totals.items(), key=lambda item: sort_key(item[0][1]))
    occurring = np.empty(len(ordered), dtype=object)
    occurring[:] = [value for (_, value), _ in ordered]
    return ValueCounts(occurring, np.array([n for _, n in ordered], dtype=np.int64), missing)


@dataclass(frozen=True)
class Variable:
    """A column as a number: its values less a centre, or the code of a value of two."""

    reading: Reading
    centre: float  # Subtracted from the values, so that squares stay small
    coder: Coder | None  # Gives the number where the column holds none: 0 or 1
    has_gaps: bool


class NumberRows(NamedTuple):
    """The rows that hold a target, as numbers."""

    codes: Indices  # (n_groupings, n_rows): of the groups
    weights: Floats  # (n_rows,)
    values: Floats  # (n_variables, n_rows), less their centres; NaN where missing


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums over the rows of each combination of group codes."""

    codes: Indices  # (n_groupings, n_groups): each combination, ascending
    rows: Floats  # (n_groups,): rows of each, or the sums of their weights
    both: Floats  # (n_groups, n, n), as the next two: rows that have both
    first: Floats  # Sums of variable i over those rows
    product: Floats  # Sums of products over those rows


def sums_wanted(variables: Sequence[Variable]) -> list[tuple[str, int, int]]:
    """Which sums a table must take, as (kind, i, j)."""
    # With x the values (0 where missing) and u flags of being recorded: ``"product"`` sums x_i x_j,
    # ``"first"`` x_i u_j, ``"both"`` u_i u_j. The others follow where there are no gaps.
    n = len(variables)
    gaps = [i for i, variable in enumerate(variables) if variable.has_gaps]
    return [
        *(("product", i, j) for i in range(n) for j in range(i, n)),
        *(("first", i, i) for i in range(n)),
        *(("first", i, j) for i in range(n) for j in gaps if i != j),
        *(("both", i, j) for i in gaps for j in gaps if i <= j),
    ]


def group_sums(
    codes: Indices,
    rows: Floats,
    variables: Sequence[Variable],
    sums: dict[tuple[str, int, int], Floats],
) -> GroupSums:
    """Fill in the sums that were not taken because they follow from others."""
    n = len(variables)
    shape = (len(rows), n, n)
    product, first, both = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    recorded = [sums["both", i, i] if v.has_gaps else rows for i, v in enumerate(variables)]
    for i in range(n):
        for j in range(n):
            product[:, i, j] = sums["product", min(i, j), max(i, j)]
            first[:, i, j] = sums.get(("first", i, j), sums["first", i, i])
            if variables[i].has_gaps and variables[j].has_gaps:
                both[:, i, j] = sums["both", min(i, j), max(i, j)]
            else:
                both[:, i, j] = recorded[i] if variables[i].has_gaps else recorded[j]
    return GroupSums(codes, rows, both, first, product)


@dataclass(frozen=True)
class WeightRange:
    """What is to be known of a column before its values are taken for weights."""

    missing: int
    least: float
    greatest: float
    whole: bool
    lightest: float = np.inf  # The least that is greater than 0; infinite where there is none


@dataclass(frozen=True)
class Weighing:
    """How rows are weighed."""

    column: str
    frequency: bool  # Whether they say how often a row occurs
    scale: float = 1.0  # Sampling weights times this, rounded up, are what is summed; a power of 2
    square_scale: float = 1.0
    leaves_out: bool = False  # Whether there are rows of weight 0, which are left out


def quantiles_of_counts(
    values: Array, counts: Integers, shares: Sequence[float | Fraction]
) -> list[Any]:
    """The smallest of ascending values with at least given shares of the rows at or below them."""
    ends = np.cumsum(counts)
    ranks = quantile_ranks(shares, int(ends[-1]))
    quantiles: list[Any] = values[np.searchsorted(ends, ranks, side="left")].tolist()
    return quantiles


def quantile_ranks(shares: Sequence[float | Fraction], n_rows: int) -> list[int]:
    """The ranks, from 1 on, of the values that `quantiles_of_counts` finds."""
    return [max(1, ceil(Fraction(share) * n_rows)) for share in shares]
