"""The kernels against references, for every path they can take, and what they are given."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from misfeat.information import joint_mutual_info, level_mutual_info, subset_sums
from misfeat.information.mutual_info import compact_rows
from misfeat.lattice import level
from tests.information.generated import (
    above_chance,
    cohort_of,
    contingency,
    everything,
    plug_in,
    random_cohort,
    reference,
    reference_above_chance,
)


# All of them run with bounds checks; every value of each stands among the others.
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_all_subsets_of_eight_features_equal_scikit_learn(every):
    kinds = product([1, 2, 3, 4, 5, 9, 40], [1, 2, 3, 4, 5, 8, 12], [1, 7])
    for number, (cardinality, n_classes, heaviest) in enumerate(kinds):
        if every or sum(divmod(number // 2, 7), number % 2) % 7 == 0:
            cohort = random_cohort(8, 250, cardinality, n_classes, heaviest)
            found = np.concatenate(level_mutual_info(cohort, 1, 8))
            assert found == pytest.approx(everything(cohort, 8), abs=1e-12)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 8, 12])
@pytest.mark.parametrize("heaviest", [1, 7])
def test_every_way_of_scoring_above_chance_equals_scikit_learn(n_classes, heaviest, monkeypatch):
    base = random_cohort(6, 250, 3, n_classes, heaviest)
    target = np.random.default_rng(n_classes).integers(n_classes, size=250)
    cohort = cohort_of(base.codes, target, base.weights)
    expected = [everything(cohort, 6, score) for score in (reference, reference_above_chance)]
    for dense_to in (0, 3, 6):
        monkeypatch.setattr(subset_sums, "largest_dense_size", lambda *_, to=dense_to: to)
        for less_chance, scores in zip((False, True), expected, strict=True):
            found = level_mutual_info(cohort, 1, 6, above_chance=less_chance)
            assert np.concatenate(found) == pytest.approx(scores, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("total", [2**16 + 5, 2**20 + 5, 2**32 + 5])
@pytest.mark.parametrize(("n_classes", "dense_to"), product([2, 4, 5], [0, 4]))
def test_counts_too_large_for_short_integers_are_exact(total, n_classes, dense_to, monkeypatch):
    monkeypatch.setattr(subset_sums, "largest_dense_size", lambda *_: dense_to)
    base = random_cohort(4, 150, 3, n_classes)
    weights = base.weights.copy()
    weights[:3] = total // np.array([1, 2, 3])
    cohort = cohort_of(base.codes, base.target, weights)
    tables = [contingency(cohort, s) for size in range(1, 5) for s in level(4, size)]
    found = np.concatenate(level_mutual_info(cohort, 1, 4))
    # The reference itself is exact to about 1e-11 for counts this uneven.
    assert found == pytest.approx([plug_in(cells) for cells in tables], abs=1e-10)
    if total < 2**32:
        found = np.concatenate(level_mutual_info(cohort, 1, 4, above_chance=True))
        assert found == pytest.approx([above_chance(cells) for cells in tables], abs=1e-12)


@pytest.mark.parametrize("cardinality", [3, 12])
@pytest.mark.parametrize("above_chance", [False, True])
def test_any_number_of_threads_gives_the_same_bits(cardinality, above_chance):
    cohort = random_cohort(10, 500, cardinality)
    alone = level_mutual_info(cohort, 1, 6, above_chance=above_chance, n_jobs=1)
    for n_jobs in (2, 3, 5):
        together = level_mutual_info(cohort, 1, 6, above_chance=above_chance, n_jobs=n_jobs)
        assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_listed_subsets_equal_those_of_whole_levels():
    cohort = random_cohort(12, 600, 3)
    whole = level_mutual_info(cohort, 4, 4)[0]
    ranks = np.random.default_rng(1).choice(len(whole), 20, replace=False)
    for listed in (ranks, np.arange(len(whole))):
        found = joint_mutual_info(cohort, level(12, 4)[listed])
        assert found == pytest.approx(whole[listed], abs=1e-12)


def test_progress_counts_up_and_can_stop_the_work():
    cohort = random_cohort(12, 300, 3)
    for n_jobs in (1, 2):
        seen = []
        level_mutual_info(
            cohort, 1, 4, n_jobs=n_jobs, progress=lambda *s, seen=seen: seen.append(s)
        )
        total = seen[-1][1]
        assert [done for done, _ in seen] == list(range(1, total + 1))

        def stop(done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            level_mutual_info(cohort, 1, 4, n_jobs=n_jobs, progress=stop)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize(("n", "rows", "size"), [(500, 60, 2), (90, 60, 3), (40, 2000, 3)])
def test_many_features_are_scored_in_pairs_and_triples(n, rows, size, n_classes):
    cohort = random_cohort(n, rows, 2 if rows > 60 else 3, n_classes)
    assert (subset_sums.largest_dense_size(compact_rows(cohort), 1, size) == size) == (rows > 60)
    (scores,) = level_mutual_info(cohort, size, size, n_jobs=2)
    subsets = level(n, size)
    assert len(scores) == len(subsets)
    picked = np.random.default_rng(0).choice(len(scores), 30, replace=False)
    expected = [reference(cohort, subset) for subset in subsets[picked]]
    assert scores[picked] == pytest.approx(expected, abs=1e-12)


def test_tables_too_large_for_short_keys_are_searched():
    rng = np.random.default_rng(0)
    rows = 9000
    wide = [rng.integers(values, size=rows) for values in (300, 300, 110)]
    codes = np.array([*wide, *rng.integers(2, size=(27, rows))])
    cohort = cohort_of(codes, rng.integers(2, size=rows))
    (found,) = level_mutual_info(cohort, 3, 3)
    assert found[0] == pytest.approx(reference(cohort, np.array([0, 1, 2])), abs=1e-12)
