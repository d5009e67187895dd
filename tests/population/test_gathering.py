from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion.transfer.model import TransferModel
from misfeat.completion.transfer.rows import CodedRows
from misfeat.lattice import level
from misfeat.machine.threads import Work
from misfeat.population.gathering import gather_evidence, lost_by_merging, scores_of_tables
from misfeat.population.scores import population_scores
from tests.population.evidence import counted
from tests.population.generated import generated, known_with_scores, scores_of_rows, with_missing
from tests.population.recipe import RECIPE, TRANSFERRED, transferred_cohorts
from tests.population.reference import shrink_levels


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


def with_many_categories():
    """Three cohorts; the first feature has more categories than the transfer keeps."""
    rng = np.random.default_rng(0)
    many = np.minimum(rng.geometric(0.06, size=900) - 1, 39)
    target = (many % 2 ^ (rng.random(900) < 0.2)).astype(np.int64)
    codes = np.array([many, rng.integers(3, size=900), rng.integers(3, size=900)], dtype=np.int32)
    missing = np.zeros((3, 3), dtype=bool)
    missing[0, 1] = missing[1, 2] = True
    return with_missing(codes, target, missing, n_values=40)


def test_scores_of_tables_are_those_of_rows():
    cohorts, _ = generated(3, 90, 5, hide=0.3)
    rows = CodedRows.of(cohorts)
    model = TransferModel(rows, cohorts.missing, Work(1), above_chance=True)
    for size, wanted in enumerate(scores_of_rows(cohorts, 3)[1:], start=1):
        found = {}
        model.hand_out_tables(
            size, lambda s, into=found: into.update({s.first: scores_of_tables(s, rows.by_class)})
        )
        scores = np.concatenate([found[first] for first in sorted(found)], axis=1)
        np.testing.assert_allclose(scores, wanted, rtol=0, atol=1e-12)


def test_a_set_of_which_no_part_was_scored_loses_nothing():
    none = [np.zeros((1, 1)), np.full((1, 2), np.nan), np.full((1, 1), np.nan)]
    pair = np.array([[0, 1]])
    assert lost_by_merging(none, none, pair, np.array([[True, False]])).tolist() == [[0.0]]
    assert lost_by_merging(none, none, pair, np.array([[True, True]])).tolist() == [[0.0]]


def test_predicted_sets_gain_what_merging_takes_from_their_recorded_part():
    cohorts = with_many_categories()
    known, own = known_with_scores(cohorts, 3)
    rows = CodedRows.of(cohorts)
    assert not rows.as_scored
    model = TransferModel(rows, cohorts.missing, Work(1), above_chance=True)
    evidence = gather_evidence(known, own, 3)
    gained = evidence[2].evidence.scores[0, 0] - model.predict(2).above_chance[0, 0]
    assert gained > 0.01  # the first cohort recorded the first feature, not the second
    nothing_merged = evidence[2].evidence.scores[0, 2] - model.predict(2).above_chance[0, 2]
    assert abs(nothing_merged) < 1e-12
    found = population_scores(known, own, 3)
    assert all(np.isfinite(of_size.score).all() for of_size in found.values())
