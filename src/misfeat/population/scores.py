"""Scores of populations with intervals, from rows or sums of products and scores of samples on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from misfeat.population.correlating import gather_correlations
from misfeat.population.gathering import gather_evidence
from misfeat.population.intervals import closed, intervals_of
from misfeat.population.refined import refined_posterior
from misfeat.population.scored import gather_scores
from misfeat.population.varying import VaryingInformation, VaryingOwn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from misfeat.completion.model import Known
    from misfeat.population.posterior import Evidence, Posterior

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PopulationScores:
    """Estimated scores of the populations, for all sets of one size in the order of ranks.

    Scores are in the unit of the measure, of shape (n_cohorts, n_sets), ``low <= score <= high``;
    no set is below a part of it. They are predicted where the cohort's own rows have no score of
    the set.
    """

    score: Floats
    low: Floats
    high: Floats
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
    noisy = known.tables is not None and known.tables.noisy and known.tables.as_few is None
    posteriors = _posteriors(evidence, posterior, noisy=noisy)
    missing, ceiling = known.exact.missing, known.exact.ceiling
    shown = closed(
        [intervals_of(found, confidence, ceiling) for found in posteriors.values()],
        missing.shape[1],
    )
    return {
        m: PopulationScores(
            score=intervals.score,
            low=intervals.low,
            high=intervals.high,
            predicted=evidence[m].predicted,
            posterior=posteriors[m],
        )
        for m, intervals in enumerate(shown, start=1)
    }


def _posteriors(
    evidence: dict[int, Evidence], posterior: Callable[[Evidence], Posterior], *, noisy: bool
) -> dict[int, Posterior]:
    """What is known of every size.

    The more features, the less cohorts differ in what they tell, measured by what they tell: the
    differences of features cancel out in part. Where counts were made less exact on purpose, noise
    hides that in larger sets, and the bound of smaller ones holds for them, too.
    """
    found: dict[int, Posterior] = {}
    for m, known in evidence.items():
        bounded = known
        if noisy and m - 1 in found:
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
