"""Sums and differences of scores of one subgroup, with intervals.

The scores of two sets of a subgroup err together: they are of the same rows and may share features.
With weights c, correlations r of the errors, and b how far a score lies from the end of its
interval that counts, the interval of a sum reaches

    root of the sum over sets S and T of c(S) c(T) r(S, T) b(S) b(T)

to either side. Below, the end that counts is the lower one of what is added and the upper one of
what is subtracted; above, it is the other way round (Zou and Donner, Statistics in Medicine 27,
2008). Correlations come from the rows of the subgroup (`information.mutual_info`) or, where
it did not record all features, from those of the largest subgroups that did. Where nobody did, or
no rows are kept, they are 4/5 of the overlap of the sets: the features they share over the root of
the product of their sizes.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from misfeat.answers.selection_base import FitResult, set_members
from misfeat.cohorts import Cohorts
from misfeat.completion import CompletedScores
from misfeat.information.mutual_info import influence
from misfeat.runtime.array_types import Flags, Floats, Indices

Set = tuple[int, ...]

MOST_KEPT = 2**23  # numbers of influences of rows, so that few are computed twice in a row
MOST_DONORS = 20  # of so many other subgroups, the largest, rows say how errors vary together
ROUNDING = 1e-12  # sums of scores (nats) that are nearer are the same but for rounding
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
        scored: Callable[[Indices], CompletedScores],
        missing: Flags,
        confidence: float | None,
        rows: Cohorts | None,
    ) -> None:
        self._scored, self._missing, self._rows = scored, missing, rows
        self._n_rows = np.zeros(0) if rows is None else rows.effective_sizes()
        self.confidence = confidence
        self._influences: dict[tuple[int, Set], Floats] = {}
        self._n_kept = 0

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
        weights = np.asarray(weights, dtype=np.float64)
        score, low, high = self._scores(cohort, sets)
        value = weights @ score
        up, down = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
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

    def _scores(self, cohort: int, sets: Sequence[Set]) -> Floats:
        """Scores, lower and upper bounds, of shape (3, n_sets)."""
        numbers = np.zeros((3, len(sets)))
        for size in {len(one) for one in sets} - {0}:
            indices = [index for index, one in enumerate(sets) if len(one) == size]
            scores = self._scored(np.array([sets[index] for index in indices]))
            for line, part in zip(numbers, (scores.score, scores.low, scores.high), strict=True):
                line[indices] = part[cohort]
        return numbers

    def _reach(self, cohort: int, sets: Sequence[Set], reaches: Floats) -> Floats:
        """How far sums reach, from how far their parts do, with the sign of their weights."""
        if self._rows is None:
            return np.sqrt(_squares_by_overlap(sets, reaches))
        # The cohort itself, else the largest of the others that recorded these features.
        members = sorted(set().union(*sets))
        recorded = np.array([cohort])
        if self._missing[cohort, members].any():
            recorded = np.flatnonzero(~self._missing[:, members].any(axis=1))
            by_rows = np.argsort(-self._n_rows[recorded], kind="stable")
            recorded = np.sort(recorded[by_rows[:MOST_DONORS]])
        if not len(recorded):
            return np.sqrt(_squares_by_overlap(sets, reaches))
        squares = [self._squares(donor, sets, reaches) for donor in recorded.tolist()]
        return np.sqrt(np.average(squares, axis=0, weights=self._n_rows[recorded]))

    def _squares(self, cohort: int, sets: Sequence[Set], reaches: Floats) -> Floats:
        """The squares of how far sums reach, by how errors vary together in a cohort."""
        rows = cast("Cohorts", self._rows).some_rows.at(cohort)
        joint = np.zeros((len(reaches), len(rows.weights)))
        apart = np.zeros(len(reaches))
        for members, each in zip(sets, reaches.T, strict=True):
            if (cohort, members) not in self._influences:
                if self._n_kept > MOST_KEPT:
                    self._influences, self._n_kept = {}, 0
                self._influences[cohort, members] = influence(rows, members)
                self._n_kept += len(rows.weights)
            of_rows = self._influences[cohort, members]
            if of_rows.any():
                joint += each[:, None] * of_rows
            else:  # all rows say the same: nothing ties its error to those of others
                apart += each**2
        return np.asarray(apart + np.square(joint).sum(axis=1))


def _squares_by_overlap(sets: Sequence[Set], reaches: Floats) -> Floats:
    """The squares of how far sums reach, where no rows show how errors vary together."""
    n_features = 1 + max((one[-1] for one in sets if one), default=0)
    direction = np.zeros((len(sets), n_features))
    for index, one in enumerate(sets):
        direction[index, list(one)] = 1.0 / np.sqrt(max(len(one), 1))
    shared = np.square(reaches @ direction).sum(axis=1)
    return np.asarray(SHARED_ERROR * shared + (1 - SHARED_ERROR) * (reaches**2).sum(axis=1))


def contrasts_of(selection: FitResult) -> Contrasts:
    """Sums and differences of the scores of a selection."""
    scores = selection.set_scores
    return Contrasts(scores.scored, selection.missing, selection.confidence, scores.measure.rows)


def difference(
    selection: FitResult, subgroup: str, features: Sequence[str], others: Sequence[str]
) -> Estimated:
    """By how much one set explains more than another (`Selection.difference`)."""
    members, other = set_members(selection, features), set_members(selection, others)
    return contrasts_of(selection).difference(selection.cohorts.position(subgroup), members, other)
