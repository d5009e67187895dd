from __future__ import annotations

import numba as nb
import numpy as np
import pytest

from misfeat.information.chance import chance_of_totals, n_log_n
from misfeat.information.logs import (
    LONGEST_CHANCE,
    LONGEST_TABLE,
    log_table,
    logs_of,
    small_cells,
)
from misfeat.information.prepared import prepare_rows
from tests.information.generated import cohort_of, random_cohort, with_gaps


def test_the_table_of_logarithms_grows_with_the_rows_to_its_limit():
    assert len(log_table(1000)) > 1000
    assert len(log_table(2**40)) == LONGEST_TABLE


def packed(counts):
    """Small counts as the word that is looked up."""
    bits = 16 // len(counts)
    return sum(count << bits * place for place, count in enumerate(counts))


@pytest.mark.parametrize("counts", [[3, 7], [3, 7, 1, 5]])
def test_small_cells_are_summed_as_a_whole(counts):
    expected = n_log_n(counts).sum() - n_log_n(sum(counts))
    assert small_cells(len(counts))[packed(counts)] == pytest.approx(expected)


@pytest.mark.parametrize("counts", [[3, 7], [3, 7, 1, 5]])
def test_small_cells_above_chance_are_less_what_chance_gives(counts):
    rows = prepare_rows(random_cohort(n_classes=len(counts)), above_chance=True)
    expected = n_log_n(counts).sum() - chance_of_totals(sum(counts), rows.by_class)
    assert logs_of(rows, len(counts)).small[packed(counts)] == pytest.approx(float(expected))


def test_words_of_cells_with_more_than_four_lanes_hold_counts_alone():
    rows = prepare_rows(random_cohort(n_classes=8), above_chance=True)
    assert logs_of(rows, 8).small[packed([3, 7, 1, 5])] == pytest.approx(
        n_log_n([3, 7, 1, 5]).sum()
    )


@pytest.mark.parametrize("lanes", [0, 2, 4, 8])
def test_kernels_compile_once_for_scores_with_and_without_chance(lanes):
    cohort = random_cohort()
    with_chance, without = (
        logs_of(prepare_rows(cohort, above_chance=above_chance), lanes)
        for above_chance in (True, False)
    )
    assert nb.typeof(with_chance) == nb.typeof(without)


def test_the_table_of_chance_holds_every_total_of_a_cohort_to_its_limit():
    base = random_cohort()
    heavy = cohort_of(base.codes, base.target, base.weights * 2**20)
    assert len(logs_of(prepare_rows(base, above_chance=True), 4).g) == 401
    assert len(logs_of(prepare_rows(heavy, above_chance=True), 0).g) == LONGEST_CHANCE


def test_where_rows_differ_between_sets_only_single_rows_are_looked_up():
    logs = logs_of(prepare_rows(with_gaps(), above_chance=True), 0)
    assert logs.g.tolist() == [0.0, 0.0]


def test_shared_tables_cannot_be_changed():
    logs = logs_of(prepare_rows(random_cohort(), above_chance=True), 4)
    for table in (logs.f, logs.g, logs.small):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = np.nan
