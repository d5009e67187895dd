"""One table as peers and models take it: standardised numbers, flags, or bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.field.tables import BINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.field.tables import Table

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Encoder:
    """What encodes rows, learnt from the rows to choose on."""

    mean: Floats
    spread: Floats
    edges: tuple[Floats, ...]
    numeric: NDArray[np.bool_]
    categories: tuple[int, ...]

    @classmethod
    def of(cls, table: Table) -> Encoder:
        """Learn means, spreads, quantiles and the categories of a table."""
        spread = table.values.std(axis=0)
        inner = np.arange(1, BINS) / BINS
        return cls(
            table.values.mean(axis=0),
            np.where(spread > 0, spread, 1.0),
            tuple(np.unique(np.quantile(column, inner)) for column in table.values.T),
            table.numeric,
            tuple(int(column.max()) + 1 for column in table.values.T),
        )

    def design(self, table: Table, features: Sequence[int]) -> tuple[Floats, Codes]:
        """Columns for a linear model, and the feature of each: numbers standardised, else flags."""
        blocks = []
        for feature in features:
            values = table.values[:, feature]
            if self.numeric[feature]:
                blocks.append(((values - self.mean[feature]) / self.spread[feature])[:, None])
            else:
                flags = np.equal.outer(values, np.arange(self.categories[feature]))
                blocks.append(flags[:, 1:] if flags.shape[1] == 2 else flags)
        of = np.repeat(np.asarray(features, dtype=np.int64), [b.shape[1] for b in blocks])
        return np.hstack(blocks).astype(np.float64), of

    def binned(self, table: Table) -> Codes:
        """Categories as they are, numbers in bins of as many rows each."""
        columns = [
            np.searchsorted(self.edges[f], column, side="right") if numeric else column
            for f, (column, numeric) in enumerate(zip(table.values.T, self.numeric, strict=True))
        ]
        return np.column_stack(columns).astype(np.int64)
