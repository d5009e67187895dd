"""Count tables as the transfer takes them, where there are no rows to count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.lattice import rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.transfer.kernels.tables import Layout, Rows
    from misfeat.information.count_tables import CountTables

    Floats = NDArray[np.float64]


class CountedTables:
    """The tables of all cohorts, in place of `CodedRows`; sets hold at most three features."""

    as_scored = True

    def __init__(self, tables: CountTables) -> None:
        self._tables = tables
        self.cards = tables.cards
        self.missing = tables.missing
        # Tables of all sizes weigh the same, as many rows as are as noisy as the largest ones.
        self._share = np.ones(len(tables.by_class)) if tables.noise is None else 1 / tables.noise
        self.by_class = tables.by_class * self._share[:, None]
        self.n_classes = tables.by_class.shape[1]
        self.categories = tables.categories
        self.merged = np.zeros(len(tables.features), dtype=bool)
        self.as_few = tables.as_few

    def rows_counted(self, size: int) -> Floats:
        """As many rows of every cohort as make scores of a size as uncertain as they are."""
        return self._tables.rows_counted(size)

    def more_variance(self, size: int) -> Floats:
        """How many times as large the variance of sets that tell nothing is, a line a cohort."""
        if self._tables.variance is None:
            return np.ones((len(self.missing), 1))
        return self._tables.variance[:, size - 1, None]

    def rows(self, missing: NDArray[np.bool_]) -> Rows:
        """Sizes and classes of all cohorts, and no rows; `missing` is treated as never recorded."""
        from misfeat.completion.transfer.kernels.tables import Rows

        return Rows(
            codes=np.zeros((len(self.cards), 0), dtype=np.uint16),
            target=np.zeros(0, dtype=np.int64),
            weights=np.zeros(0),
            offsets=np.zeros(len(missing) + 1, dtype=np.int64),
            missing=np.ascontiguousarray(missing),
            cards=self.cards,
            by_class=self.by_class,
            sizes=self.by_class.sum(axis=1),
        )

    def count(self, rows: Rows, layout: Layout, first: int, last: int, counts: Floats) -> None:
        """Fill in the tables of the sets first to last, in every cohort that recorded them."""
        size = layout.subsets.shape[1]
        held, starts = self._tables.of_size(size), self._tables.starts(size)
        places = rank(layout.subsets[first:last])
        for s, place in zip(range(first, last), places.tolist(), strict=True):
            begin, end = starts[place], starts[place + 1]
            at = layout.starts[s]
            recorded = ~rows.missing[:, layout.subsets[s]].any(axis=1)
            share = self._share[recorded, None, None]
            counts[recorded, at : at + end - begin] = held[recorded, begin:end] * share
