from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from misfeat.completion.transfer.kernels.tables import (
    CHUNK,
    Rows,
    count_cells,
    donors_of,
    fit_rows,
    fit_to,
    part_cells,
    rank_of,
    strides_of,
)
from misfeat.lattice import rank


@pytest.mark.parametrize("n_rows", [1, 500, CHUNK, 2 * CHUNK + 7])
def test_tables_hold_the_weights_of_their_rows(n_rows):
    rng = np.random.default_rng(0)
    cards = np.array([2, 3, 4])
    rows = Rows(
        codes=np.stack([rng.integers(c, size=2 * n_rows) for c in cards]),
        target=rng.integers(2, size=2 * n_rows),
        weights=rng.integers(1, 5, size=2 * n_rows).astype(float),
        offsets=np.array([0, n_rows, 2 * n_rows]),
        missing=np.zeros((2, 3), dtype=bool),
        cards=cards,
        by_class=np.zeros((2, 2)),
        sizes=np.zeros(2),
    )
    subset, strides = np.array([0, 2]), np.empty(2, np.int64)
    counts = np.zeros((strides_of(cards[subset], strides), 2))
    count_cells(rows, 1, subset, strides, counts)
    expected = np.zeros((2, 4, 2))
    own = slice(n_rows, None)
    np.add.at(expected, (*rows.codes[subset][:, own], rows.target[own]), rows.weights[own])
    assert np.array_equal(counts.reshape(2, 4, 2), expected)


def test_cells_of_a_part_follow_from_those_of_the_whole():
    cards, cells = np.array([2, 3, 4]), np.empty(24, np.int64)
    part_cells(cards, np.array([4, 0, 1]), cells)
    x, _, z = np.indices(cards).reshape(3, -1)
    assert np.array_equal(cells, 4 * x + z)


@pytest.mark.parametrize("size", [2, 3])
def test_places_of_pairs_and_triples_are_their_ranks(size):
    subsets = np.array(list(combinations(range(7), size)))
    assert [rank_of(subset) for subset in subsets] == rank(subsets).tolist()


def test_donors_recorded_every_member():
    missing = np.array([[False, True, False], [False, False, True], [False, False, False]])
    assert donors_of(np.array([0, 2]), missing).tolist() == [0, 2]


def test_fits_reach_the_sums_they_are_fitted_to():
    rng = np.random.default_rng(0)
    values, wanted = rng.random((6, 2)), rng.random((3, 2))
    cells = np.array([0, 0, 1, 1, 2, 2])
    fit_to(values, cells, wanted, np.empty((3, 2)))
    assert values.reshape(3, 2, 2).sum(axis=1) == pytest.approx(wanted)
    rows = rng.random(6)
    fit_rows(values, rows)
    assert values.sum(axis=1) == pytest.approx(rows)
