"""Rows of a subgroup by the cells of a set and by class: counted, from tables, or expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.completion.transfer.completer import TransferCompleter, TransferRows
from misfeat.completion.transfer.model import TransferModel
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.model import Known
    from misfeat.information.count_tables import CountTables

    Floats = NDArray[np.float64]


class CellCounts(NamedTuple):
    """Rows of a subgroup by the cells of a set and by class.

    Attributes
    ----------
    values : list of tuple of str
        What the rows of each cell agree in.
    counts : ndarray of shape (n_cells, n_classes)
        Rows, or expected rows; with weights as many of equal weight as tell as much.
    rows : ndarray of shape (n_cells,), or None
        With weights, or where counts are protected, the rows of the table in each cell.
    protected : bool
        Whether counts were protected, so that none is exact.
    """

    values: list[tuple[str, ...]]
    counts: Floats
    rows: Floats | None = None
    protected: bool = False

    @property
    def in_rows(self) -> Floats:
        """The rows of each cell, shared out over the classes as their weights are."""
        if self.rows is None:
            return self.counts
        shared: Floats = self.counts * (self.rows / self.counts.sum(axis=1))[:, None]
        return shared


def recorded_counts(cohorts: Cohorts, cohort: int, members: Sequence[int]) -> CellCounts:
    """The cells of a set that a subgroup recorded; rows that lack a value count in none."""
    rows = slice(cohorts.offsets[cohort], cohorts.offsets[cohort + 1])
    codes = cohorts.codes[members, rows]
    whole = (codes >= 0).all(axis=0)
    cells, number = np.unique(codes[:, whole], axis=1, return_inverse=True)
    counts = np.zeros((cells.shape[1], len(cohorts.classes)))
    place = number.reshape(-1), cohorts.target_codes[rows][whole]
    own = cohorts.at(cohort)
    np.add.at(counts, place, own.counts[whole])
    in_cells = None
    if own.effective is not None:
        in_cells = np.bincount(place[0], own.weights[whole], len(counts)).astype(np.float64)
    return CellCounts(_values([cohorts.categories[m] for m in members], cells), counts, in_cells)


def tabled_counts(tables: CountTables, cohort: int, members: Sequence[int]) -> CellCounts:
    """The same as `recorded_counts` from tables of at most three features, without rows."""
    found = _held_cells(tables.of(cohort, members), [tables.categories[m] for m in members])
    exact = tables.rows_worth(len(members))[cohort] / tables.by_class[cohort].sum()
    if exact >= 1.0:
        return found
    return CellCounts(found.values, found.counts * exact, found.counts.sum(axis=1), protected=True)


class PredictedCounts:
    """The cells of sets that a subgroup did not record, as the transfer expects them.

    Settings are those of the completer where it is a `TransferCompleter`, else the usual ones.
    """

    def __init__(self, known: Known, completer: object) -> None:
        how = completer if isinstance(completer, TransferCompleter) else TransferCompleter()
        self._rows = known.prepared(TransferRows.of).coded
        self._model = TransferModel(
            self._rows,
            known.exact.missing,
            Work(known.n_jobs),
            proxies=how.proxies,
            table_size=how.table_size,
        )

    def of(self, cohort: int, members: Sequence[int]) -> CellCounts:
        """The cells of one set, its features in ascending order."""
        rows = self._rows
        counts = self._model.table_of(np.asarray(members))[cohort]
        return _held_cells(counts, [rows.categories[m] for m in members])


def _held_cells(counts: Floats, labels: list[tuple[str, ...]]) -> CellCounts:
    """The cells of a table that hold anything."""
    cells = np.array(np.unravel_index(np.arange(len(counts)), tuple(map(len, labels))))
    held = counts.sum(axis=1) > 0
    return CellCounts(_values(labels, cells[:, held]), counts[held])


def _values(labels: list[tuple[str, ...]], cells: NDArray[Any]) -> list[tuple[str, ...]]:
    """What the codes of each cell, a column of codes, mean."""
    return [
        tuple(names[code] for names, code in zip(labels, cell, strict=True))
        for cell in cells.T.tolist()
    ]
