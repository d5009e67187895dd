from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from misfeat.datasets import make_cohorts
from misfeat.information.count_tables import table_starts
from misfeat.lattice import level
from misfeat.population.pool import shrink
from tests.population.reference import ShrunkenPool, information, shrink_levels, table_of


def drawn_rows(seed, n_rows, cards, n_classes=2):
    """Features that depend on each other and on the target."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(max(cards), size=n_rows)
    codes = np.array(
        [
            np.where(rng.random(n_rows) < 0.2 + 0.1 * f, hidden % c, rng.integers(c, size=n_rows))
            for f, c in enumerate(cards)
        ]
    )
    noise = rng.integers(n_classes, size=n_rows)
    return codes, np.where(rng.random(n_rows) < 0.5, hidden % n_classes, noise)


def tables_by_subset(codes, target, cards, largest, n_classes=2):
    return {
        subset: table_of(codes, target, np.array(cards), n_classes, subset)
        for size in range(1, largest + 1)
        for subset in combinations(range(len(cards)), size)
    }


def laid_out(tables, n_features, largest):
    """The same as `shrink_levels` takes them: subsets and tables by size."""
    subsets = [level(n_features, size) for size in range(1, largest + 1)]
    counts = [
        np.concatenate([tables[tuple(s)].reshape(-1, tables[tuple(s)].shape[-1]) for s in of_size])
        for of_size in subsets.copy()
    ]
    return subsets, counts


@pytest.mark.parametrize(
    ("seed", "n_rows", "cards", "n_classes", "largest"),
    [
        (0, 400, [3, 3, 3, 3, 3], 2, 3),
        (1, 60, [4, 2, 3, 5], 3, 3),
        (2, 30, [3, 1, 4, 2], 2, 3),
        (3, 500, [2, 3, 2, 3, 2], 2, 5),
    ],
)
def test_shrunken_tables_are_those_of_the_formulas(seed, n_rows, cards, n_classes, largest):
    codes, target = drawn_rows(seed, n_rows, cards, n_classes)
    tables = tables_by_subset(codes, target, cards, largest, n_classes)
    rng = np.random.default_rng(seed)
    tables = {s: t * rng.uniform(0.5, 1.5) for s, t in tables.items()}  # expected counts are broken
    reference = ShrunkenPool(tables)
    subsets, counts = laid_out(tables, len(cards), largest)
    for found in shrink_levels(subsets, counts, np.array(cards)):
        for s, subset in enumerate(map(tuple, found.subsets.tolist())):
            wanted = reference.tables[subset]
            assert found.kept[s] == pytest.approx(reference.kept[subset], abs=1e-9)
            assert found.information[s] == pytest.approx(information(wanted), abs=1e-9)
            if len(subset) <= 3:
                table = found.tables[found.starts[s] : found.starts[s + 1]]
                assert table.ravel() == pytest.approx(wanted.ravel(), abs=1e-9)


def test_a_stretch_of_sets_is_shrunk_as_all_of_them_are():
    cards = np.array([3, 2, 3, 2, 3])
    codes, target = drawn_rows(4, 200, cards)
    subsets, counts = laid_out(tables_by_subset(codes, target, cards, 3), 5, 3)
    levels = shrink_levels(subsets, counts, cards)
    starts = table_starts(subsets[2], cards)
    stretch = shrink(
        subsets[2][4:7], counts[2][starts[4] : starts[7]], cards, levels[1], keep=False
    )
    assert np.array_equal(stretch.information, levels[2].information[4:7])
    assert len(stretch.tables) == 0


def test_a_set_that_no_cohort_has_rows_of_is_unknown():
    cards = np.array([2, 2])
    singles = shrink(level(2, 1), np.array([[5.0, 1], [1, 5], [0, 0], [0, 0]]), cards)
    pair = shrink(level(2, 2), np.zeros((4, 2)), cards, singles)
    assert singles.information[0] > 0
    assert np.isnan(singles.information[1])
    assert np.isnan(pair.information).all()


def test_a_constant_target_tells_nothing():
    found = shrink(level(1, 1), np.array([[5.0], [3.0]]), np.array([2]))
    assert found.information.tolist() == [0.0]


def test_large_sets_of_noise_tell_little_and_interactions_of_four_are_seen():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(5, 600))
    parity = codes[:4].sum(axis=0) % 2
    target = np.where(rng.random(600) < 0.8, parity, rng.integers(2, size=600))
    cards = np.full(5, 2)
    subsets, counts = laid_out(tables_by_subset(codes, target, cards, 4), 5, 4)
    found = shrink_levels(subsets, counts, cards)[3].information
    assert np.argmax(found) == 0  # the first four features
    assert found[0] > 0.2
    assert found[1:].max() < 0.05


def test_the_pool_is_nearer_the_truth_than_the_sample():
    data = make_cohorts(4, 150, 6, hide=0, similarity=1000, random_state=3)
    codes = np.array([data.complete[f"f{f + 1}"] for f in range(6)])
    cards = np.full(6, 3)
    tables = tables_by_subset(codes, data.complete["target"], cards, 3)
    subsets, counts = laid_out(tables, 6, 3)
    truth = np.mean(
        [[p.mutual_info(s) for s in subsets[2]] for p in data.populations.values()], axis=0
    )
    sample = np.array([information(tables[tuple(s)]) for s in subsets[2]])
    pooled = shrink_levels(subsets, counts, cards)[2].information
    assert np.abs(pooled - truth).mean() < 0.5 * np.abs(sample - truth).mean()
