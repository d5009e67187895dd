"""The Markov blanket of a target from coded rows: inter-IAMB (Tsamardinos and others, 2003).

The blanket is the smallest set of features given which all others tell nothing more about the
target: in a Bayesian network its parents, children, and the other parents of its children. It grows
by the feature that tells most given the blanket so far; after every step, members that tell nothing
given the others leave. A test without enough rows a cell counts as independence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

from misfeat.completion.numbering import numbered, numbered_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.integer]


@dataclass(frozen=True)
class GTest:
    """What a test found."""

    statistic: float
    dof: int

    @property
    def p_value(self) -> float:
        """How likely so large a statistic is under independence; 1 where nothing can be said."""
        return float(chi2.sf(self.statistic, self.dof)) if self.dof else 1.0

    @property
    def strength(self) -> float:
        """G less what independence would give on average, to compare variables of any width."""
        return self.statistic - self.dof


def g_test(
    x: Codes,
    y: Codes,
    strata: Codes | None = None,
    weights: NDArray[np.int64] | None = None,
    rows_per_cell: float = 0.0,
) -> GTest:
    """Test whether two variables are independent within strata.

    Codes and strata are numbered from 0 on; rows stand for one each unless they have weights. A
    stratum with fewer rows than `rows_per_cell` for every pair of the values that x and y have
    there is left out; where all are, there are 0 degrees of freedom.
    """
    weights = np.ones(len(x), dtype=np.int64) if weights is None else weights
    strata = np.zeros(len(x), dtype=np.int64) if strata is None else strata
    counts, stratum_of = _tables(x, y, strata, weights)
    # Tables of strata lie below each other, a line for every value that x has there.
    first = np.flatnonzero(np.diff(stratum_of, prepend=-1))
    if not len(first):
        return GTest(0.0, 0)
    by_stratum = np.add.reduceat(counts, first, axis=0)
    values_of_x = np.diff(first, append=len(counts))
    values_of_y = (by_stratum > 0).sum(axis=1)
    rows = by_stratum.sum(axis=1)
    statistic = 2 * (
        np.add.reduceat(_n_log_n(counts).sum(axis=1) - _n_log_n(counts.sum(axis=1)), first)
        - _n_log_n(by_stratum).sum(axis=1)
        + _n_log_n(rows)
    )
    enough = rows >= rows_per_cell * values_of_x * values_of_y
    dof = ((values_of_x - 1) * (values_of_y - 1))[enough].sum()
    return GTest(max(0.0, float(statistic[enough].sum())), int(dof))


def _tables(
    x: Codes, y: Codes, strata: Codes, weights: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Counts of y, a line for every x and stratum that occur together, and the line's stratum."""
    y, n_y = numbered(y)
    lines, n_lines = numbered_together((strata, x), len(x))
    cells = np.bincount(lines * n_y + y, weights, minlength=n_lines * n_y)
    stratum_of = np.empty(n_lines, dtype=np.int64)
    stratum_of[lines] = strata
    return cells.reshape(n_lines, n_y).astype(np.float64), stratum_of


def _n_log_n(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts * np.log(np.where(counts > 0, counts, 1.0))


def markov_blanket(
    codes: Codes,
    target: Codes,
    weights: NDArray[np.int64] | None = None,
    *,
    alpha: float = 0.01,
    rows_per_cell: float = 5.0,
) -> tuple[int, ...]:
    """The features in the Markov blanket of a target, in ascending order.

    Parameters
    ----------
    codes : ndarray of int of shape (n_features, n_rows)
        Codes from 0 on; a row with a negative code is left out of the tests of that feature.
    target : ndarray of int of shape (n_rows,)
        The class of every row.
    weights : ndarray of int of shape (n_rows,), default=None
        How many rows each row stands for; None: one.
    alpha : float, default=0.01
        The level of the tests of all features together; each is tested at its share of it, so that
        a feature outside comes in this seldom.
    rows_per_cell : float, default=5
        Rows with equal values in the blanket count in a test if there are as many of them for every
        pair of the values that the feature and the target have there.

    Examples
    --------
    The target is caused by feature 0; feature 2 is caused by the target and by feature 1, which
    tells nothing about the target but together with feature 2.

    >>> rng = np.random.default_rng(0)
    >>> cause, other, unrelated = rng.integers(2, size=(3, 5000))
    >>> target = cause ^ (rng.random(5000) < 0.2)
    >>> effect = (target | other) ^ (rng.random(5000) < 0.1)
    >>> markov_blanket(np.array([cause, other, effect, unrelated]), target)
    (0, 1, 2)
    """
    tests = _Tests(codes, target, weights, alpha / max(1, len(codes)), rows_per_cell)
    blanket: tuple[int, ...] = ()
    seen = {frozenset(blanket)}
    while (found := tests.most_dependent(blanket)) is not None:
        blanket = tests.without_independent((*blanket, found))
        if frozenset(blanket) in seen:
            break
        seen.add(frozenset(blanket))
    return tuple(sorted(blanket))


class _Tests:
    """Tests of the target against features of one table."""

    def __init__(
        self,
        codes: Codes,
        target: Codes,
        weights: NDArray[np.int64] | None,
        level: float,
        rows_per_cell: float,
    ) -> None:
        self._codes, self._target = codes, target
        self._weights = np.ones(len(target), dtype=np.int64) if weights is None else weights
        self._level, self._rows_per_cell = level, rows_per_cell

    def most_dependent(self, given: Sequence[int]) -> int | None:
        """The feature that tells most about the target given others, None where none tells."""
        strata = self._strata(given)
        tests = {
            feature: self._test(feature, strata)
            for feature in range(len(self._codes))
            if feature not in given
        }
        dependent = [feature for feature, test in tests.items() if test.p_value < self._level]
        return max(dependent, key=lambda feature: tests[feature].strength, default=None)

    def without_independent(self, blanket: tuple[int, ...]) -> tuple[int, ...]:
        """What is left when members that tell nothing given the others leave, weakest first."""
        while blanket:
            tests = {
                member: self._test(member, self._strata([f for f in blanket if f != member]))
                for member in blanket
            }
            weakest = max(blanket, key=lambda member: tests[member].p_value)
            if tests[weakest].p_value < self._level:
                break
            blanket = tuple(member for member in blanket if member != weakest)
        return blanket

    def _strata(self, given: Sequence[int]) -> NDArray[np.int64]:
        """The number of each row's combination of values; -1 where one of them is not there."""
        lines = self._codes[list(given)]
        strata, _ = numbered_together(np.maximum(lines, 0), len(self._target))
        return np.where((lines >= 0).all(axis=0), strata, -1)

    def _test(self, feature: int, strata: NDArray[np.int64]) -> GTest:
        codes = self._codes[feature]
        whole = (codes >= 0) & (strata >= 0)
        kept = slice(None) if whole.all() else whole
        return g_test(
            codes[kept],
            self._target[kept],
            strata[kept],
            self._weights[kept],
            self._rows_per_cell,
        )
