"""Sums and differences of scores of one subgroup, with intervals.

The scores of two sets of a subgroup err together: they are of the same rows and may share features.
With weights c, correlations r of the errors, and b how far a score lies from the end of its
interval that counts, the interval of a sum reaches

    root of the sum over sets S and T of c(S) c(T) r(S, T) b(S) b(T)

to either side. Below, the end that counts is the lower one of what is added and the upper one of
what is subtracted; above, it is the other way round (Zou and Donner, Statistics in Medicine 27,
2008). Correlations come from the rows of the subgroup (`misfeat.information.mutual_info`) or, where
it did not record all features, from those of the largest subgroups that did. Where nobody did, or
no rows are kept, they are 4/5 of the overlap of the sets: the features they share over the root of
the product of their sizes.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.answers.options import set_members
from misfeat.information.mutual_info import influence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion import CompletedScores
    from misfeat.selection import Selection

    Floats = NDArray[np.float64]
    Set = tuple[int, ...]

MOST_KEPT = 2**23
"""Numbers that are kept of the influences of rows, so that none is computed twice in a row."""
MOST_ASKED = 20
"""Of so many other subgroups, the largest, the rows tell how errors vary together."""
ROUNDING = 1e-12
"""Sums of scores (nats) that are nearer to each other are the same but for rounding."""
SHARED_ERROR = 0.8
"""The correlation of the errors of two sets of a cohort. Measured on generated cohorts, where the
errors of the two sets differ by a tenth to four tenths of what independent ones would."""


class Estimated(NamedTuple):
    """A number with its interval, ``low <= value <= high``."""

    value: float
    low: float
    high: float

    def named(self, name: str) -> dict[str, Any]:
        """The number and its bounds under the names that columns have."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}

    @property
    def may_be_nothing(self) -> bool:
        """Whether the interval holds 0, but for rounding."""
        return self.low <= ROUNDING and self.high >= -ROUNDING


class Contrasts:
    """Adds and subtracts scores of sets of one subgroup, and says how sure the result is.

    `scored` gives the scores of sets of one size. Where `confidence` is None, bounds are
    certain, and so are those of sums. Without rows, errors vary together as the overlap of sets
    says.
    """

    def __init__(
        self,
        scored: Callable[[NDArray[np.integer]], CompletedScores],
        missing: NDArray[np.bool_],
        confidence: float | None,
        rows: Cohorts | None,
    ) -> None:
        self._scored, self._missing = scored, missing
        self._errors = None if rows is None else _RowErrors(rows)
        self.confidence = confidence

    def difference(self, cohort: int, one: Sequence[int], other: Sequence[int]) -> Estimated:
        """By how much one set scores higher than another; features of both ascend."""
        sets = [tuple(one), tuple(other)]
        if sets[0] == sets[1]:
            return Estimated(0.0, 0.0, 0.0)
        return self.of(cohort, sets, [[1.0, -1.0]])[0]

    def of(
        self, cohort: int, sets: Sequence[Set], weights: ArrayLike, least: float = -np.inf
    ) -> list[Estimated]:
        """Weighted sums of scores of sets, none below `least`; weights are (n_sums, n_sets)."""
        counted = np.asarray(weights, dtype=np.float64)
        score, low, high = self._scores(cohort, sets)
        value = counted @ score
        up, down = np.maximum(counted, 0.0), np.minimum(counted, 0.0)
        lowest, highest = up @ low + down @ high, up @ high + down @ low
        if self.confidence is not None:
            below, above = score - low, high - score
            ends = np.concatenate([up * below + down * above, up * above + down * below])
            to_low, to_high = np.split(self._reach(cohort, sets, ends), 2)
            lowest = np.maximum(lowest, value - to_low)
            highest = np.minimum(highest, value + to_high)
        lowest = np.minimum(np.maximum(lowest, least), value)
        highest = np.maximum(highest, value)
        return [Estimated(*map(float, one)) for one in zip(value, lowest, highest, strict=True)]

    def _scores(self, cohort: int, sets: Sequence[Set]) -> tuple[Floats, Floats, Floats]:
        """Scores and bounds."""
        found = np.zeros((3, len(sets)))
        for size in {len(one) for one in sets} - {0}:
            places = [place for place, one in enumerate(sets) if len(one) == size]
            scores = self._scored(np.array([sets[p] for p in places]))
            found[:, places] = [
                numbers[cohort] for numbers in (scores.score, scores.low, scores.high)
            ]
        return found[0], found[1], found[2]

    def _reach(self, cohort: int, sets: Sequence[Set], reaches: Floats) -> Floats:
        """How far sums reach, from how far their parts do, with the sign of their weights."""
        errors, members = self._errors, sorted(set().union(*sets))
        # The cohort itself, else the largest of the others that recorded these features.
        recorded = np.array([cohort])
        if errors is not None and self._missing[cohort, members].any():
            recorded = np.flatnonzero(~self._missing[:, members].any(axis=1))
            by_rows = np.argsort(-errors.n_rows[recorded], kind="stable")
            recorded = np.sort(recorded[by_rows[:MOST_ASKED]])
        if errors is None or not len(recorded):
            return np.sqrt(_squares_by_overlap(sets, reaches))
        squares = [errors.squares(one, sets, reaches) for one in recorded.tolist()]
        return np.sqrt(np.average(squares, axis=0, weights=errors.n_rows[recorded]))


class _RowErrors:
    """How the errors of scores vary together, by the rows of cohorts."""

    def __init__(self, cohorts: Cohorts) -> None:
        self._cohorts = cohorts
        self.n_rows = cohorts.effective_sizes()
        self._influences: OrderedDict[tuple[int, Set], Floats] = OrderedDict()
        self._n_kept = 0

    def squares(self, cohort: int, sets: Sequence[Set], reaches: Floats) -> Floats:
        """The squares of how far sums reach."""
        joint = np.zeros((len(reaches), len(self._cohorts.at(cohort).weights)))
        apart = np.zeros(len(reaches))
        for members, each in zip(sets, reaches.T, strict=True):
            asked = cohort, members
            if asked not in self._influences:
                self._influences[asked] = influence(self._cohorts.at(cohort), members)
                self._n_kept += len(self._influences[asked])
            self._influences.move_to_end(asked)
            while self._n_kept > MOST_KEPT and len(self._influences) > 1:
                self._n_kept -= len(self._influences.popitem(last=False)[1])
            rows = self._influences[asked]
            if rows.any():
                joint += each[:, None] * rows
            else:  # all rows say the same: nothing ties its error to those of others
                apart += each**2
        squares: Floats = apart + np.square(joint).sum(axis=1)
        return squares


def _squares_by_overlap(sets: Sequence[Set], reaches: Floats) -> Floats:
    """The squares of how far sums reach, where no rows tell how errors vary together."""
    n_features = 1 + max((one[-1] for one in sets if one), default=0)
    direction = np.zeros((len(sets), n_features))
    for place, one in enumerate(sets):
        direction[place, list(one)] = 1.0 / np.sqrt(max(len(one), 1))
    shared = np.square(reaches @ direction).sum(axis=1)
    squares: Floats = SHARED_ERROR * shared + (1 - SHARED_ERROR) * (reaches**2).sum(axis=1)
    return squares


def contrasts_of(selection: Selection) -> Contrasts:
    """Sums and differences of the scores of a selection."""
    scores = selection.set_scores
    return Contrasts(scores.scored, selection.missing, selection.confidence, scores.measure.rows)


def difference(
    selection: Selection, subgroup: str, features: Sequence[str], others: Sequence[str]
) -> Estimated:
    """By how much one set explains more than another (`Selection.difference`)."""
    members, other = set_members(selection, features), set_members(selection, others)
    return contrasts_of(selection).difference(selection.cohorts.position(subgroup), members, other)


def distinct_sets(
    order: Iterable[int], subsets: NDArray[np.integer], cohort: int, contrasts: Contrasts
) -> Iterator[int]:
    """Sets in an order, without those one swap from a better one and not told apart from it."""
    kept: list[tuple[int, ...]] = []
    for number in order:
        one = tuple(subsets[number].tolist())
        near = (other for other in kept if len(set(one) & set(other)) == len(one) - 1)
        if not any(contrasts.difference(cohort, other, one).may_be_nothing for other in near):
            kept.append(one)
            yield number
