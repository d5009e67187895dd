from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from misfeat.completion.transfer.kernels.tables import (
    CHUNK,
    LANES,
    Layout,
    Rows,
    count_cells,
    count_level,
    donors_of,
    in_lanes,
    part_cells,
    rake,
    rake_parts,
    rank_of,
    strides_of,
)
from misfeat.lattice import rank


@pytest.mark.parametrize("n_rows", [1, 500, CHUNK, 2 * CHUNK + 7])
def test_tables_hold_the_weights_of_their_rows(n_rows):
    rng = np.random.default_rng(0)
    cards = np.array([2, 3, 4])
    rows = Rows(
        codes=np.stack([rng.integers(c, size=2 * n_rows) for c in cards]).astype(np.uint16),
        target=rng.integers(2, size=2 * n_rows),
        weights=rng.integers(1, 5, size=2 * n_rows).astype(float),
        offsets=np.array([0, n_rows, 2 * n_rows]),
        missing=np.zeros((2, 3), dtype=bool),
        cards=cards,
        by_class=np.zeros((2, 2)),
        sizes=np.zeros(2),
    )
    layout = Layout(np.array([[0, 2], [1, 2]]), np.array([0, 8]), 20)
    tables = np.zeros((2, 20, 2))
    count_level(rows, layout, 0, 2, tables)
    subset, strides = np.array([0, 2]), np.empty(2, np.int64)
    counts = np.zeros((strides_of(cards[subset], strides), 2))
    count_cells(rows, 1, subset, strides, counts)
    expected = np.zeros((2, 4, 2))
    own = slice(n_rows, None)
    np.add.at(expected, (*rows.codes[subset][:, own], rows.target[own]), rows.weights[own])
    assert np.array_equal(counts.reshape(2, 4, 2), expected)
    assert np.array_equal(tables[1, :8], counts)
    assert tables.sum() == 2 * rows.weights.sum()


def test_cells_of_a_part_follow_from_those_of_the_whole():
    cards, cells = np.array([2, 3, 4]), np.empty(24, np.int64)
    part_cells(cards, np.array([4, 0, 1]), cells)
    x, _, z = np.indices(cards).reshape(3, -1)
    assert np.array_equal(cells, 4 * x + z)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_places_of_features_pairs_and_triples_are_their_ranks(size):
    subsets = np.array(list(combinations(range(7), size)))
    assert [rank_of(subset) for subset in subsets] == rank(subsets).tolist()


def test_donors_recorded_every_member():
    missing = np.array([[False, True, False], [False, False, True], [False, False, False]])
    assert donors_of(np.array([0, 2]), missing).tolist() == [0, 2]


def test_raked_values_have_the_sums_that_are_wanted():
    rng = np.random.default_rng(0)
    values, wanted = rng.random((3, 4, 5)), rng.random((3, 5))
    wanted[1, 2] = 0.0
    rake(values.reshape(-1), 4, 5, wanted.reshape(-1), np.empty(5))
    assert values.sum(axis=1) == pytest.approx(wanted)


def test_a_table_is_raked_to_all_tables_of_one_member_less():
    rng = np.random.default_rng(0)
    cards, truth = np.array([2, 3, 4]), rng.random((2, 3, 4, 2)) + 0.1
    parts = [truth.sum(axis=2), truth.sum(axis=1), truth.sum(axis=0)]
    wanted = np.zeros((3, 24))
    for line, part in zip(wanted, parts, strict=True):
        line[: part.size] = part.ravel()
    values = np.ones(48)
    for _ in range(60):
        rake_parts(values, cards, 2, wanted, np.empty(48))
    fitted = values.reshape(truth.shape)
    assert fitted.sum(axis=0) == pytest.approx(parts[2])
    assert fitted.sum(axis=2) == pytest.approx(parts[0], rel=1e-3)


def test_cohorts_become_lanes_and_lanes_to_spare_are_empty():
    tables = np.random.default_rng(0).random((12, 7, 2))
    cohorts = np.arange(1, 12)
    lanes = in_lanes(tables, cohorts, 2, 4)
    assert lanes.shape == (2, 4, 2, LANES)
    laid = lanes.transpose(0, 3, 1, 2).reshape(-1, 4, 2)
    assert np.array_equal(laid[:11], tables[1:, 2:6])
    assert not laid[11:].any()
