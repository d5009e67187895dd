"""How much more, or less, a set tells in one run than in another, and how sure that is.

Both shares are those of the subgroup's own rows, less chance: scores that are drawn towards those
of other subgroups hide what changed in one of them. The variance of the difference is

    v = spread / n + spread' / n' + chance + chance'

with what `misfeat.information.mutual_info` says of either run. A run of few rows whose set tells
nothing by chance would seem sure of it, so v is at least what it is with the spread of both runs
together. Chance is a chi-square, whose tails are heavy: the difference has those of a Student
distribution with the same fourth moment, of 4 + 6 v² / (12 chance² / freedom + 12 chance'² /
freedom') degrees of freedom.

What a run predicted, or kept no rows of, is compared by its interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from misfeat.answers.set_contrasts import Estimated
from misfeat.exceptions import MisfeatError, Setting
from misfeat.information.measures import adjusted_correlation
from misfeat.information.mutual_info import SampledShare, sampled_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.selection import Selection

RECORDED, PREDICTED = "recorded", "predicted"
NEARLY_NORMAL = 1e9
"""Degrees of freedom of a Student distribution that nobody can tell from a normal one."""


@dataclass(frozen=True)
class ExplainedShare:
    """What a set tells in one run, of all there is to tell in a subgroup.

    It is at least 0. `deviation` is the standard deviation of its error, and `sampled` how it
    varies, where it is of the subgroup's own rows.
    """

    share: float
    sampled: SampledShare | None
    deviation: float
    source: str

    def interval(self, confidence: float) -> Estimated:
        """The share with its bounds, within 0 and 1."""
        parts = () if self.sampled is None else (self.sampled,)
        freedom = _freedom(parts, self.deviation**2)
        reach = float(stdtrit(freedom, (1.0 + confidence) / 2.0)) * self.deviation
        low, high = max(self.share - reach, 0.0), min(self.share + reach, 1.0)
        return Estimated(self.share, min(low, self.share), max(high, self.share))


@dataclass(frozen=True)
class Difference:
    """The share in the second run less the first, with an error of a Student distribution."""

    value: float
    deviation: float
    freedom: float

    @property
    def p_value(self) -> float:
        """How likely rows drawn anew differ as much by chance, where nothing changed."""
        if self.deviation <= 0:
            return 1.0
        return float(2.0 * stdtr(self.freedom, -abs(self.value) / self.deviation))

    def interval(self, confidence: float, among: int) -> Estimated:
        """The difference with bounds that hold for `among` differences at once (Bonferroni)."""
        sure = 1.0 - (1.0 - confidence) / among
        reach = float(stdtrit(self.freedom, (1.0 + sure) / 2.0)) * self.deviation
        return Estimated(self.value, self.value - reach, self.value + reach)


def difference_of(first: ExplainedShare, second: ExplainedShare) -> Difference:
    """By how much a set tells more in the second run than in the first."""
    sampled = [one.sampled for one in (first, second) if one.sampled is not None]
    variance = first.deviation**2 + second.deviation**2
    if len(sampled) == 2:  # the variance, were both runs of one population
        rows = [one.n_rows for one in sampled]
        spread = (sampled[0].spread * rows[0] + sampled[1].spread * rows[1]) / (rows[0] + rows[1])
        chance = sampled[0].chance, sampled[1].chance
        variance = max(variance, spread / rows[0] + spread / rows[1] + chance[0] + chance[1])
    freedom = _freedom(sampled, variance)
    return Difference(second.share - first.share, float(np.sqrt(variance)), freedom)


def _freedom(sampled: Sequence[SampledShare], variance: float) -> float:
    """Degrees of freedom of the Student distribution whose fourth moment an error has."""
    fourth = sum(12.0 * one.chance**2 / max(one.freedom, 1.0) for one in sampled)
    return 4.0 + min(6.0 * variance**2 / fourth, NEARLY_NORMAL) if fourth > 0 else NEARLY_NORMAL


def explained_share(run: Selection, subgroup: str, features: Sequence[str]) -> ExplainedShare:
    """What a set tells in a subgroup: by its own rows, else as the run shows it."""
    members = sorted(run.feature_names.index(name) for name in features)
    cohort = run.cohorts.position(subgroup)
    sampled = None
    if not run.missing[cohort, members].any():
        sampled = _sampled(run, cohort, members)
    if sampled is not None:
        deviation = float(np.sqrt(sampled.spread / sampled.n_rows + sampled.chance))
        return ExplainedShare(max(sampled.share, 0.0), sampled, deviation, RECORDED)
    scores, whole = run.set_scores.scored(np.array([members])), run.set_scores.measure.whole[cohort]
    score, low, high = (
        float(part[cohort, 0]) / float(whole) for part in (scores.score, scores.low, scores.high)
    )
    wide = max(high - score, score - low)
    if run.confidence is not None:
        wide /= float(ndtri((1.0 + run.confidence) / 2.0))
    predicted = bool(scores.predicted[cohort, 0])
    if not predicted and not run.set_scores.estimate.above_chance:
        raise MisfeatError(
            "A run with {estimate} knows nothing of what chance would score in so few rows, so "
            "nobody knows how sure its scores are.",
            remedy="Fit it again with {instead}.",
            estimate=Setting("estimate", run.set_scores.estimate.name),
            instead=Setting("estimate", "population"),
        )
    return ExplainedShare(score, None, wide, PREDICTED if predicted else RECORDED)


def _sampled(run: Selection, cohort: int, members: list[int]) -> SampledShare | None:
    """The share of the rows, less chance, and how it varies."""
    measure, size = run.set_scores.measure, len(members)
    if measure.rows is not None:
        return sampled_share(measure.rows[measure.rows.names[cohort]], members)
    if measure.sums is None or measure.sums.rows[cohort] <= size + 1:
        return None
    n_rows, products = int(measure.sums.rows[cohort]), measure.sums.products[cohort]
    share = float(adjusted_correlation(products, np.array([members]), n_rows)[0])
    left = (1.0 - max(share, 0.0)) ** 2
    spread, chance = left * 4.0 * max(share, 0.0), left * 2.0 * size / n_rows**2
    return SampledShare(share, float(n_rows), spread, chance, float(size))
