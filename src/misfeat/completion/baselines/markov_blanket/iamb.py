"""The Markov blanket of a target from coded rows: inter-IAMB (Tsamardinos and others, 2003).

The blanket is the smallest set of features given which all others tell nothing more about the
target: in a Bayesian network its parents, children, and the other parents of its children. It grows
by the feature that tells most given the blanket so far; after every step, members that tell nothing
given the others leave. A test without enough rows a cell counts as independence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.baselines.markov_blanket.gtest import g_test
from misfeat.completion.numbering import numbered_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.baselines.markov_blanket.gtest import GTest

    Codes = NDArray[np.integer]


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
