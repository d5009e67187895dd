"""What the rest of the package asks of a table, and what a table answers with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from misfeat.exceptions import MisfeatError, Setting
from misfeat.reading.coders import CodedRows, Coder, Kind, Reading
from misfeat.reading.values import Value, canonical, sort_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


NO_COLUMNS = "The table has no columns; pass one with a column for every feature."


@dataclass(frozen=True)
class ValueCounts:
    """The distinct values of a column, ascending, with how often each occurs."""

    values: NDArray[Any]
    """Numbers for numeric columns, canonical Python values (dtype object) otherwise."""
    counts: NDArray[np.int64]
    missing: int
    """Rows with null, NaN, None or NaT."""

    def in_order(self, order: Sequence[Value]) -> ValueCounts:
        """The same with values in a given order, which has all of them."""
        position = {value: place for place, value in enumerate(order)}
        places = np.argsort([position[value] for value in self.values.tolist()])
        return ValueCounts(self.values[places], self.counts[places], self.missing)

    def without(self, is_code: NDArray[np.bool_]) -> ValueCounts:
        """Count the flagged values as missing."""
        missing = self.missing + int(self.counts[is_code].sum())
        return ValueCounts(self.values[~is_code], self.counts[~is_code], missing)


def wrong_shape(what: str, shape: tuple[int, ...], n_rows: int) -> MisfeatError:
    """The error for values to be added as a column that are not one per row."""
    return MisfeatError(
        "{what} has shape {shape}, but X has {rows:,} rows; pass one value per row.",
        what=Setting(what),
        shape=shape,
        rows=n_rows,
    )


def not_scored(what: str) -> MisfeatError:
    """The error for values to be added as a column of which nothing can be made."""
    return MisfeatError(
        "{what} holds values that cannot be scored; pass numbers, text or flags.",
        what=Setting(what),
    )


class Table(Protocol):
    """A table of named columns that can count values and coded rows, wherever it lives."""

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        ...

    @property
    def frame_backend(self) -> str | None:
        """The dataframe library that results should come back in; None: any installed one."""
        ...

    def with_column(self, name: str, values: Any, what: str) -> Table:
        """Add a column of given values, row by row; messages say what they are."""
        ...

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        ...

    def order(self, column: str) -> tuple[str, ...] | None:
        """The categories of a column in their order, where its type gives them one."""
        ...

    def n_rows(self) -> int:
        """How many rows there are."""
        ...

    def value_counts(self, column: str, limit: int) -> ValueCounts | None:
        """The distinct values and their counts, or None where there are more than `limit`."""
        ...

    def count_missing(self, reading: Reading) -> int:
        """How many rows are missing."""
        ...

    def quantiles(self, reading: Reading, shares: Sequence[float | Fraction]) -> list[float]:
        """The smallest values of a numeric column with such shares of the rows at or below them.

        Rows in which it is missing are left out.
        """
        ...

    def count_codes(self, coders: Sequence[Coder]) -> CodedRows:
        """Code every row and collapse equal ones, in one group-by."""
        ...

    def weight_range(self, column: str) -> WeightRange:
        """What is to be known of a numeric column before its values are taken for weights."""
        ...

    def weighed(self, weighing: Weighing) -> Table:
        """The same table, whose rows count as a column says.

        Frequencies count in everything; sampling weights in `count_codes` and `sum_products`.
        """
        ...

    def sum_products(self, groups: Sequence[Coder], variables: Sequence[Variable]) -> GroupSums:
        """Sum products of variables over the rows of each combination of group codes.

        Rows in which the last variable, the target, is missing are left out.
        """
        ...

    def close(self) -> None:
        """Give back what was opened to read the table; it is not read again."""
        ...


def tally(values: Iterable[Any], counts: NDArray[np.int64], kind: Kind) -> ValueCounts:
    """Bring raw values and their counts to canonical, sorted, merged form."""
    if isinstance(values, np.ndarray) and kind in (Kind.INTEGER, Kind.NUMBER):
        return _tally_numbers(values, counts)
    totals: Counter[Value] = Counter()
    missing = 0
    for value, count in zip(map(canonical, values), counts.tolist(), strict=True):
        if value is None:
            missing += count
        else:
            # The type keeps True and 1 apart, which are equal as dictionary keys.
            totals[type(value), value] += count
    ordered = sorted(totals.items(), key=lambda item: sort_key(item[0][1]))
    distinct = np.empty(len(ordered), dtype=object)
    distinct[:] = [value for (_, value), _ in ordered]
    return ValueCounts(distinct, np.array([n for _, n in ordered], dtype=np.int64), missing)


def _tally_numbers(values: NDArray[Any], counts: NDArray[np.int64]) -> ValueCounts:
    absent = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    distinct, position = np.unique(values[~absent], return_inverse=True)
    totals = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(totals, position, counts[~absent])
    return ValueCounts(distinct, totals, int(counts[absent].sum()))


@dataclass(frozen=True)
class Variable:
    """A column as a number: its values less a centre, or the code of a value of two."""

    reading: Reading
    centre: float
    """Subtracted from the values, so that squares stay small."""
    coder: Coder | None
    """Gives the number where the column holds none: 0 or 1."""
    has_gaps: bool


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums over the rows of each combination of group codes."""

    codes: NDArray[np.integer]
    """Of shape (n_groupings, n_groups): the codes of each combination, in ascending order."""
    rows: NDArray[np.float64]
    """Of shape (n_groups,): rows of each, or the sums of their weights, as in all other sums."""
    both: NDArray[np.float64]
    """Of shape (n_groups, n, n), as the next two: rows in which both variables are recorded."""
    first: NDArray[np.float64]
    """Sums of variable i over those rows."""
    product: NDArray[np.float64]
    """Sums of products over those rows."""


def sums_wanted(variables: Sequence[Variable]) -> list[tuple[str, int, int]]:
    """Which sums a table must take, as (kind, i, j).

    With x the values (0 where missing) and u flags of being recorded: ``"product"`` sums x_i x_j,
    ``"first"`` x_i u_j, ``"both"`` u_i u_j. The others follow where there are no gaps.
    """
    n = len(variables)
    gaps = [i for i, variable in enumerate(variables) if variable.has_gaps]
    return [
        *(("product", i, j) for i in range(n) for j in range(i, n)),
        *(("first", i, i) for i in range(n)),
        *(("first", i, j) for i in range(n) for j in gaps if i != j),
        *(("both", i, j) for i in gaps for j in gaps if i <= j),
    ]


def group_sums(
    codes: NDArray[np.integer],
    rows: NDArray[np.float64],
    variables: Sequence[Variable],
    found: dict[tuple[str, int, int], NDArray[np.float64]],
) -> GroupSums:
    """Fill in the sums that were not taken because they follow from others."""
    n = len(variables)
    shape = (len(rows), n, n)
    product, first, both = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    recorded = [found["both", i, i] if v.has_gaps else rows for i, v in enumerate(variables)]
    for i in range(n):
        for j in range(n):
            product[:, i, j] = found["product", min(i, j), max(i, j)]
            first[:, i, j] = found.get(("first", i, j), found["first", i, i])
            if variables[i].has_gaps and variables[j].has_gaps:
                both[:, i, j] = found["both", min(i, j), max(i, j)]
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
    lightest: float = np.inf
    """The least that is greater than 0; infinite where there is none."""


@dataclass(frozen=True)
class Weighing:
    """How rows are weighed."""

    column: str
    frequency: bool
    """Whether they say how often a row occurs."""
    scale: float = 1.0
    """Sampling weights times this, rounded up, are what is summed; a power of 2."""
    square_scale: float = 1.0
    leaves_out: bool = False
    """Whether there are rows of weight 0, which are left out."""


def quantiles_of_counts(
    values: NDArray[Any], counts: NDArray[np.int64], shares: Sequence[float | Fraction]
) -> list[Any]:
    """The smallest values with at least given shares of the rows at or below them.

    Values are distinct and ascend; shares go from 0, the smallest value, to 1, the largest.
    """
    ends = np.cumsum(counts)
    ranks = ranks_of(shares, int(ends[-1]))
    found: list[Any] = values[np.searchsorted(ends, ranks, side="left")].tolist()
    return found


def ranks_of(shares: Sequence[float | Fraction], n_rows: int) -> list[int]:
    """The ranks, from 1 on, of the values that `quantiles_of_counts` finds."""
    return [max(1, ceil(Fraction(share) * n_rows)) for share in shares]
