from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import expected_mutual_information

from misfeat.information.chance import (
    ChanceTable,
    above_chance,
    chance_of_totals,
    expected_information,
)
from misfeat.information.kernels.chance import chance_at
from tests.information.generated import mean_n_log_n


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 4)),
        min_size=2,
        max_size=400,
    )
)
def test_chance_is_the_expected_mutual_information_of_scikit_learn(rows):
    x, y = np.array(rows).T
    table = np.zeros((13, 5), dtype=np.int64)
    np.add.at(table, (x, y), 1)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    theirs = expected_mutual_information(csr_matrix(table), len(rows))
    assert expected_information(table.sum(axis=1), table.sum(axis=0)) == pytest.approx(
        theirs, abs=1e-12
    )
    assert above_chance(table) == pytest.approx(mutual_info_score(x, y) - theirs, abs=1e-12)


@pytest.mark.parametrize(("cell", "n_class", "n_rows"), [(5, 3, 9), (60, 7, 100), (90, 80, 100)])
def test_few_expected_rows_are_summed_over_the_hypergeometric_distribution(cell, n_class, n_rows):
    ours = chance_of_totals([cell], [n_class, n_rows - n_class])[0]
    theirs = sum(mean_n_log_n(cell, b, n_rows) for b in (n_class, n_rows - n_class))
    assert ours == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("by_class", [[7], [7, 0], [0, 7, 0]])
def test_a_constant_target_leaves_nothing_to_chance(by_class):
    totals = np.array([1, 2, 4])
    assert chance_of_totals(totals, by_class) == pytest.approx(totals * np.log(totals))
    assert expected_information(totals, by_class) == pytest.approx(0.0, abs=1e-15)


def test_cells_without_rows_and_with_one_row_add_nothing():
    assert chance_of_totals([0, 1], [30, 50]).tolist() == [0.0, 0.0]


def test_a_set_with_one_cell_is_not_above_chance():
    assert above_chance([[30_000, 50_000, 1]]) == pytest.approx(0.0, abs=1e-12)


def test_many_classes_and_millions_of_rows_need_no_long_table():
    by_class = np.full(1000, 10_000)
    totals = np.array([2, 3_000, 5_000_000])
    found = chance_of_totals(totals, by_class)
    # Above independence, a cell gains about (classes - 1) / 2 where many rows of each are expected.
    gain = found[2] - 1000 * (5_000 * np.log(5_000))
    assert gain == pytest.approx(999 / 2 * 0.5, rel=0.01)
    assert 0 < found[0] < found[1] < found[2]


def test_a_table_holds_every_total_up_to_its_reach():
    by_class = [30, 50, 20]
    table = ChanceTable.of(by_class, reach=60)
    assert table.values == pytest.approx(chance_of_totals(np.arange(61), by_class), rel=1e-15)
    for total in (59, 60, 61, 100):
        looked_up = chance_at(total, table.values, table.by_class)
        assert looked_up == pytest.approx(chance_of_totals([total], by_class)[0], rel=1e-15)
    assert len(ChanceTable.of(by_class).values) == 101


def test_dealing_the_target_out_anew_scores_nothing_above_chance_on_the_mean():
    rng = np.random.default_rng(1)
    cells, target = rng.integers(8, size=60), np.repeat([0, 1, 2], 20)
    found = []
    for _ in range(2000):
        table = np.zeros((8, 3), dtype=np.int64)
        np.add.at(table, (cells, rng.permutation(target)), 1)
        found.append(above_chance(table))
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(len(found))
