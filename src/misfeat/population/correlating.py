"""What is known about R² of the sets of every size: own scores, predictions, and the pool.

Scores of sets that a cohort recorded are adjusted R² of its rows. Those of others follow from its
own correlations, completed by those of other cohorts; what its recorded part explains by chance is
taken off in the same way, and partial correlations that are carried over have been cleared of
chance already. The pool are the correlations within cohorts that all of them share.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.covariances import CarriedCorrelations
from misfeat.information.correlation import squared_correlation
from misfeat.lattice import level
from misfeat.population.posterior import Evidence, InRegions
from misfeat.population.variance import OF_CORRELATION, null_variance_of_correlations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import Known

    Floats = NDArray[np.float64]


def gather_correlations(
    known: Known,
    above_chance: Sequence[Floats],
    size: int,
    *,
    guesses: Sequence[Floats] | None = None,
) -> dict[int, Evidence]:
    """Evidence of all sets of size 1, 2, … up to one, recorded and predicted.

    `above_chance` has adjusted R² of the rows themselves from size 0 on, NaN where there is none.
    `guesses` are predicted scores in place of those from covariances; the pool is the same.
    """
    model, parents = CarriedCorrelations.of(known), known.parents
    regions = [] if parents is None else _regions(model, parents)
    n_rows, n_features = model.own.n_rows, known.exact.missing.shape[1]
    found = {}
    for m in range(1, size + 1):
        subsets, predicted = level(n_features, m), np.isnan(above_chance[m])
        guessed, carried = _predicted(model, subsets, predicted)
        if guesses is not None:
            guessed, carried = guesses[m], np.ones_like(carried)
        evidence = Evidence(
            scores=np.where(predicted, guessed, above_chance[m]),
            null=np.broadcast_to(null_variance_of_correlations(n_rows, m), predicted.shape),
            n_rows=n_rows,
            predicted=predicted,
            pooled=_pooled(model, subsets),
            whole=model.own.seen[:, -1].astype(np.float64),
            variation=OF_CORRELATION,
            least_spread=model.own.spread,
            carried=carried,
        )
        if parents is not None:
            evidence = _in_regions(evidence, regions, subsets, parents)
        found[m] = evidence
    return found


def _regions(model: CarriedCorrelations, parents: NDArray[np.int64]) -> list[CarriedCorrelations]:
    """The correlations of the cohorts of every region."""
    numbers = range(int(parents.max()) + 1)
    return [CarriedCorrelations(model.own.of_cohorts(parents == number)) for number in numbers]


def _in_regions(
    evidence: Evidence,
    regions: Sequence[CarriedCorrelations],
    subsets: NDArray[np.integer],
    parents: NDArray[np.int64],
) -> Evidence:
    """Evidence with that of regions: R² of what the cohorts of each share."""
    seen = np.array([region.own.seen.any(axis=0) for region in regions])
    predicted: NDArray[np.bool_] = np.any(~seen[:, subsets], axis=2)
    own = np.array([_pooled(region, subsets) for region in regions])
    n_rows = np.array([region.own.n_rows.sum() for region in regions])
    of_regions = replace(
        evidence,
        scores=np.where(predicted, evidence.pooled, own),
        null=np.broadcast_to(
            null_variance_of_correlations(n_rows, subsets.shape[1]), predicted.shape
        ),
        n_rows=n_rows,
        predicted=predicted,
        whole=seen[:, -1].astype(np.float64),
        least_spread=0.0,
        carried=None,
    )
    within = np.average([region.own.spread for region in regions], weights=n_rows)
    return replace(evidence, regions=InRegions(of_regions, parents), least_spread=float(within))


def _predicted(
    model: CarriedCorrelations, subsets: NDArray[np.integer], wanted: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """R² above chance of sets, and how far it hangs on other cohorts; 0 where it is not wanted."""
    scores, carried = np.zeros(wanted.shape), np.zeros(wanted.shape)
    for cohort, of_cohort in enumerate(wanted):
        told = model.predicted(cohort, subsets[of_cohort])
        scores[cohort, of_cohort], carried[cohort, of_cohort] = told.above_chance, told.carried
    return scores, carried


def _pooled(model: CarriedCorrelations, subsets: NDArray[np.integer]) -> Floats:
    """R² of the pool, less what chance explains: a share of the rest for each feature."""
    explained = squared_correlation(model.pooled, subsets)
    by_chance = 1.0 / np.maximum(model.own.weight @ model.own.seen[:, :-1], 1.0)
    pooled: Floats = explained - (1.0 - explained) * by_chance[subsets].sum(axis=1)
    return pooled
