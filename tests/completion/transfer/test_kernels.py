from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion.transfer.table_completion import (
    expected_above_chance,
    expected_score,
    poisson_table,
)
from misfeat.completion.transfer.tables import (
    CHUNK,
    Layout,
    Rows,
    count_cells,
    count_level,
    strides_of,
)


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
    layout = Layout(np.array([[0, 2], [1, 2]]), np.array([0, 8, 20]))
    tables = np.zeros((2, 20, 2))
    count_level(rows, layout, tables, 0, 2)
    subset, strides = np.array([0, 2]), np.empty(2, np.int64)
    counts = np.zeros((strides_of(cards[subset], strides), 2))
    count_cells(rows, 1, subset, strides, counts)
    expected = np.zeros((2, 4, 2))
    own = slice(n_rows, None)
    np.add.at(expected, (*rows.codes[subset][:, own], rows.target[own]), rows.weights[own])
    assert np.array_equal(counts.reshape(2, 4, 2), expected)
    assert np.array_equal(tables[1, :8], counts)
    assert tables.sum() == 2 * rows.weights.sum()


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
