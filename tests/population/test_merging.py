from __future__ import annotations

import numpy as np

from misfeat.completion.transfer.model import TransferModel
from misfeat.completion.transfer.rows import CodedRows
from misfeat.machine.threads import Work
from misfeat.population import gather_evidence, population_scores
from misfeat.population.merging import lost_by_merging, scores_of_tables
from tests.population.generated import generated, known_with_scores, scores_of_rows, with_missing


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
