from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from misfeat.completion.transfer.expectation import (
    expected_above_chance,
    expected_score,
    poisson_table,
)
from misfeat.completion.transfer.fitting import (
    donors_mean,
    fit_conditional,
    rake_pair,
)
from misfeat.completion.transfer.tables import (
    CHUNK,
    LANES,
    Layout,
    Parts,
    Rows,
    cohorts_lacking,
    count_cells,
    count_level,
    donors_of,
    in_lanes,
    part_cells,
    rake,
    rake_parts,
    rank_of,
    split_of,
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


def test_a_subset_falls_into_what_was_recorded_and_what_was_not():
    split = split_of(np.array([1, 4, 6]), np.array([2, 3, 4]), 0b010)
    assert split.o_members.tolist() == [0, 2]
    assert split.o_cards.tolist() == [2, 4]
    assert split.o_strides.tolist() == [4, 0, 1]
    assert len(split.of_o) == 8
    assert split.q_digits.tolist() == [[0], [1], [2]]


def test_cells_of_both_parts_add_up_to_every_cell_once():
    for pattern in range(1, 8):
        split = split_of(np.array([0, 1, 2]), np.array([2, 3, 4]), pattern)
        cells = split.of_o[:, None] + split.of_q
        assert sorted(cells.ravel()) == list(range(24))
        assert (np.diff(split.of_o) > 0).all()


def test_cohorts_are_told_apart_by_the_members_they_lack():
    missing = np.array([[True, False], [False, False], [True, True], [True, False]])
    lacking = {p: cohorts_lacking(np.array([0, 1]), p, missing).tolist() for p in range(4)}
    assert lacking == {0: [1], 1: [0, 3], 2: [], 3: [2]}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("first_a", [True, False])
def test_a_raked_pair_has_both_margins(rng, first_a):
    wanted = rng.random((3, 4, 2)) + 0.1
    of_a, of_b = wanted.sum(axis=1), wanted.sum(axis=0)
    table = rng.random((12, 2)) + 0.5
    rake_pair(table, first_a, of_a, of_b)
    raked = table.reshape(3, 4, 2)
    assert raked.sum(axis=1) == pytest.approx(of_a, rel=1e-3)
    assert raked.sum(axis=0) == pytest.approx(of_b, rel=1e-3)
    last, exact = (0, of_b) if first_a else (1, of_a)
    assert raked.sum(axis=last) == pytest.approx(exact)


def test_a_fitted_distribution_sums_to_one_and_gives_the_part_it_was_fitted_to(rng):
    rows = rng.integers(5, 50, size=(2, 3)).astype(float)
    truth = rng.dirichlet(np.ones(4), size=(2, 3)).transpose(0, 2, 1)
    part = (truth * rows[:, None]).sum(axis=0)  # of the unrecorded feature alone
    parts = Parts(
        wanted=part.reshape(1, -1),
        sizes=np.array([12]),
        lengths=np.array([12]),
        o_lines=np.zeros((1, 2), np.int64),
        q_lines=np.zeros((1, 4), np.int64),
    )
    shares = np.full((2, 4, 3), 0.25)
    fit_conditional(shares, rows, parts, 50)
    assert shares.sum(axis=1) == pytest.approx(np.ones((2, 3)))
    assert (shares * rows[:, None]).sum(axis=0) == pytest.approx(part, rel=1e-6)


def test_the_mean_of_donors_is_a_distribution_that_backs_off_to_the_prior(rng):
    split = split_of(np.array([0, 1]), np.array([3, 2]), 1)  # the first feature is lacking
    tables = in_lanes(rng.random((2, 6, 2)) * 10, np.arange(2), 0, 6)
    prior = rng.dirichlet(np.ones(3), size=2).T
    mean = donors_mean(tables, np.array([10.0, 30.0]), split)
    assert mean.o_cells.tolist() == [0, 1, 0, 1, 0, 1]
    whole = mean.average + mean.of_prior[mean.o_cells] * np.repeat(prior, 2, axis=0)
    assert whole.reshape(3, 2, 2).sum(axis=0) == pytest.approx(np.ones((2, 2)))
    empty = donors_mean(np.zeros((1, 6, 2, LANES)), np.ones(1), split)
    assert not empty.average.any()
    assert (empty.of_prior == 1).all()


def test_without_donors_there_is_no_mean():
    nobody = np.zeros((0, 6, 2, LANES))
    none = donors_mean(nobody, np.ones(0), split_of(np.array([0, 1]), np.array([3, 2]), 1))
    assert len(none.average) == 0


def plug_in(table):
    joint = table / table.sum()
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    held = joint > 0
    return (joint[held] * np.log(joint[held] / outer[held])).sum()


def test_where_every_row_is_certain_the_score_is_that_of_the_counts():
    rows = np.array([[30.0, 10.0], [5.0, 25.0]])
    certain = np.zeros((2, 2, 2))
    certain[0, 1] = certain[1, 0] = 1.0
    score, variance = expected_score(certain, rows, poisson_table())
    assert score == pytest.approx(plug_in(rows))
    assert variance == pytest.approx(0.0)


def test_the_mean_and_spread_are_those_of_drawn_rows():
    rng = np.random.default_rng(0)
    rows = np.array([[300.0, 200.0]])
    shares = rng.dirichlet(np.ones(4), size=2).T[None]
    drawn = []
    for _ in range(2000):
        of_class = [rng.multinomial(int(n), shares[0, :, y]) for y, n in enumerate(rows[0])]
        drawn.append(plug_in(np.column_stack(of_class).astype(float)))
    score, variance = expected_score(np.ascontiguousarray(shares), rows, poisson_table())
    assert score == pytest.approx(np.mean(drawn), abs=2e-3)
    assert variance == pytest.approx(np.var(drawn), rel=0.2)


def test_what_chance_gives_is_what_rows_with_shuffled_classes_score():
    rng = np.random.default_rng(0)
    rows = np.array([[40.0, 25.0], [10.0, 45.0]])
    shares = rng.dirichlet(np.ones(3), size=(2, 2)).transpose(0, 2, 1)
    target = np.repeat([0, 1], rows.sum(axis=0).astype(int))
    differences = []
    for _ in range(3000):
        of_o = [
            np.column_stack([rng.multinomial(int(rows[o, y]), shares[o, :, y]) for y in (0, 1)])
            for o in (0, 1)
        ]
        table = np.concatenate(of_o)
        cells = np.repeat(np.arange(len(table)), table.sum(axis=1))
        shuffled = np.zeros(table.shape)
        np.add.at(shuffled, (cells, rng.permutation(target)), 1)
        differences.append(plug_in(table.astype(float)) - plug_in(shuffled))
    known = np.ascontiguousarray(shares), rows, poisson_table()
    above = expected_above_chance(*known)
    # A class is drawn for each row by itself there, and dealt out without replacement here.
    one_by_one = 1 / (2 * rows.sum())
    assert above + one_by_one == pytest.approx(np.mean(differences), abs=1e-3)
