"""Permutations of the target: of rows, of rows with weights, and of sums of products."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from misfeat.cohorts.product_sums import (
    FIFTHS,
    PERMUTED,
    ProductSums,
    _drawn_products,
    _permuted_products,
)
from misfeat.cohorts.weights import design_effect, mean_weights
from misfeat.information import joint_mutual_info, level_mutual_info, permuted_scores
from misfeat.information.kernels.permuted_scores import shuffled
from misfeat.information.measures import squared_correlation
from misfeat.information.null_expectation import expected_n_log_n, n_log_n
from misfeat.information.permuted_scores import SortedPermutations, joint_effects, permutations_of
from misfeat.lattice.levels import level
from misfeat.runtime.threads import Work
from tests.information.generated import cohort_of, plug_in, with_gaps

SEED = np.random.SeedSequence(7)


def drawn(seed, n_rows, n_features, cardinality=3, n_classes=3):
    rng = np.random.default_rng(seed)
    codes = rng.integers(cardinality, size=(n_features, n_rows))
    return cohort_of(codes, rng.integers(n_classes, size=n_rows))


def weighed(cohort, rng):
    """The same rows with weights, unequal ones within collapsed rows, too."""
    masses = cohort.weights * rng.integers(1, 10**6, size=len(cohort.weights))
    heaviest = masses / cohort.weights**0.5
    found = replace(cohort, masses=masses, heaviest=heaviest, effective=1.0)
    return replace(found, effective=design_effect(found))


@st.composite
def questions(draw):
    """A cohort, with weights or without, the features that are held, and strata or none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features, n_rows = draw(st.integers(2, 6)), draw(st.integers(2, 80))
    cohort = cohort_of(
        rng.integers(draw(st.integers(1, 6)), size=(n_features, n_rows)),
        rng.integers(draw(st.integers(2, 7)), size=n_rows),
        rng.integers(1, 4, size=n_rows),
    )
    held = tuple(draw(st.sets(st.integers(0, n_features - 1), max_size=n_features - 1)))
    strata = rng.integers(3, size=n_rows) if draw(st.booleans()) else None
    return weighed(cohort, rng) if draw(st.booleans()) else cohort, held, strata


@settings(max_examples=40, deadline=None)
@given(questions())
def test_permutations_counted_together_are_those_searched_one_by_one(question):
    cohort, held, strata = question
    cohort = replace(cohort, masses=None, heaviest=None, effective=None)
    sets = permutations_of(cohort, 2, held=held, strata=strata, seed=SEED)._sets
    searched = permuted_scores.SearchedPermutations(sets).scores(0, 9, Work(1))
    assert np.allclose(
        permuted_scores.CountedPermutations(sets).scores(0, 9, Work(2)), searched, atol=1e-10
    )
    assert np.allclose(SortedPermutations(sets).scores(0, 9, Work(2)), searched, atol=1e-10)


@pytest.mark.parametrize("cohort", [with_gaps(), drawn(2, 2000, 3)], ids=["gaps", "full cells"])
def test_rows_sorted_into_cells_have_the_scores_of_those_searched(cohort):
    sets = permutations_of(cohort, 3, seed=SEED)._sets
    searched = permuted_scores.SearchedPermutations(sets).scores(0, 9, Work(1))
    found = SortedPermutations(sets).scores(0, 9, Work(1))
    assert np.allclose(found, searched, atol=1e-10, equal_nan=True)


@settings(max_examples=40, deadline=None)
@given(questions())
def test_sets_hold_what_is_held_and_the_first_permutation_is_the_target_as_recorded(question):
    cohort, held, strata = question
    found = permutations_of(cohort, 2, held=held, strata=strata, seed=SEED)
    free = [f for f in range(len(cohort.codes)) if f not in held]
    expected = [
        tuple(sorted((*held, *chosen))) for size in (1, 2) for chosen in combinations(free, size)
    ]
    sets = [tuple(members) for subsets in found.subsets for members in subsets.tolist()]
    assert sorted(sets) == sorted(expected)
    alone = joint_mutual_info(cohort, np.array([sorted(held)], dtype=np.int64))[0] if held else 0.0
    scores = np.concatenate([joint_mutual_info(cohort, s) for s in found.subsets]) - alone
    atol = 1e-10 if cohort.effective is None else 1e-6  # weights are rounded to 31 bits
    assert np.allclose(found.scores(0, 1, Work())[0], scores, atol=atol)


def test_the_mean_over_permutations_is_the_null_expectation():
    cohort = drawn(1, 60, 4)
    scores = permutations_of(cohort, 2, seed=SEED).scores(1, 2001, Work())
    plain = np.concatenate(level_mutual_info(cohort, 1, 2))
    expected = plain - np.concatenate(level_mutual_info(cohort, 1, 2, above_chance=True))
    deviation = scores.std(axis=0) / np.sqrt(len(scores))
    assert (np.abs(scores.mean(axis=0) - expected) < 5 * deviation).all()


def test_what_held_features_explain_stays():
    cohort, only = drawn(3, 80, 3), np.array([[0]])
    found = permutations_of(cohort, 1, held=(0,), seed=SEED)
    rows = permuted_scores.SearchedPermutations(found._sets)
    again = cohort_of(
        rows._rows.codes, shuffled(rows._rows.target, rows._starts, found._sets.seeds[5])
    )
    assert joint_mutual_info(again, only)[0] == pytest.approx(joint_mutual_info(cohort, only)[0])


def test_every_order_is_as_likely_within_a_stratum():
    seeds = np.random.SeedSequence(1).generate_state(12_000, np.uint64)
    classes = np.arange(4, dtype=np.uint16)
    orders = [tuple(shuffled(classes, np.array([0, 4]), seed)) for seed in seeds]
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 24
    assert chisquare(counts).pvalue > 1e-4
    classes = np.array([0, 1, 0, 2, 2, 3, 3], dtype=np.uint16)
    permuted = shuffled(classes, np.array([0, 3, 7]), np.uint64(9))
    assert sorted(permuted[:3]) == [0, 0, 1]
    assert sorted(permuted[3:]) == [2, 2, 3, 3]


def test_rows_with_gaps_and_of_large_tables_are_sorted():
    gaps = with_gaps()
    found = permutations_of(gaps, 2, seed=SEED)
    assert isinstance(found, SortedPermutations)
    assert found._rows.codes.flags.c_contiguous  # another layout would be compiled anew
    expected = np.concatenate(level_mutual_info(gaps, 1, 2))
    assert np.allclose(found.scores(0, 1, Work())[0], expected)
    wide = drawn(0, 60, 4, cardinality=200)
    assert isinstance(permutations_of(wide, 3, seed=SEED), SortedPermutations)


def test_many_rows_are_counted_in_wider_lanes():
    rng = np.random.default_rng(5)
    codes, target = rng.integers(2, size=(3, 40)), rng.integers(2, size=40)
    cohort = cohort_of(codes, target, rng.integers(2000, 4000, size=40))  # more than 2**16
    found = permutations_of(cohort, 2, seed=SEED)
    expected = np.concatenate(level_mutual_info(cohort, 1, 2))
    assert np.allclose(found.scores(0, 1, Work())[0], expected, atol=1e-9)
    assert (found.scores(1, 20, Work()) < expected + 1e-9).all()


@pytest.mark.parametrize("held", [(), (0,)])
def test_tables_that_are_drawn_score_as_rows_that_are_moved(monkeypatch, held):
    cohort, work = drawn(3, 40, 3), Work(1)
    cohort = replace(cohort, weights=cohort.weights * 30)
    moved = permutations_of(cohort, 2, held=held, seed=SEED, most=1001).scores(0, 1001, work)
    monkeypatch.setattr("misfeat.information.permuted_scores.DRAWN_FROM", 1)
    monkeypatch.setattr("misfeat.information.permuted_scores.DRAWN_A_ROW", 1)
    found = permutations_of(cohort, 2, held=held, seed=SEED, most=1001)
    assert isinstance(found, permuted_scores.DrawnPermutations)
    scores = found.scores(0, 1001, work)
    assert scores[0] == pytest.approx(moved[0], abs=1e-12)
    assert scores[1:].mean(axis=0) == pytest.approx(moved[1:].mean(axis=0), rel=0.1)
    assert np.quantile(scores, 0.9, axis=0) == pytest.approx(
        np.quantile(moved, 0.9, axis=0), rel=0.15
    )


def test_a_class_takes_its_mean_weight_along_and_the_rest_stays_with_the_row():
    cohort = drawn(1, 90, 3, n_classes=2)
    rng = np.random.default_rng(1)
    by_class = np.array([1, 30])[cohort.target] * cohort.weights * 1000
    by_row = rng.integers(900, 1100, len(cohort.target)) * cohort.weights
    for masses, goes_along in ((by_class, True), (by_row, False)):
        heaviest = masses / cohort.weights
        weighted = replace(cohort, masses=masses, heaviest=heaviest, effective=1e9)
        found = permutations_of(weighted, 1, seed=SEED)
        target = shuffled(found._rows.target, found._starts, found._sets.seeds[3])
        rows = found._with_target(target)
        assert (target != found._rows.target).any()
        means = [rows.weights[rows.target == c].mean() for c in (0, 1)]
        if goes_along:
            assert means[1] == pytest.approx(30 * means[0], rel=1e-6)
            assert len(np.unique(rows.weights)) == 2
        else:
            np.testing.assert_allclose(rows.weights, found._rows.weights, atol=1)


def test_a_design_takes_the_effects_of_sets_off_what_was_recorded():
    cohort = drawn(2, 90, 3, n_classes=2)
    plain = weighed(cohort, np.random.default_rng(3))
    added = np.array([[3.0, 1.5, 0.0, 3.0]] * 2)
    clustered = replace(plain, joint_effects=added)
    found = [permutations_of(one, 2, seed=SEED) for one in (plain, clustered)]
    assert isinstance(found[1], permuted_scores.DesignCorrected)
    scores = [permutations.scores(0, 4, Work()) for permutations in found]
    effects = scores[0][0] / scores[1][0]
    np.testing.assert_allclose(effects[:3], [4.0, 2.5, 1.0])
    more = np.array(cohort.cardinalities) - 1.0
    by_size = (more * [1.0, 0.5, 0.0] + 1.0, more + 1.0)
    expected = [
        1.0 + 3.0 * np.divide(*(each[[a, b]].prod() - 1.0 for each in by_size))
        for a, b in combinations(range(3), 2)
    ]
    np.testing.assert_allclose(effects[3:], expected)
    np.testing.assert_allclose(scores[1][1:], scores[0][1:])


@pytest.mark.parametrize("held", [(), (1,), (0, 2)])
def test_sets_of_features_that_are_constant_in_clusters_all_have_one_effect(held):
    subsets = drawn_sets(4, held)
    joint, freedom = np.full((2, 5), 2.5), np.array([1.0, 2.0, 1.0, 4.0])
    for effects in joint_effects(joint, freedom, subsets, held):
        np.testing.assert_allclose(effects, 3.5)
    at_least = np.concatenate(joint_effects(-joint, freedom, subsets, held))
    assert (at_least > 0).all()


def drawn_sets(n_features, held):
    """All sets of one or two features beside those that are held."""
    free = [feature for feature in range(n_features) if feature not in held]
    return tuple(
        np.array([sorted((*held, *own)) for own in combinations(free, size)]) for size in (1, 2)
    )


def weighted_table(cohort, members):
    """The weights of cells and classes."""
    cells = np.unique(cohort.codes[members], axis=1, return_inverse=True)[1].reshape(-1)
    table = np.zeros((cells.max() + 1, cohort.n_classes))
    np.add.at(table, (cells, cohort.target), cohort.counts)
    return table


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 400), st.integers(2, 4), st.integers(2, 6))
def test_scores_are_those_of_weighted_shares(seed, n_rows, cardinality, n_classes):
    cohort = drawn(seed, n_rows, 4, cardinality, n_classes)
    cohort = weighed(cohort, np.random.default_rng(seed))
    for size, scores in zip((1, 2, 3), level_mutual_info(cohort, 1, 3), strict=True):
        expected = [plug_in(weighted_table(cohort, list(members))) for members in level(4, size)]
        np.testing.assert_allclose(scores, expected, atol=1e-11)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(5, 300), st.booleans())
def test_weights_that_are_all_the_same_give_the_scores_of_rows(seed, n_rows, gaps):
    rng = np.random.default_rng(seed)
    codes, target = rng.integers(3, size=(4, n_rows)), rng.integers(3, size=n_rows)
    cohort = cohort_of(codes, target, rng.integers(1, 5, size=n_rows))
    if gaps:
        codes[rng.random(codes.shape) < 0.1] = -1
    # Not all the same, by so little that it makes no difference, so that weights are counted.
    masses = cohort.weights * 10**10 + np.arange(n_rows)
    heaviest, size = masses / cohort.weights, float(cohort.size)
    same = replace(cohort, masses=masses, heaviest=heaviest, effective=size)
    for above_chance in (False, True):
        found = level_mutual_info(same, 1, 4, above_chance=above_chance)
        expected = level_mutual_info(cohort, 1, 4, above_chance=above_chance)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(30, 600))
def test_the_null_expectation_is_that_of_rows_of_equal_weight(seed, n_rows):
    cohort = weighed(drawn(seed, n_rows, 4), np.random.default_rng(seed))
    whole = max(round(cohort.effective), 1)
    shift = 1.0 - whole / cohort.size
    by_size = level_mutual_info(cohort, 1, 2, above_chance=True)
    for size, scores in zip((1, 2), by_size, strict=True):
        for members, score in zip(level(4, size), scores, strict=True):
            table = weighted_table(cohort, list(members)) * (whole / cohort.effective)
            by_class = np.diff(np.rint(np.cumsum(table.sum(axis=0))), prepend=0.0)
            cells = np.clip(table.sum(axis=1) + shift, 1.0, whole)
            low = np.floor(cells)
            ends = np.stack([low, np.minimum(low + 1, whole)])
            h = np.log(ends) - expected_n_log_n(ends, by_class) / ends
            mean = h[0] + (cells - low) * (h[1] - h[0])
            totals = table.sum(axis=1)
            expected = n_log_n(totals) - totals * mean
            assert score == pytest.approx((n_log_n(table).sum() - expected.sum()) / whole, abs=1e-9)


def test_a_cell_with_a_single_row_says_nothing_whatever_it_weighs():
    cohort = cohort_of(np.arange(6)[None], np.arange(6) % 2)
    masses = np.array([5, 7, 6, 5, 8, 6])
    kish = float(masses.sum() ** 2 / (masses**2.0).sum())
    one_each = replace(cohort, masses=masses, heaviest=masses / cohort.weights, effective=kish)
    found = joint_mutual_info(one_each, np.array([[0]]), above_chance=True)[0]
    assert found == pytest.approx(0.0, abs=0.12)


@pytest.fixture(scope="module")
def columns():
    """Three features, the second partly a copy of the first, and a target of the first."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 400))
    x[1] += x[0]
    table = np.vstack([x, 0.3 * x[0] + rng.standard_normal(400)])
    return table - table.mean(axis=1, keepdims=True)


def permuted_r2(table, subsets, held=()):
    """R² of permutations of the target, or beyond held features of what these leave of it."""
    rng = np.random.default_rng(1)
    x = table[list(held)].T
    fitted = x @ np.linalg.lstsq(x, table[-1], rcond=None)[0] if held else 0.0
    found = []
    for _ in range(1500):
        y = fitted + rng.permutation(table[-1] - fitted)
        permuted = np.vstack([table[:-1], y - y.mean()])
        products = permuted @ permuted.T
        below = squared_correlation(products, np.array([held])) if held else 0.0
        found.append(squared_correlation(products, subsets) - below)
    return np.array(found)


def permutations_of_products(columns, largest, draw, held=()):
    rng = np.random.default_rng(3)
    products = columns @ columns.T
    permuted = _drawn_products(products, 400, rng)
    if not draw:
        permuted = _permuted_products(columns, np.ones(400), rng)
    about = ("all",), ("a", "b", "c"), "y", np.array([400])
    sums = ProductSums(*about, products[None], np.zeros((1, 3), dtype=bool), permuted[None])
    return permuted_scores.CorrelationPermutations(sums, 0, largest, held=held)


@pytest.mark.parametrize("draw", [False, True])
def test_drawn_correlations_vary_as_those_of_permuted_rows(columns, draw):
    products = columns @ columns.T
    found = permutations_of_products(columns, 2, draw)
    recorded = [squared_correlation(products, subsets) for subsets in found.subsets]
    assert np.allclose(found.scores(0, 1, Work())[0], np.concatenate(recorded))
    drawn = found.scores(1, 1 + PERMUTED, Work(2))
    permuted = np.hstack([permuted_r2(columns, subsets) for subsets in found.subsets])
    for q in (0.5, 0.95):
        expected = np.quantile(permuted, q, axis=0)
        assert np.quantile(drawn, q, axis=0) == pytest.approx(expected, rel=0.25)
    found = permutations_of_products(columns, 1, draw, held=(0,))
    assert [subsets.tolist() for subsets in found.subsets] == [[[0, 1], [0, 2]]]
    drawn = found.scores(1, 1 + PERMUTED, Work())
    assert (drawn > -1e-9).all()
    expected = np.quantile(permuted_r2(columns, found.subsets[0], (0,)), 0.95, axis=0)
    assert np.quantile(drawn, 0.95, axis=0) == pytest.approx(expected, rel=0.25)


def test_permuted_products_are_those_of_permuted_rows(columns):
    for weights in (np.full(400, 3.0), np.where(columns[-1] > 0.5, 6.0, 1.0)):
        found = _permuted_products(columns, weights, np.random.default_rng(0))
        order = np.random.default_rng(0).permuted(np.tile(np.arange(400), (PERMUTED, 1)), axis=1)
        parts = np.searchsorted(np.quantile(columns[-1], FIFTHS), columns[-1])
        means = mean_weights(parts, weights, 5)[parts]
        for number in (0, 1, 17):
            moved = order[number - 1] if number else np.arange(400)
            now = weights / means * means[moved]
            x, y = columns[:-1], columns[-1, moved]
            x, y = x - np.average(x, axis=1, weights=now)[:, None], y - np.average(y, weights=now)
            assert found[number] == pytest.approx(np.append(x * now @ y, y**2 @ now))


def test_the_same_number_is_the_same_permutation_whatever_is_asked_with_it(columns):
    for found in (
        permutations_of(drawn(2, 50, 4), 2, seed=SEED),
        permutations_of_products(columns, 2, draw=False),
    ):
        assert (found.scores(0, 60, Work(3))[37:51] == found.scores(37, 51, Work(1))).all()
