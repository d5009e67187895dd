"""Scores of populations with intervals, from rows or sums of products and scores of samples on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from misfeat.lattice import level, ranks_below
from misfeat.population.correlating import gather_correlations
from misfeat.population.gathering import gather_evidence
from misfeat.population.refined import refined_posterior
from misfeat.population.scored import gather_scores
from misfeat.population.varying import VaryingInformation, VaryingOwn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from misfeat.completion.model import Known
    from misfeat.population.posterior import Evidence, Posterior

    Floats = NDArray[np.float64]

TIE_BREAK = 1e-6
"""Sets that were raised alike stay apart by this share of their own scores."""
TIED_DECIMALS = 12
"""Own scores (nats) that agree to so many decimals are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Scores of the sets of one size with their bounds; NaN where nothing is known.

    Of shape (n_cohorts, n_sets), ``low <= score <= high``.
    """

    score: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class PopulationScores(Intervals):
    """Estimated scores of the populations, for all sets of one size in the order of ranks.

    They are in the unit of the measure, no set below a part of it, and predicted where the cohort's
    own rows have no score of the set.
    """

    predicted: NDArray[np.bool_]
    posterior: Posterior


def population_scores(
    known: Known,
    above_chance: Sequence[Floats],
    size: int,
    confidence: float | None = 0.9,
    *,
    posterior: Callable[[Evidence], Posterior] = refined_posterior,
    guesses: Sequence[Floats] | None = None,
    proxies: bool = True,
    table_size: int = 3,
) -> dict[int, PopulationScores]:
    """Estimate the populations' scores of all sets of size 1, 2, … up to one.

    `known` has the rows of all cohorts, their sums of products, or what else scores come from.
    `above_chance` has scores of the rows themselves from size 0 on, NaN where there is none.
    `posterior` takes the evidence of one size. `guesses` are predicted scores in place of the
    transfer's or covariances'; for `proxies` and `table_size` see `TransferCompleter`. Without
    confidence, bounds are what is certain: 0 and the ceiling.
    """
    evidence = _evidence(known, above_chance, size, guesses, proxies=proxies, table_size=table_size)
    rounded = known.tables is not None and known.tables.protected and known.tables.as_few is None
    posteriors = _posteriors(evidence, posterior, rounded=rounded)
    missing, ceiling = known.exact.missing, known.exact.ceiling
    shown = closed(
        [intervals_of(found, confidence, ceiling) for found in posteriors.values()],
        missing.shape[1],
    )
    return {
        m: PopulationScores(one.score, one.low, one.high, evidence[m].predicted, posteriors[m])
        for m, one in enumerate(shown, start=1)
    }


def _posteriors(
    evidence: dict[int, Evidence], posterior: Callable[[Evidence], Posterior], *, rounded: bool
) -> dict[int, Posterior]:
    """What is known of every size.

    The more features, the less cohorts differ in what they tell, measured by what they tell: the
    differences of features cancel out in part. Where counts were rounded, that hides it
    in larger sets, and the bound of smaller ones holds for them, too.
    """
    found: dict[int, Posterior] = {}
    for m, known in evidence.items():
        bounded = known
        if rounded and m - 1 in found:
            bounded = replace(known, most_spread=found[m - 1].largest_spread)
        found[m] = posterior(bounded)
    return found


def _evidence(
    known: Known,
    above_chance: Sequence[Floats],
    size: int,
    guesses: Sequence[Floats] | None,
    *,
    proxies: bool,
    table_size: int,
) -> dict[int, Evidence]:
    """What is known by size, of the measure that scores come from."""
    if known.sums is not None:
        return gather_correlations(known, above_chance, size, guesses=guesses)
    if known.alone is not None:
        information = VaryingInformation(known.alone)
        return gather_scores(known, information, above_chance, size, guesses=guesses)
    if known.own is not None:
        own = VaryingOwn(known.own, known.exact.ceiling, known.n_jobs)
        return gather_scores(known, own, above_chance, size, guesses=guesses)
    gathered = gather_evidence(
        known, above_chance, size, guesses=guesses, proxies=proxies, table_size=table_size
    )
    return {m: found.evidence for m, found in gathered.items()}


def intervals_of(posterior: Posterior, confidence: float | None, ceiling: ArrayLike) -> Intervals:
    """Posterior means, and bounds that hold the population's score as often as asked.

    Without confidence, bounds are 0 and the ceiling: what no score of a cohort can exceed.
    """
    most = np.asarray(ceiling, dtype=np.float64)[:, None]
    reach = np.where(np.isnan(posterior.mean), np.nan, np.inf)
    if confidence is not None:
        reach = float(ndtri((1.0 + confidence) / 2.0)) * np.sqrt(posterior.variance)
    return Intervals(
        score=np.clip(posterior.mean, 0.0, most),
        low=np.clip(posterior.mean - reach, 0.0, most),
        high=np.clip(posterior.mean + reach, 0.0, most),
    )


def closed(by_size: Sequence[Intervals], n_features: int) -> list[Intervals]:
    """The same with scores and bounds raised to those of every part: no set tells less than one.

    Sets keep the order of their own scores. Whatever looked better than a set that was raised is
    raised with it: else sets would rank by what their parts seem to tell, whose chance they bear.
    Sets of every size are in the order of ranks.
    """
    found = list(by_size[:1])
    for size, own in enumerate(by_size[1:], start=2):
        parts = ranks_below(level(n_features, size)).T
        below = found[-1]
        score = _in_order(own.score, _raised(own.score, below.score, parts))
        high = np.fmax(score, _raised(own.high, below.high, parts))
        found.append(Intervals(score, _raised(own.low, below.low, parts), high))
    return found


def _raised(own: Floats, below: Floats, parts: NDArray[np.int64]) -> Floats:
    """The best of a set and its parts; what is not known sets no bound."""
    raised = own
    for ranks in parts:
        raised = np.fmax(raised, below[:, ranks])
    return raised


def _in_order(own: Floats, raised: Floats) -> Floats:
    """Raised scores, raised further until they are in the order of own scores, where there are.

    A set is raised by those that looked worse, not by those that looked the same: which of them
    comes first is an accident of the order of columns.
    """
    order = np.argsort(own, axis=1, kind="stable")
    own, raised = (np.take_along_axis(scores, order, axis=1) for scores in (own, raised))
    known = np.isfinite(own)
    highest = np.maximum.accumulate(np.where(known, raised, -np.inf), axis=1)
    ordered = np.fmax(raised, _before_ties(highest, np.round(own, TIED_DECIMALS)))
    ordered = np.where(ordered > own, ordered + TIE_BREAK * own, ordered)
    found = np.empty_like(raised)
    np.put_along_axis(found, order, np.where(known, ordered, raised), axis=1)
    return found


def _before_ties(highest: Floats, own: Floats) -> Floats:
    """For every place of ascending rows, the highest score before the first of its equals."""
    first = np.ones(own.shape, dtype=bool)
    first[:, 1:] = own[:, 1:] != own[:, :-1]
    start = np.maximum.accumulate(np.where(first, np.arange(own.shape[1]), 0), axis=1)
    before = np.concatenate([np.full((len(own), 1), -np.inf), highest[:, :-1]], axis=1)
    return np.take_along_axis(before, start, axis=1)
