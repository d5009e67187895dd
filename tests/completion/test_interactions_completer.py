from itertools import combinations

import numpy as np
import pytest

from benchmarks.completers import AddCompleter, GainCompleter
from benchmarks.completion.hiding import Truth, outcome_of
from misfeat.completion import ExactScores, InteractionsCompleter, Known
from misfeat.completion.interactions_completer import contributions, shrunk_mean
from misfeat.datasets.population import random_mask
from misfeat.lattice.levels import level, rank
from tests.completion.coded import drawn_cohorts


def test_contributions_of_the_parts_add_up_to_the_score():
    exact = Truth.of(drawn_cohorts(), 4).exact
    terms = contributions(exact, 4)
    for subset in level(5, 4):
        for cohort in range(3):
            total = sum(
                terms[m][cohort, rank(np.array([part]))[0]]
                for m in range(1, 5)
                for part in combinations(subset, m)
            )
            whole = exact.by_size[4][cohort, rank(subset[None])[0]]
            assert total == pytest.approx(whole)


def test_equal_cohorts_are_completed_without_error():
    exact = Truth.of(drawn_cohorts(n_cohorts=1), 3).exact
    same = tuple(np.repeat(scores, 3, axis=0) for scores in exact.by_size)
    truth = ExactScores(same, np.zeros((3, 5), dtype=bool), np.repeat(exact.ceiling, 3))
    mask = np.zeros((3, 5), dtype=bool)
    mask[0, 1] = mask[1, 2] = mask[1, 3] = True
    completed = InteractionsCompleter().complete(Known(truth.hidden(mask)), 3)
    assert completed.score == pytest.approx(truth.by_size[3], abs=1e-9)


def test_interactions_that_differ_between_cohorts_are_shrunk_and_singles_are_not():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 500))
    assert np.abs(shrunk_mean(noise, 2)).mean() < 0.3 * np.abs(noise.mean(axis=0)).mean()
    assert shrunk_mean(noise, 1) == pytest.approx(noise.mean(axis=0))
    signal = np.repeat(rng.normal(size=(1, 500)), 4, axis=0) + 0.01 * noise
    assert shrunk_mean(signal, 2) == pytest.approx(signal.mean(axis=0), abs=0.01)


def test_what_nobody_knows_contributes_nothing():
    terms = np.array([[np.nan, 0.5], [np.nan, 0.7]])
    assert shrunk_mean(terms, 1).tolist() == [0.0, pytest.approx(0.6)]
    assert shrunk_mean(np.full((2, 2), np.nan), 2).tolist() == [0.0, 0.0]


def test_it_beats_gain_and_add_where_scores_are_all_there_is():
    completers = {"interactions": InteractionsCompleter, "gain": GainCompleter, "add": AddCompleter}
    errors = {name: [] for name in completers}
    for seed in range(6):
        truth = Truth.of(drawn_cohorts(seed, n_features=7, n_rows=4000, n_cohorts=4), 3)
        mask = random_mask(4, 7, 0.4, np.random.default_rng(seed))
        for name, completer in completers.items():
            figures = outcome_of(completer(confidence=None), truth, mask, 3)
            errors[name].append(figures["relative_error"])
    means = {name: np.mean(values) for name, values in errors.items()}
    assert means["interactions"] < min(means["gain"], means["add"])
