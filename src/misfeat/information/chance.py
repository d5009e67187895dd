"""What chance alone would give: the mean plug-in score of a set when the target is dealt out anew.

Keep the rows of a cohort and deal its classes out over them at random. A cell of a rows then holds
a hypergeometric number of rows of each class, and with f(n) = n log n and

    T(a) = sum over the classes of E[f(n)],   n of a cell of a rows,

the mean score of a set is log N + [Σ T(cell) - Σ f(cell) - Σ f(class)] / N over its cells and the
classes, N being the rows of the cohort. A score above chance is the plug-in score less this mean:

    x(S) = [Σ over cells and classes of f(count) - Σ over cells of T(count)] / N.

It is the plug-in score with T in place of f for the totals of cells: a kernel that looks up
f(total) looks up T(total) instead, and has the score above chance for the same work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.kernels.chance import fill_chance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ChanceTable:
    """T(a) for every total up to a reach, for kernels that look it up.

    Attributes
    ----------
    values : ndarray of shape (reach + 1,)
        T(a) for a from 0 on.
    by_class : ndarray of shape (n_classes,)
        Rows of each class in the cohort, as floats, for totals beyond the reach
        (`chance_of_totals`).

    Examples
    --------
    >>> ChanceTable.of([2, 2], reach=2).values.round(4)
    array([0.    , 0.    , 0.4621])
    """

    values: Floats
    by_class: Floats

    @classmethod
    def of(cls, by_class: ArrayLike, reach: int | None = None) -> ChanceTable:
        """The table of a cohort with so many rows of each class.

        Up to totals of `reach`; None: all rows of the cohort.
        """
        counts = np.array(by_class, dtype=np.float64)
        n_rows = int(counts.sum())
        values = np.empty(1 + (n_rows if reach is None else min(reach, n_rows)))
        fill_chance(np.arange(len(values)), counts, values)
        return cls(values, counts)


def chance_of_totals(totals: ArrayLike, by_class: ArrayLike) -> Floats:
    """T(a) for the listed totals: sum over the classes of E[n log n] in a cell of a rows.

    No total is more than the rows of the classes together.

    Examples
    --------
    With two rows of either class, a cell of two holds both of one class once in three times:

    >>> chance_of_totals([0, 1, 2, 4], [2, 2]) / np.log(2)
    array([0.        , 0.        , 0.66666667, 4.        ])
    """
    totals = np.asarray(totals, dtype=np.int64)
    different, places = np.unique(totals, return_inverse=True)
    found = np.empty(len(different))
    fill_chance(different, np.ascontiguousarray(by_class, dtype=np.float64), found)
    values: Floats = found[places].reshape(totals.shape)
    return values


def chance_of_counts(totals: ArrayLike, by_class: ArrayLike) -> Floats:
    """T(a) for cells that hold so many rows of equal weight, whole or not.

    No total is more than what the classes count together.

    Examples
    --------
    >>> chance_of_counts([0.5, 2.0, 2.5], [2, 2]).round(4)
    array([-0.3466,  0.4621,  0.9175])
    """
    totals, counts = np.asarray(totals, dtype=np.float64), np.asarray(by_class, dtype=np.float64)
    if (totals == np.floor(totals)).all() and (counts == np.floor(counts)).all():
        return chance_of_totals(totals, counts)
    dealt = np.diff(np.rint(np.cumsum(counts)), prepend=0.0)
    rows = np.clip(totals, 1.0, max(dealt.sum(), 1.0))
    low = np.floor(rows)
    ends = np.stack([low, np.minimum(low + 1.0, max(dealt.sum(), 1.0))])
    entropy = np.log(ends) - chance_of_totals(ends, dealt) / ends
    mean = entropy[0] + (rows - low) * (entropy[1] - entropy[0])
    found: Floats = n_log_n(totals) - totals * mean
    return found


def expected_information(totals: ArrayLike, by_class: ArrayLike) -> float:
    """The mean plug-in information, in nats, of a set with these cells under chance alone.

    The cells hold all rows of the cohort together.

    Examples
    --------
    >>> round(expected_information([2, 2], [2, 2]), 4)
    0.231
    """
    totals = np.asarray(totals, dtype=np.int64)
    counts = np.asarray(by_class, dtype=np.float64)
    n_rows = counts.sum()
    if n_rows == 0:
        return 0.0
    parts = chance_of_totals(totals, counts).sum() - n_log_n(totals).sum() - n_log_n(counts).sum()
    return float(np.log(n_rows) + parts / n_rows)


def above_chance(counts: ArrayLike) -> float:
    """The plug-in information of a table of cells and classes less what chance gives, in nats.

    Examples
    --------
    >>> round(above_chance([[2, 0], [0, 2]]), 4), round(above_chance([[1, 1], [1, 1]]), 4)
    (0.4621, -0.231)
    """
    table = np.asarray(counts, dtype=np.int64)
    chance = chance_of_totals(table.sum(axis=1), table.sum(axis=0)).sum()
    return float((n_log_n(table).sum() - chance) / max(table.sum(), 1))


def n_log_n(counts: ArrayLike) -> Floats:
    """N log n of every count, 0 for none.

    Examples
    --------
    >>> n_log_n([0, 1, 2]).round(4)
    array([0.    , 0.    , 1.3863])
    """
    counts = np.asarray(counts, dtype=np.float64)
    values: Floats = counts * np.log(np.where(counts > 0, counts, 1.0))
    return values
