"""What rounding costs, found by trying it out on tables whose losses are known."""

from functools import partial

import numpy as np
import pytest

from misfeat.information.count_tables import scores_of_tables, table_starts
from misfeat.lattice.levels import level
from misfeat.sites.rounding import rerounded, rounding_cost
from misfeat.sites.summary import margins

CARDS = np.array([3, 3, 3, 3], dtype=np.int64)
ROWS = 600


def population():
    """How likely rows are: four features, the first of which tells about the target."""
    rng = np.random.default_rng(5)
    shape = (*CARDS.tolist(), 2)
    each = np.ones(shape)
    for axis in range(4):
        share = rng.dirichlet(np.full(3, 8.0))
        each = each * share.reshape([3 if one == axis else 1 for one in range(5)])
    told = np.array([[0.7, 0.3], [0.5, 0.5], [0.3, 0.7]])
    return each * told.reshape(3, 1, 1, 1, 2)


def tables_of(cells):
    """Tables by size, from rows by the values of all four features and class."""
    found = []
    for size in (3, 2, 1):
        if size == 3:
            made = [cells.sum(axis=(set(range(4)) - set(s.tolist())).pop()) for s in level(4, 3)]
            found.append(np.concatenate([one.reshape(-1, 2) for one in made]))
        else:
            found.append(margins(found[-1], CARDS, size + 1))
    return found[::-1]


def scores(by_class, tables):
    return [
        scores_of_tables(held, by_class, table_starts(level(4, size), CARDS)).above_chance
        for size, held in enumerate(tables, start=1)
    ]


def information(size):
    """What sets of one feature more than `size` tell in the population, on the mean."""
    cells = ROWS * population() / population().sum()
    table, by_class = tables_of(cells)[size], cells.sum(axis=(0, 1, 2, 3))
    return scores_of_tables(table, by_class, table_starts(level(4, size + 1), CARDS)).plug_in.mean()


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(11)
    likely = population()
    return [
        rng.multinomial(ROWS, likely.ravel() / likely.sum()).reshape(likely.shape).astype(float)
        for _ in range(40)
    ]


@pytest.fixture(scope="module", params=[5, 10])
def tried(drawn, request):
    """Scores of protected tables, those of exact ones, and what is said to be lost."""
    redo = partial(rerounded, least=request.param)
    exact, told, said = [], [], []
    for seed, cells in enumerate(drawn):
        by_class, tables = cells.sum(axis=(0, 1, 2, 3)), tables_of(cells)
        exact.append(scores(by_class, tables))
        rows, found = redo(by_class, tables, CARDS, seed)
        starts = [table_starts(level(4, size), CARDS) for size in (1, 2, 3)]
        chances = [
            scores_of_tables(held, rows, at).chance for held, at in zip(found, starts, strict=True)
        ]
        told.append((scores(rows, found), chances))
        if seed < 6:
            said.append(rounding_cost(rows, found, CARDS, request.param, seed))
    return exact, told, said


def test_the_bias_of_protected_scores_is_foretold(tried):
    exact, told, said = tried
    for size in range(3):
        raw = np.mean([found[size] for found, _ in told])
        truth = np.mean([found[size] for found in exact])
        off = [
            np.mean(one.bias[size] @ [chances[size], chances[size] ** 2])
            for one in said
            for _, chances in told[:6]
        ]
        assert abs(raw - np.mean(off) - truth) < 0.25 * abs(raw - truth) + 0.002


def test_what_is_said_to_be_added_to_variances_is_added(tried):
    exact, told, said = tried
    for size in range(1, 3):
        seen = np.var([found[size] for found, _ in told], axis=0).mean()
        seen -= np.var([found[size] for found in exact], axis=0).mean()
        freedom, told_by_rows = 3 ** (size + 1) - 1, information(size)
        each = np.array([1.0 / one.worth[size] for one in said])
        varies = freedom / 2 * (each**2 - ROWS**-2) + 2 * told_by_rows * (each - 1 / ROWS)
        foretold = np.mean(varies)
        assert seen / 2.5 < foretold < 2.5 * max(seen, 2e-5)


def test_more_is_lost_the_coarser_counts_are(drawn):
    cells = drawn[0]
    by_class, tables = cells.sum(axis=(0, 1, 2, 3)), tables_of(cells)
    worth, noise = [], []
    for least in (2, 10, 40):
        redo = partial(rerounded, least=least)
        found = rounding_cost(*redo(by_class, tables, CARDS, 1), CARDS, least, 1)
        worth.append(found.worth[2])
        noise.append(found.noise)
    assert worth == sorted(worth, reverse=True)
    assert noise == sorted(noise)
    assert worth[0] > 0.85 * ROWS


def test_a_site_of_one_feature_and_one_class_loses_nothing_that_can_be_said():
    table = np.array([[50.0, 0.0], [0.0, 0.0]])
    found = rounding_cost(np.array([50.0, 0.0]), [table], CARDS[:1] - 1, 10, 1)
    assert np.isfinite(found.bias).all()
    assert (found.worth > 0).all()


def test_a_site_of_which_rounding_leaves_one_value_of_every_feature_tells_nothing():
    by_class = np.array([300.0, 300.0])
    tables = []
    for size in (1, 2, 3):
        one = np.zeros((3**size, 2))
        one[0] = by_class
        tables.append(np.tile(one, (len(level(4, size)), 1)))
    found = rounding_cost(by_class, tables, CARDS, 90, 1)
    assert (found.worth == 1).all()
    assert not found.bias.any()
