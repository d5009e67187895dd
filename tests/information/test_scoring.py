"""The kernels against references, for every path they can take, and what they are given."""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest

from misfeat.cohorts import Cohort
from misfeat.information import joint_mutual_info, level_mutual_info
from misfeat.information.kernels.tables import drop_trees, greedy_cover
from misfeat.information.mutual_info import compact_rows
from misfeat.information.scoring import (
    block_plan,
    lanes_of,
    largest_dense_size,
    list_levels,
    sums_of_levels,
)
from misfeat.lattice import count, level, rank
from misfeat.lattice.levels import binomials
from misfeat.runtime.threads import Work
from tests.information.generated import (
    above_chance,
    cohort_of,
    everything,
    random_cohort,
    reference,
    reference_above_chance,
)

CELLS = [
    pytest.param(
        cardinality,
        n_classes,
        heaviest,
        # All of them run with bounds checks; every value of each stands among the others.
        marks=() if (i + j + k) % 7 == 0 else pytest.mark.thorough,
    )
    for i, cardinality in enumerate([1, 2, 3, 4, 5, 9, 40])
    for j, n_classes in enumerate([1, 2, 3, 4, 5, 8, 12])
    for k, heaviest in enumerate([1, 7])
]


@pytest.mark.parametrize(("cardinality", "n_classes", "heaviest"), CELLS)
def test_all_subsets_of_eight_features_equal_scikit_learn(cardinality, n_classes, heaviest):
    cohort = random_cohort(8, 250, cardinality, n_classes, heaviest)
    found = np.concatenate(level_mutual_info(cohort, 1, 8))
    assert found == pytest.approx(everything(cohort, 8), abs=1e-12)


@pytest.mark.parametrize("dense_to", [0, 3, 8])
@pytest.mark.parametrize("n_classes", [2, 4, 5])
@pytest.mark.parametrize("heaviest", [1, 7])
def test_both_ways_of_scoring_give_the_same(dense_to, n_classes, heaviest, monkeypatch):
    monkeypatch.setattr("misfeat.information.scoring.largest_dense_size", lambda *_: dense_to)
    cohort = random_cohort(8, 300, 3, n_classes, heaviest)
    found = np.concatenate(level_mutual_info(cohort, 1, 8))
    assert found == pytest.approx(everything(cohort, 8), abs=1e-12)


@cache
def without_relation(n_classes, heaviest):
    """A cohort whose target is chance, and its scores above chance, which take long."""
    base = random_cohort(6, 250, 3, n_classes, heaviest)
    target = np.random.default_rng(n_classes).integers(n_classes, size=250)
    cohort = cohort_of(base.codes, target, base.weights)
    return cohort, everything(cohort, 6, reference_above_chance)


@pytest.mark.parametrize("dense_to", [0, 3, 6])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 8, 12])
@pytest.mark.parametrize("heaviest", [1, 7])
def test_every_way_of_scoring_above_chance_equals_scikit_learn(
    dense_to, n_classes, heaviest, monkeypatch
):
    monkeypatch.setattr("misfeat.information.scoring.largest_dense_size", lambda *_: dense_to)
    cohort, expected = without_relation(n_classes, heaviest)
    found = np.concatenate(level_mutual_info(cohort, 1, 6, above_chance=True))
    assert found == pytest.approx(expected, abs=1e-12)


def score_of_counts(cells):
    joint = cells / cells.sum()
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    held = joint > 0
    return (joint[held] * np.log(joint[held] / outer[held])).sum()


@pytest.mark.slow
@pytest.mark.parametrize("total", [2**16 + 5, 2**20 + 5, 2**32 + 5])
@pytest.mark.parametrize("n_classes", [2, 4, 5])
@pytest.mark.parametrize("dense_to", [0, 4])
def test_counts_too_large_for_short_integers_are_exact(total, n_classes, dense_to, monkeypatch):
    monkeypatch.setattr("misfeat.information.scoring.largest_dense_size", lambda *_: dense_to)
    base = random_cohort(4, 150, 3, n_classes)
    weights = base.weights.copy()
    weights[:3] = total // np.array([1, 2, 3])
    cohort = cohort_of(base.codes, base.target, weights)
    tables = []
    for subset in (s for size in range(1, 5) for s in level(4, size)):
        keys = np.unique(cohort.codes[subset], axis=1, return_inverse=True)[1].ravel()
        tables.append(np.zeros((keys.max() + 1, cohort.n_classes), dtype=np.int64))
        np.add.at(tables[-1], (keys, cohort.target), weights)
    found = np.concatenate(level_mutual_info(cohort, 1, 4))
    # The reference itself is exact to about 1e-11 for counts this uneven.
    assert found == pytest.approx([score_of_counts(cells) for cells in tables], abs=1e-10)
    if total < 2**32:
        found = np.concatenate(level_mutual_info(cohort, 1, 4, above_chance=True))
        assert found == pytest.approx([above_chance(cells) for cells in tables], abs=1e-12)


@pytest.mark.slow
def test_many_values_need_wide_codes():
    cohort = random_cohort(3, 3000, 700, 3)
    expected = [reference(cohort, np.array(s)) for m in (1, 2) for s in level(3, m)]
    assert np.concatenate(level_mutual_info(cohort, 1, 2)) == pytest.approx(expected, abs=1e-12)


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
    assert (largest_dense_size(compact_rows(cohort), 1, size) == size) == (rows > 60)
    (scores,) = level_mutual_info(cohort, size, size, n_jobs=2)
    subsets = level(n, size)
    assert len(scores) == len(subsets)
    picked = np.random.default_rng(0).choice(len(scores), 30, replace=False)
    expected = [reference(cohort, subset) for subset in subsets[picked]]
    assert scores[picked] == pytest.approx(expected, abs=1e-12)


def test_tables_too_large_for_short_keys_are_searched():
    rng = np.random.default_rng(0)
    rows = 9000
    wide = [
        rng.integers(300, size=rows),
        rng.integers(300, size=rows),
        rng.integers(110, size=rows),
    ]
    codes = np.array([*wide, *rng.integers(2, size=(27, rows))])
    cohort = cohort_of(codes, rng.integers(2, size=rows))
    (found,) = level_mutual_info(cohort, 3, 3)
    assert found[0] == pytest.approx(reference(cohort, np.array([0, 1, 2])), abs=1e-12)


@pytest.mark.parametrize(
    ("n", "low", "high"), [(9, 1, 3), (9, 3, 3), (9, 2, 5), (5, 1, 5), (4, 4, 4)]
)
@pytest.mark.parametrize("surplus", [0, 1, 2])
def test_a_plan_serves_every_subset_once(n, low, high, surplus):
    plan = block_plan(n, low, high, min(high + surplus, n))
    served = np.sort(plan.outputs[plan.outputs >= 0])
    total = sum(len(level(n, m)) for m in range(low, high + 1))
    assert np.array_equal(served, np.arange(total))


def test_few_cells_are_counted_and_many_are_searched():
    assert largest_dense_size(compact_rows(random_cohort(8, 5000, 3)), 1, 8) >= 6
    assert largest_dense_size(compact_rows(random_cohort(8, 300, 40)), 1, 8) <= 2


def test_a_lane_holds_every_count_and_a_cell_every_class():
    for n_classes in (1, 2, 3, 4, 5, 9):
        for total in (10, 2**16, 2**32):
            lanes, lane_type, word_type = lanes_of(n_classes, total)
            assert lanes >= n_classes
            assert np.iinfo(lane_type).max >= total
            assert lanes * np.dtype(lane_type).itemsize % np.dtype(word_type).itemsize == 0


@pytest.mark.parametrize(("n", "size", "block_size"), [(8, 2, 4), (9, 3, 5), (6, 6, 6), (7, 1, 1)])
def test_every_subset_lies_in_some_block(n, size, block_size):
    blocks = greedy_cover(n, size, block_size, binomials(n, size))
    covered = {subset for block in blocks for subset in combinations(block.tolist(), size)}
    assert covered == set(combinations(range(n), size))


def test_steps_drop_one_member_of_a_step_before():
    table = binomials(7, 3)
    blocks = greedy_cover(7, 3, 5, table)
    offsets = np.concatenate([[0, 0], np.cumsum(table[7, 1:])])
    starts, kept, _ = drop_trees(blocks, 1, 3, table, offsets)
    for first, last in pairwise(starts):
        seen = {2**5 - 1}
        for step in kept[first:last].tolist():
            assert step in seen or any(step | 1 << j in seen for j in range(5))
            seen.add(step)


@pytest.mark.parametrize(("n", "low", "high"), [(5, 1, 5), (6, 2, 4), (7, 3, 3), (1, 1, 1)])
def test_every_subset_is_listed_once_and_knows_its_place(n, low, high):
    members, lengths, places = list_levels(n, range(low, high + 1))
    assert sorted(places) == list(range(len(places)))
    starts = np.cumsum([0, *(count(n, m) for m in range(low, high + 1))])
    for subset, length, place in zip(members, lengths, places, strict=True):
        assert place - starts[length - low] == rank(subset[None, :length])[0]


def test_subsets_with_a_common_beginning_follow_each_other():
    members, lengths, _ = list_levels(6, range(1, 7))
    listed = [tuple(m[:length]) for m, length in zip(members, lengths, strict=True)]
    for beginning in listed:
        at = [i for i, subset in enumerate(listed) if subset[: len(beginning)] == beginning]
        assert at == list(range(at[0], at[-1] + 1))
        assert listed[at[-1]] == beginning  # so that the rows it holds are there already


def test_categories_that_do_not_occur_take_no_room():
    base = random_cohort(4, 200, 3)
    spread = Cohort(
        **{**vars(base), "codes": base.codes * 5, "cardinalities": base.cardinalities * 5}
    )
    rows = compact_rows(spread)
    assert rows.cardinalities.tolist() == [3, 3, 3, 3]
    expected = sums_of_levels(compact_rows(base), 1, 4, Work())
    found = sums_of_levels(rows, 1, 4, Work())
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_unrecorded_features_take_no_room():
    base = random_cohort(4, 100, 3)
    cohort = Cohort(**{**vars(base), "recorded": np.array([True, False, True, False])})
    rows = compact_rows(cohort)
    assert rows.codes.shape == (2, 100)
    assert rows.features.tolist() == [0, 2]
    assert rows.positions.tolist() == [0, -1, 1, -1]
