from __future__ import annotations

import numpy as np
import pytest

from misfeat.cohorts import build_cohorts
from misfeat.datasets import make_cohorts
from misfeat.information.dealing import deals_of
from misfeat.information.dealing_counts import CountDeals
from misfeat.information.set_tables import DealtRows
from misfeat.machine.threads import Work
from tests.information.own import Information

SEED = np.random.SeedSequence(3)


@pytest.fixture(scope="module")
def cohort():
    data = make_cohorts(n_cohorts=1, n_rows=150, n_features=4, hide=0.0, random_state=5)
    return build_cohorts(data.columns, data.target, groups=data.groups).at(0)


@pytest.mark.parametrize("held", [(), (1,)])
def test_the_recorded_target_scores_as_in_tests_of_information(cohort, held):
    own = CountDeals(Information(), cohort, 2, held, None, SEED)
    ours = deals_of(cohort, 2, held=held, seed=SEED)
    for mine, others in zip(own.subsets, ours.subsets, strict=True):
        assert np.array_equal(mine, others)
    found = own.scores(0, 1, Work())
    assert found == pytest.approx(ours.scores(0, 1, Work()), abs=1e-12)


@pytest.mark.parametrize("held", [(), (1,)])
def test_deals_score_as_much_by_chance(cohort, held):
    own = CountDeals(Information(), cohort, 1, held, None, SEED).scores(1, 201, Work())
    ours = deals_of(cohort, 1, held=held, seed=SEED).scores(1, 201, Work())
    assert own.mean(axis=0) == pytest.approx(ours.mean(axis=0), rel=0.3)


def test_a_deal_is_the_same_whatever_is_dealt_besides(cohort):
    deals = CountDeals(Information(), cohort, 2, (), None, SEED)
    some = deals.scores(0, 20, Work(1))
    assert np.array_equal(some[7:9], deals.scores(7, 9, Work(2)))


def test_classes_stay_within_strata(cohort):
    strata = cohort.codes[0]
    rows = DealtRows(cohort, SEED, strata)
    [(_, tables)] = rows.deals([0, 1]).tables(np.array([[0]]))
    assert np.array_equal(tables[0, 0], tables[0, 1])
    [(_, tables)] = rows.deals([0, 1]).tables(np.array([[1]]))
    assert not np.array_equal(tables[0, 0], tables[0, 1])
    assert np.array_equal(tables[0, 0].sum(axis=0), tables[0, 1].sum(axis=0))


def test_large_tables_are_made_a_stack_at_a_time(cohort, monkeypatch):
    from misfeat.information import set_tables

    lines = DealtRows(cohort, SEED).deals(range(3))
    subsets = np.array([[0, 1], [0, 2], [1, 3]])
    [(_, whole)] = lines.tables(subsets)
    monkeypatch.setattr(set_tables, "LARGEST_STACK", 1)
    parts = list(lines.tables(subsets))
    assert [part for part, _ in parts] == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert np.array_equal(np.concatenate([tables for _, tables in parts]), whole)


def test_deals_are_held_as_many_at_a_time_as_fit(cohort, monkeypatch):
    from misfeat.information import set_tables

    rows = DealtRows(cohort, SEED)
    whole = rows.deals(range(5)).rows
    monkeypatch.setattr(set_tables, "LARGEST_LINES", 2 * whole[:, 0].size)
    parts = list(rows.stretches(5))
    assert [place for place, _ in parts] == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert np.array_equal(np.concatenate([lines.rows for _, lines in parts], axis=1), whole)


def test_cells_are_numbered_anew_where_there_are_more_than_rows():
    rng = np.random.default_rng(0)
    table = {name: rng.integers(20, size=60) for name in "abc"}
    cohort = build_cohorts({**table, "y": rng.integers(2, size=60)}, "y").at(0)
    [(_, tables)] = DealtRows(cohort, SEED).deals([0]).tables(np.array([[0, 1, 2]]))
    assert tables.shape[2] <= 60
    assert tables.sum() == 60
