from __future__ import annotations

import numpy as np

from misfeat.cohorts import build_cohorts
from misfeat.completion import ExactScores, Known
from misfeat.datasets import make_cohorts
from misfeat.information.count_tables import ScoresAlone
from misfeat.information.measures import MutualInformation
from misfeat.information.tabled import ScoredInformation
from misfeat.population.scored import gather_scores
from misfeat.population.varying import VaryingInformation


def shared():
    data = make_cohorts(n_rows=400, hide=0.2, random_state=3)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    measure = MutualInformation(cohorts, above_chance=True)
    found = [measure.of_levels(i, 1, 3, 1) for i in range(len(cohorts))]
    by_size = [np.array([one[size] for one in found]) for size in range(3)]
    rows = [np.bincount(c.target, c.weights, c.n_classes) for c in cohorts]
    return ScoresAlone(
        cohorts.features,
        np.array([len(labels) for labels in cohorts.categories]),
        cohorts.missing,
        np.array(rows, dtype=float),
        *by_size,
        np.zeros(len(cohorts)),
    )


def test_every_set_has_a_score_and_a_pool():
    alone = shared()
    scores = [np.zeros((len(alone.missing), 1)), alone.singles, alone.pairs, alone.triples]
    exact = ExactScores(tuple(scores), alone.missing, np.ones(len(alone.missing)))
    found = gather_scores(Known(exact, alone=alone), VaryingInformation(alone), scores, 3)
    for size, evidence in found.items():
        recorded = ~np.isnan(scores[size])
        assert np.array_equal(evidence.scores[recorded], scores[size][recorded])
        assert np.array_equal(evidence.predicted, ~recorded)
        assert np.isfinite(evidence.scores).all()
        assert (evidence.pooled >= 0).all()


def test_what_was_rounded_is_less_sure():
    from dataclasses import replace

    alone = shared()
    coarse = replace(alone, steps=np.full(len(alone.steps), 0.05))
    scores = [np.zeros((len(alone.missing), 1)), alone.singles]
    exact = ExactScores(tuple(scores), alone.missing, np.ones(len(alone.missing)))
    fine, rough = (
        gather_scores(Known(exact, alone=one), VaryingInformation(one), scores, 1)[1].null
        for one in (alone, coarse)
    )
    assert np.allclose(rough - fine, 0.05**2 / 12)


def test_scores_are_handed_over_as_they_are():
    alone = shared()
    measure = ScoredInformation(alone)
    told = []
    assert np.array_equal(
        measure.of_levels(0, 1, 2, None, lambda *said: told.append(said))[1],
        alone.pairs[0],
        equal_nan=True,
    )
    assert told == [(1, 2), (2, 2)]
    assert np.isnan(measure.of_levels(0, 4, 4, None)[0]).all()
    assert measure.of_subsets(0, np.array([[0]]), None)[0] == alone.singles[0, 0]
    assert measure.plug_in is measure
