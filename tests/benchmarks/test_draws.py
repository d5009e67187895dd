import numpy as np
import pytest

from benchmarks.common import draws
from benchmarks.common.datasets import load_adult
from benchmarks.common.draws import (
    ESTIMATES,
    SOURCES,
    USUAL,
    Source,
    at_hand,
    draw_rows,
    estimated,
    mask_of,
)
from benchmarks.common.units import Unit
from benchmarks.completion.hiding import exact_scores
from tests.completion.coded import drawn_cohorts
from tests.estimation.generated import generated


def counts(cohorts):
    """How often every coded row occurs in every cohort."""
    found = {}
    for cohort in cohorts:
        for *codes, y, weight in zip(*cohort.codes, cohort.target, cohort.weights, strict=True):
            key = (cohort.name, *map(int, codes), int(y))
            found[key] = found.get(key, 0) + int(weight)
    return found


def test_rows_drawn_and_left_make_the_table():
    cohorts = drawn_cohorts(n_features=4, n_rows=600)
    draw = draw_rows(cohorts, 50, np.random.default_rng(3))
    assert [cohort.size for cohort in draw.rows] == [50] * len(cohorts)
    whole, drawn, left = counts(cohorts), counts(draw.rows), counts(draw.left)
    assert {key: drawn.get(key, 0) + left.get(key, 0) for key in whole} == whole
    assert (draw.rows.weights > 0).all()
    assert draw.rows.offsets[-1] == len(draw.rows.weights)


def test_no_feature_is_hidden_everywhere_nor_twice():
    missing = np.zeros((4, 6), dtype=bool)
    missing[:3, 2] = True
    for seed in range(20):
        mask = mask_of(missing, 0.5, seed)
        assert not (mask & missing).any()
        assert not (mask | missing).all(axis=0).any()
        assert mask.any()
    assert not mask_of(missing, 0, 1).any()


def test_generated_tables_know_their_population(monkeypatch):
    monkeypatch.setattr(draws, "ROWS_TO_DRAW_FROM", 5000)
    source = SOURCES["similarity 100, 4 subgroups"](1)
    truth = source.truth(2, source.cohorts)
    sample = exact_scores(source.cohorts, 2).by_size[2]
    assert truth.shape == sample.shape == (4, 66)
    assert np.corrcoef(truth.ravel(), sample.ravel())[0, 1] > 0.98
    assert not SOURCES["similarity 100, 4 subgroups"](2).cohorts.equals(source.cohorts)


def test_tables_that_are_not_there_or_too_small_are_left_out_with_a_sentence(monkeypatch):
    monkeypatch.delenv("MISFEAT_DATA", raising=False)
    monkeypatch.setitem(SOURCES, "adult", lambda _: Source(load_adult()))
    monkeypatch.setitem(SOURCES, "nhanes", lambda _: Source(drawn_cohorts(n_rows=600)))
    draws.source_of.cache_clear()
    units = [
        Unit("any", {"table": table, "rows": rows, "seed": seed}, {}, list)
        for table in ("adult", "nhanes")
        for rows in (10, 100_000)
        for seed in (1, 2)
    ]
    told = []
    kept = at_hand(units, {units[0].key}, told.append)
    draws.source_of.cache_clear()
    assert kept == [units[0], *units[4:6]]
    assert [line.split(":")[0] for line in told] == [
        "Without adult",
        "Without nhanes at 100,000 rows a subgroup",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("table", USUAL[:6])
def test_real_tables_have_a_binary_target_and_enough_rows(data_folder, table):
    cohorts = SOURCES[table](1).cohorts
    assert len(cohorts.classes) == 2
    assert min(cohort.size for cohort in cohorts) >= 400


@pytest.fixture(scope="module")
def cohorts():
    return generated(4, 150, 5, hide=0.3)[0]


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_every_scale_scores_every_set_within_its_interval(cohorts, estimate):
    found = estimated(estimate, cohorts, 2)
    assert found.score.shape == (4, 10)
    assert np.isfinite(found.score).all()
    assert (found.low <= found.score).all()
    assert (found.score <= found.high).all()
    np.testing.assert_array_equal(found.predicted, cohorts.missing[:, found.subsets].any(axis=2))
