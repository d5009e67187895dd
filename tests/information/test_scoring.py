"""The kernels against references, for every path they can take."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from misfeat import MisfeatError
from misfeat.cohorts import Cohort
from misfeat.information import (
    conditional_mutual_info,
    entropies,
    entropy,
    joint_mutual_info,
    level_mutual_info,
    target_entropy,
)
from misfeat.information.plan import cube_plan, largest_dense_size
from misfeat.information.prepared import prepare_rows
from misfeat.information.scoring import sums_of_levels
from misfeat.lattice import level
from misfeat.machine.threads import Work
from tests.information.test_mutual_info import cohort_of, reference


def random_cohort(
    n: int = 8,
    rows: int = 400,
    cardinality: int = 4,
    n_classes: int = 3,
    heaviest: int = 1,
    seed: int = 0,
) -> Cohort:
    rng = np.random.default_rng(seed)
    codes = rng.integers(cardinality, size=(n, rows))
    noise = rng.integers(2, size=rows)
    target = (codes[0] + codes[1] * codes[min(2, n - 1)] + noise) % n_classes
    return cohort_of(codes, target, rng.integers(1, heaviest + 1, size=rows))


def everything(cohort: Cohort, n: int) -> list[float]:
    return [reference(cohort, np.array(s)) for m in range(1, n + 1) for s in level(n, m)]


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


@pytest.mark.parametrize("total", [2**16 + 5, 2**32 + 5])
@pytest.mark.parametrize("n_classes", [2, 4, 5])
@pytest.mark.parametrize("dense_to", [0, 5])
def test_counts_too_large_for_short_integers_are_exact(total, n_classes, dense_to, monkeypatch):
    monkeypatch.setattr("misfeat.information.scoring.largest_dense_size", lambda *_: dense_to)
    base = random_cohort(5, 200, 3, n_classes)
    weights = base.weights.copy()
    weights[0] = total
    cohort = cohort_of(base.codes, base.target, weights)
    found = np.concatenate(level_mutual_info(cohort, 1, 5))
    expected = []
    for size in range(1, 6):
        for subset in level(5, size):
            keys = np.unique(cohort.codes[subset], axis=1, return_inverse=True)[1].ravel()
            cells = np.zeros((keys.max() + 1, cohort.n_classes))
            np.add.at(cells, (keys, cohort.target), weights)
            joint = cells / cells.sum()
            outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
            held = joint > 0
            expected.append((joint[held] * np.log(joint[held] / outer[held])).sum())
    # The reference itself is exact to about 1e-11 for counts this uneven.
    assert found == pytest.approx(expected, abs=1e-10)


def test_many_values_need_wide_codes():
    cohort = random_cohort(3, 3000, 700, 3)
    expected = [reference(cohort, np.array(s)) for m in (1, 2) for s in level(3, m)]
    assert np.concatenate(level_mutual_info(cohort, 1, 2)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_jobs", [2, 3, 5])
@pytest.mark.parametrize("cardinality", [3, 12])
def test_any_number_of_threads_gives_the_same_bits(n_jobs, cardinality):
    cohort = random_cohort(10, 500, cardinality)
    alone = level_mutual_info(cohort, 1, 6, n_jobs=1)
    together = level_mutual_info(cohort, 1, 6, n_jobs=n_jobs)
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


@pytest.mark.parametrize(
    ("n", "low", "high"), [(9, 1, 3), (9, 3, 3), (9, 2, 5), (5, 1, 5), (4, 4, 4)]
)
@pytest.mark.parametrize("surplus", [0, 1, 2])
def test_a_plan_serves_every_subset_once(n, low, high, surplus):
    plan = cube_plan(n, low, high, min(high + surplus, n))
    served = np.sort(plan.outputs[plan.outputs >= 0])
    total = sum(len(level(n, m)) for m in range(low, high + 1))
    assert np.array_equal(served, np.arange(total))


def test_listed_subsets_equal_those_of_whole_levels():
    cohort = random_cohort(12, 600, 3)
    whole = level_mutual_info(cohort, 4, 4)[0]
    ranks = np.random.default_rng(1).choice(len(whole), 20, replace=False)
    for listed in (ranks, np.arange(len(whole))):
        found = joint_mutual_info(cohort, level(12, 4)[listed])
        assert found == pytest.approx(whole[listed], abs=1e-12)


def test_unrecorded_features_leave_gaps_in_the_order_of_ranks():
    base = random_cohort(6, 300, 3)
    recorded = np.array([True, False, True, True, False, True])
    codes = base.codes.copy()
    codes[~recorded] = -1
    cohort = Cohort(**{**vars(base), "codes": codes, "recorded": recorded})
    for size, scores in zip(
        (1, 2, 5), (level_mutual_info(cohort, m, m)[0] for m in (1, 2, 5)), strict=True
    ):
        computable = recorded[level(6, size)].all(axis=1)
        assert np.array_equal(~np.isnan(scores), computable)
        expected = [reference(cohort, subset) for subset in level(6, size)[computable]]
        assert scores[computable] == pytest.approx(expected, abs=1e-12)


def with_gaps(seed: int = 0) -> Cohort:
    base = random_cohort(5, 300, 3, seed=seed)
    codes = base.codes.astype(np.int8)
    codes[np.random.default_rng(seed).random(codes.shape) < 0.15] = -1
    return Cohort(**{**vars(base), "codes": codes})


def test_rows_that_lack_values_count_only_where_they_have_them():
    cohort = with_gaps()
    for size in range(1, 6):
        expected = []
        for subset in level(5, size):
            rows = (cohort.codes[subset] >= 0).all(axis=0)
            keys = np.unique(cohort.codes[subset][:, rows], axis=1, return_inverse=True)[1].ravel()
            expected.append(mutual_info_score(keys, cohort.target[rows]))
        assert level_mutual_info(cohort, size, size)[0] == pytest.approx(expected, abs=1e-12)


def test_a_set_that_no_row_has_in_full_has_no_score():
    codes = np.array([[0, 1, -1, -1], [-1, -1, 0, 1]], dtype=np.int8)
    cohort = cohort_of(codes, np.array([0, 1, 0, 1]))
    assert np.isnan(joint_mutual_info(cohort, np.array([[0, 1]])))[0]


@pytest.mark.parametrize("make", [random_cohort, with_gaps])
def test_entropies_are_those_of_the_counts_and_make_the_score(make):
    cohort = make()
    n = len(cohort.codes)
    for size in range(1, 4):
        subsets = level(n, size)
        found = entropies(cohort, subsets)
        assert found.mutual_info == pytest.approx(joint_mutual_info(cohort, subsets), abs=1e-12)
        for i, subset in enumerate(subsets):
            rows = (cohort.codes[subset] >= 0).all(axis=0)
            keys = np.unique(cohort.codes[subset][:, rows], axis=1, return_inverse=True)[1].ravel()
            joint = keys * cohort.n_classes + cohort.target[rows]
            assert found.features[i] == pytest.approx(entropy(np.bincount(keys)), abs=1e-12)
            assert found.joint[i] == pytest.approx(entropy(np.bincount(joint)), abs=1e-12)
            own = entropy(np.bincount(cohort.target[rows]))
            assert found.target[i] == pytest.approx(own, abs=1e-12)


def test_the_chain_rule_holds():
    cohort = random_cohort(6, 500, 3)
    given = np.array([1, 4])
    subsets = np.array([[0, 2], [3, 5], [2, 4]])
    conditional = conditional_mutual_info(cohort, subsets, given)
    together = [joint_mutual_info(cohort, np.union1d(subset, given)[None])[0] for subset in subsets]
    alone = joint_mutual_info(cohort, given[None])[0]
    assert conditional + alone == pytest.approx(together, abs=1e-12)


def test_units_and_shares_of_the_entropy():
    cohort = random_cohort(4, 200, 3)
    nats = joint_mutual_info(cohort, level(4, 2))
    assert joint_mutual_info(cohort, level(4, 2), unit="bits") == pytest.approx(nats / np.log(2))
    share = joint_mutual_info(cohort, level(4, 2), normalized=True)
    assert share == pytest.approx(nats / target_entropy(cohort))
    assert target_entropy(cohort, unit="bits") == pytest.approx(target_entropy(cohort) / np.log(2))
    with pytest.raises(MisfeatError, match="unit='hartleys'"):
        joint_mutual_info(cohort, level(4, 2), unit="hartleys")


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


def test_the_power_set_is_scored_up_to_its_limit():
    cohort = random_cohort(10, 100, 2, 2)
    assert sum(map(len, level_mutual_info(cohort, 1, 10))) == 2**10 - 1
    with pytest.raises(MisfeatError, match="at most 22 features"):
        level_mutual_info(random_cohort(23, 50, 2, 2), 1, 23)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize(("n", "size"), [(500, 2), (90, 3)])
def test_hundreds_of_features_are_scored_in_pairs_and_triples(n, size, n_classes):
    cohort = random_cohort(n, 60, 3, n_classes)
    (scores,) = level_mutual_info(cohort, size, size, n_jobs=2)
    subsets = level(n, size)
    assert len(scores) == len(subsets)
    picked = np.random.default_rng(0).choice(len(scores), 30, replace=False)
    expected = [reference(cohort, subset) for subset in subsets[picked]]
    assert scores[picked] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_many_features_with_many_rows_are_counted(n_classes):
    cohort = random_cohort(40, 2000, 2, n_classes)
    assert largest_dense_size(prepare_rows(cohort), 1, 3) == 3
    (scores,) = level_mutual_info(cohort, 3, 3, n_jobs=2)
    picked = np.random.default_rng(0).choice(len(scores), 30, replace=False)
    expected = [reference(cohort, subset) for subset in level(40, 3)[picked]]
    assert scores[picked] == pytest.approx(expected, abs=1e-12)


def test_few_cells_are_counted_and_many_are_searched():
    assert largest_dense_size(prepare_rows(random_cohort(8, 5000, 3)), 1, 8) >= 6
    assert largest_dense_size(prepare_rows(random_cohort(8, 300, 40)), 1, 8) <= 2


def test_categories_that_do_not_occur_are_squeezed_out():
    base = random_cohort(4, 200, 3)
    spread = Cohort(
        **{**vars(base), "codes": base.codes * 5, "cardinalities": base.cardinalities * 5}
    )
    rows = prepare_rows(spread)
    assert rows.cardinalities.tolist() == [3, 3, 3, 3]
    expected = sums_of_levels(prepare_rows(base), 1, 4, 1, Work())
    found = sums_of_levels(rows, 1, 4, 1, Work())
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


# --- invariants -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cardinality", [2, 4, 30])
def test_scores_do_not_depend_on_the_order_of_rows_features_or_labels(seed, cardinality):
    rng = np.random.default_rng(seed)
    cohort = random_cohort(6, 300, cardinality, 3, 4, seed)
    expected = level_mutual_info(cohort, 3, 3)[0]
    order = rng.permutation(300)
    shuffled = cohort_of(cohort.codes[:, order], cohort.target[order], cohort.weights[order])
    assert level_mutual_info(shuffled, 3, 3)[0] == pytest.approx(expected, abs=1e-12)
    labels = rng.permutation(cardinality)
    relabelled = cohort_of(labels[cohort.codes], rng.permutation(3)[cohort.target], cohort.weights)
    assert level_mutual_info(relabelled, 3, 3)[0] == pytest.approx(expected, abs=1e-12)
    moved = rng.permutation(6)
    swapped = cohort_of(cohort.codes[moved], cohort.target, cohort.weights)
    original = {frozenset(s): v for s, v in zip(level(6, 3).tolist(), expected, strict=True)}
    found = level_mutual_info(swapped, 3, 3)[0]
    again = [original[frozenset(moved[list(s)])] for s in level(6, 3).tolist()]
    assert found == pytest.approx(again, abs=1e-12)


@pytest.mark.parametrize("cardinality", [2, 4, 30])
def test_a_weight_equals_that_many_copies(cardinality):
    cohort = random_cohort(5, 200, cardinality, 3, 5)
    copies = cohort_of(
        np.repeat(cohort.codes, cohort.weights, axis=1), np.repeat(cohort.target, cohort.weights)
    )
    for size in (1, 3, 5):
        expected = level_mutual_info(copies, size, size)[0]
        assert level_mutual_info(cohort, size, size)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_merging_two_values_never_raises_a_score(seed):
    cohort = random_cohort(5, 300, 4, 3, 2, seed)
    merged = cohort_of(np.minimum(cohort.codes, 2), cohort.target, cohort.weights)
    for size in range(1, 6):
        before = level_mutual_info(cohort, size, size)[0]
        assert (level_mutual_info(merged, size, size)[0] <= before + 1e-12).all()


# --- rare shapes ------------------------------------------------------------------------------


def test_a_cohort_that_recorded_nothing_scores_only_the_empty_set():
    base = random_cohort(3, 50, 2)
    nothing = {"codes": np.full_like(base.codes, -1), "recorded": np.zeros(3, dtype=bool)}
    cohort = Cohort(**{**vars(base), **nothing})
    empty, singles = level_mutual_info(cohort, 0, 1)
    assert empty.tolist() == [0.0]
    assert np.isnan(singles).all()


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


def test_conditional_scores_are_taken_over_the_rows_that_have_everything():
    rng = np.random.default_rng(0)
    z, y = rng.integers(2, size=(2, 400))
    s = np.where(z == y, rng.integers(2, size=400), -1)
    cohort = cohort_of(np.array([s, z]), y)
    assert conditional_mutual_info(cohort, np.array([[0]]), [1])[0] < 0.02
    alone = conditional_mutual_info(cohort, np.array([[1]]), [])
    assert alone == pytest.approx(joint_mutual_info(cohort, np.array([[1]])))


def test_a_share_of_the_entropy_is_one_at_most_where_rows_lack_values():
    cohort = with_gaps(3)
    for size in range(1, 6):
        share = level_mutual_info(cohort, size, size, normalized=True)[0]
        assert (share <= 1 + 1e-12).all()
    constant = cohort_of(np.array([[0, 1]]), np.array([0, 0]))
    assert joint_mutual_info(constant, np.array([[0]]), normalized=True).tolist() == [0.0]


@pytest.mark.parametrize("subset", [[1, 1], [2, 0]])
def test_members_that_repeat_or_descend_are_refused(subset):
    with pytest.raises(MisfeatError, match="distinct and ascend"):
        joint_mutual_info(random_cohort(), np.array([subset]))
