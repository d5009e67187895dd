"""What the rest of the package asks of a table, and what a table answers with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from misfeat.cohorts.coders import Kind
from misfeat.cohorts.values import canonical, sort_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from misfeat.cohorts.coders import CodedRows, Coder, Reading
    from misfeat.cohorts.drawing import Drawing
    from misfeat.cohorts.products import GroupSums, Variable
    from misfeat.cohorts.values import Value
    from misfeat.cohorts.weighing import Weighing, WeightRange


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
