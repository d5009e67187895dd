from __future__ import annotations

import numpy as np
import pytest

from misfeat.lattice import level
from misfeat.population import gather_evidence, shrink_levels
from tests.population.evidence import counted
from tests.population.generated import generated, known_with_scores
from tests.population.recipe import RECIPE, TRANSFERRED, transferred_cohorts


def test_evidence_of_complete_cohorts_is_that_of_their_counts():
    cohorts, _ = generated(4, 120, 5, hide=0)
    known, own = known_with_scores(cohorts, 4)
    found = gather_evidence(known, own, 4)
    cards = np.full(5, 3)
    subsets = [level(5, m).astype(np.int64) for m in range(1, 5)]
    pooled = shrink_levels(
        subsets,
        [counted(cohorts.codes, cohorts.target_codes, cards, 2, s) for s in subsets],
        cards,
    )
    for m, of_size in found.items():
        assert np.array_equal(of_size.evidence.scores, own[m])
        assert not of_size.evidence.predicted.any()
        np.testing.assert_allclose(
            of_size.evidence.pooled, pooled[m - 1].information, rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(of_size.evidence.null[:, 0], (3**m - 1) / (2 * 120**2))
        assert np.array_equal(of_size.pool.subsets, subsets[m - 1])
        assert (len(of_size.pool.tables) > 0) == (m <= 3)


def test_the_pool_holds_expected_counts_of_what_cohorts_did_not_record():
    cohorts = transferred_cohorts()
    known, own = known_with_scores(cohorts, 3)
    found = gather_evidence(known, own, 3)
    counts = [np.concatenate(TRANSFERRED["pooled"][str(m)]).reshape(-1, 2) for m in (1, 2, 3)]
    pooled = shrink_levels([level(5, m) for m in (1, 2, 3)], counts, np.full(5, 3))
    for m, wanted in enumerate(pooled, start=1):
        evidence = found[m].evidence
        np.testing.assert_allclose(evidence.pooled, wanted.information, rtol=0, atol=1e-9)
        assert np.array_equal(evidence.predicted, cohorts.missing[:, wanted.subsets].any(axis=2))
        assert np.isfinite(evidence.scores).all()
        assert (evidence.n_rows == len(RECIPE["target"]) / RECIPE["n_cohorts"]).all()


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_and_stretches_change_nothing(n_jobs, monkeypatch):
    cohorts, _ = generated(3, 100, 6, hide=0.3)
    known, own = known_with_scores(cohorts, 4, n_jobs=None)
    whole = gather_evidence(known, own, 4)
    monkeypatch.setattr("misfeat.completion.transfer.model.LARGEST_STRETCH", 500)
    again = gather_evidence(known_with_scores(cohorts, 4, n_jobs=n_jobs)[0], own, 4)
    for m in whole:
        assert np.array_equal(whole[m].evidence.scores, again[m].evidence.scores)
        assert np.array_equal(whole[m].evidence.pooled, again[m].evidence.pooled)
        assert np.array_equal(whole[m].pool.starts, again[m].pool.starts)
        assert np.array_equal(whole[m].pool.tables, again[m].pool.tables)


def test_a_score_that_was_not_computed_is_left_open_and_called_predicted():
    cohorts, _ = generated(4, 100, 5, hide=0)
    known, own = known_with_scores(cohorts, 2)
    own[2][1, 3] = np.nan
    evidence = gather_evidence(known, own, 2)[2].evidence
    assert np.isnan(evidence.scores[1, 3])
    assert evidence.predicted.sum() == 1
