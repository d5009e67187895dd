from __future__ import annotations

import numpy as np
import pytest

from misfeat.cohorts import build_cohorts
from misfeat.completion.transfer.model import _layout
from misfeat.completion.transfer.rows import TransferRows
from misfeat.information.chance import above_chance, expected_information
from misfeat.information.count_tables import CountTables
from misfeat.information.measures import MutualInformation
from misfeat.information.tabled import TableInformation, scores_of_tables


def counted(cohorts):
    """The count tables of all subgroups, from their rows."""
    rows = TransferRows.of(cohorts)
    own = rows.rows(cohorts.missing)
    by_size = []
    for size in (1, 2, 3):
        layout = _layout(rows.cards, size)
        by_size.append(np.zeros((len(cohorts), layout.n_cells, own.by_class.shape[1])))
        rows.count(own, layout, 0, len(layout.subsets), by_size[-1])
    return CountTables(cohorts.features, rows.categories, cohorts.missing, own.by_class, *by_size)


@pytest.fixture(scope="module")
def cohorts():
    rng = np.random.default_rng(4)
    table = {name: rng.integers(0, 3, 300) for name in "abcd"}
    table["site"] = rng.choice(["x", "y"], 300)
    table["d"] = np.where(table["site"] == "x", np.nan, table["d"])
    table["t"] = (table["a"] + table["b"] + rng.integers(0, 3, 300)) > 3
    return build_cohorts(table, "t", groups="site")


@pytest.mark.parametrize("above_chance", [False, True])
def test_scores_are_those_of_the_rows(cohorts, above_chance):
    rows = MutualInformation(cohorts, above_chance=above_chance)
    tables = TableInformation(counted(cohorts), above_chance=above_chance)
    assert np.allclose(rows.whole, tables.whole)
    for cohort in range(2):
        pairs = zip(
            rows.of_levels(cohort, 0, 3, 1), tables.of_levels(cohort, 0, 3, None), strict=True
        )
        for left, right in pairs:
            assert np.allclose(left, right, rtol=0, atol=1e-12, equal_nan=True)


def test_listed_sets_and_progress(cohorts):
    measure, told = TableInformation(counted(cohorts), above_chance=True), []
    found = measure.of_levels(1, 1, 2, None, lambda *said: told.append(said))
    assert told == [(1, 2), (2, 2)]
    assert measure.of_subsets(1, np.array([[0, 1], [1, 3]]), None)[0] == found[1][0]
    assert measure.plug_in.of_subsets(1, np.array([[0, 1]]), None)[0] > found[1][0]


def test_larger_sets_than_there_are_tables_of_have_no_score(cohorts):
    measure = TableInformation(counted(cohorts))
    assert np.isnan(measure.of_levels(0, 4, 4, None)[0]).all()


def test_scores_of_counts_that_were_made_less_exact_are_rid_of_their_bias(cohorts):
    from dataclasses import replace

    tables = counted(cohorts)
    rows = tables.by_class.sum(axis=1)
    off = np.zeros((len(rows), 3, 2))
    off[:, 2] = [0.5, 2.0]
    fewer = replace(tables, effective=np.outer(rows, [0.9, 0.5, 0.2]), bias=off)
    assert fewer.rows_worth(3) == pytest.approx(0.2 * rows)
    full, less = (TableInformation(one, above_chance=True) for one in (tables, fewer))
    for size in (1, 2):
        ours, theirs = (one.of_levels(1, size, size, None)[0] for one in (full, less))
        assert ours == pytest.approx(theirs, abs=1e-12)
    ours, theirs = (one.of_levels(1, 3, 3, None)[0] for one in (full, less))
    chance = full.plug_in.of_levels(1, 3, 3, None)[0] - ours
    assert theirs == pytest.approx(ours - 0.5 * chance - 2.0 * chance**2, abs=1e-9)


def test_tables_end_to_end_score_as_each_alone():
    rng = np.random.default_rng(1)
    first = rng.integers(0, 9, (4, 2)).astype(float)
    whole = first.sum(axis=0)
    second = np.array([[whole[0], 3.0], [0.0, whole[1] - 3.0]])
    found = scores_of_tables(np.vstack([first, second]), whole, np.array([0, 4, 6]))
    for place, table in enumerate((first, second)):
        assert found.above_chance[place] == pytest.approx(above_chance(table))
        assert found.chance[place] == pytest.approx(
            expected_information(table.sum(axis=1).astype(int), whole)
        )
