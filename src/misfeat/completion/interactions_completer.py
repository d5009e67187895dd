"""Transfer of scores alone: every set's own contribution, averaged over cohorts and shrunk.

The score of a set is the sum of the contributions of its parts (Möbius inversion over the lattice),

    I_j(S) = sum over T ⊆ S of d_j(T),    d_j(T) = I_j(T) - sum over R ⊂ T of d_j(R):

what each feature explains alone, what each pair adds to that or repeats of it, and so on. A cohort
i that recorded O knows the contributions of all T ⊆ O. Those that touch an unrecorded feature are
averaged over the cohorts that recorded T, so that single features are judged by all cohorts that
have them, and only interactions by the few that recorded them together:

    I_i(S) = I_i(O) + sum over T ⊆ S that touch Q of k(T) mean_j d_j(T).

k(T) = s / (s + v / c) shrinks the mean of c cohorts, with v the variance of contributions of the
size of T between cohorts and s that of their means (James and Stein); singles are not shrunk.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from misfeat.completion.base import BaseCompleter, recorded_part_scores, recorded_sets_filled
from misfeat.completion.completer_data import ExactScores, Guess, Known
from misfeat.exceptions import check_count
from misfeat.lattice.levels import level, rank
from misfeat.runtime.array_types import Flags, Floats, Indices


@dataclass(kw_only=True, eq=False, repr=False)
class InteractionsCompleter(BaseCompleter):
    """Predict a score from the contributions of its parts in other subgroups.

    Needs scores only: subgroups that share their scores but no rows can use it.

    Parameters
    ----------
    confidence, rounds, random_state : see `BaseCompleter`
        Of the intervals.
    largest : int, default=None
        Contributions of parts of more features are taken for 0. None: of no part.

    Examples
    --------
    Cohort 1 lacks the second feature, which overlaps with the first by 0.05 in cohort 0. One cohort
    cannot show how far interactions vary, so the overlap is taken as it is:

    >>> from misfeat.completion import ExactScores, Known
    >>> exact = ExactScores(
    ...     by_size=(
    ...         np.zeros((2, 1)),
    ...         np.array([[0.1, 0.2], [0.3, np.nan]]),
    ...         np.array([[0.25], [np.nan]]),
    ...     ),
    ...     missing=np.array([[False, False], [False, True]]),
    ...     ceiling=np.array([0.6, 0.6]),
    ... )
    >>> InteractionsCompleter().complete(Known(exact), 2).score.round(2)
    array([[0.25],
           [0.45]])
    """

    largest: int | None = None

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        exact = known.exact
        n_features = exact.missing.shape[1]
        filled = recorded_sets_filled(exact, size)
        largest = size if self.largest is None else min(size, self.largest)
        mean = [shrunk_mean(terms, m) for m, terms in enumerate(contributions(exact, largest))]
        by_size = [exact.by_size[0]]
        for subsets in (level(n_features, m) for m in range(1, size + 1)):
            touching = [_touching(mean, subsets, absent) for absent in exact.missing[:, subsets]]
            by_size.append(recorded_part_scores(filled, subsets, exact.missing) + touching)
        return Guess.of(by_size)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.largest, "largest", none=True)


def contributions(exact: ExactScores, size: int) -> list[Floats]:
    """d_j(T) of all subsets by size, of shape (n_cohorts, n_subsets); NaN where unknown."""
    n_features = exact.missing.shape[1]
    terms = [exact.by_size[0]]
    for m in range(1, size + 1):
        subsets = level(n_features, m)
        own = exact.by_size[m].copy()
        for smaller in range(1, m):
            for members in combinations(range(m), smaller):
                own -= terms[smaller][:, rank(subsets[:, members])]
        terms.append(own)
    return terms


def shrunk_mean(terms: Floats, size: int) -> Floats:
    """The mean contribution over the cohorts that know it, shrunk for interactions; 0 if none."""
    known = ~np.isnan(terms)
    count = known.sum(axis=0)
    mean: Floats = np.where(known, terms, 0.0).sum(axis=0) / np.maximum(count, 1)
    if size < 2 or not (count > 1).any():
        return mean
    squares = np.where(known, (terms - mean) ** 2, 0.0).sum(axis=0)
    between = (squares[count > 1] / (count[count > 1] - 1)).mean()
    noise = between / np.maximum(count, 1)
    signal = max(float(np.mean(mean[count > 0] ** 2 - noise[count > 0])), 0.0)
    return mean * (signal / (signal + noise)) if signal > 0 else np.zeros_like(mean)


def _touching(mean: list[Floats], subsets: Indices, absent: Flags) -> Floats:
    """The sum of mean contributions of all parts that hold an unrecorded feature."""
    total = np.zeros(len(subsets))
    for size in range(1, min(len(mean), subsets.shape[1] + 1)):
        for members in combinations(range(subsets.shape[1]), size):
            touches = absent[:, members].any(axis=1)
            total += np.where(touches, mean[size][rank(subsets[:, members])], 0.0)
    return total
