"""Values that rows lack, from rows that are alike: in all features, or in a Markov blanket."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, kstest

from misfeat.cohorts import Cohort, Cohorts
from misfeat.completion import MarkovBlanketCompleter
from misfeat.completion.imputation import KNNCompleter, g_test, imputed_codes, markov_blanket
from misfeat.information import joint_mutual_info
from misfeat.lattice.levels import level
from misfeat.runtime.threads import Work
from tests.completion.coded import cohorts_of, known_of, random_cohorts


def reference(cohorts: Cohorts, k: int, with_target: bool, compared=None) -> np.ndarray:
    """The same by the book, a row and a donor at a time."""
    missing = cohorts.missing
    compared = np.ones_like(missing) if compared is None else compared
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    codes = np.where(missing[cohort_of].T, -1, cohorts.codes)
    completed = codes.copy()
    for row, i in enumerate(cohort_of):
        to_donor = {}
        for donor in np.flatnonzero(cohort_of != i) if missing[i].any() else ():
            shared = compared[i] & ~missing[i] & ~missing[cohort_of[donor]]
            differ = int((codes[shared, row] != codes[shared, donor]).sum())
            n_shared = int(shared.sum())
            if with_target:
                differ += int(cohorts.target_codes[row] != cohorts.target_codes[donor])
                n_shared += 1
            if n_shared:
                to_donor[donor] = Fraction(differ, n_shared)
        for q in np.flatnonzero(missing[i]):
            donors = np.flatnonzero((cohort_of != i) & (codes[q] >= 0))
            distances = {donor: to_donor[donor] for donor in donors if donor in to_donor}
            farthest, reached = None, 0
            for donor in sorted(distances, key=distances.get):
                if reached < k:
                    farthest = distances[donor]
                reached += cohorts.weights[donor]
            voters = [d for d in distances if distances[d] <= farthest] if distances else donors
            votes = np.zeros(max(1, len(cohorts.categories[q])), dtype=int)
            for donor in voters:
                votes[codes[q, donor]] += cohorts.weights[donor]
            completed[q, row] = votes.argmax()
    return completed


def imputed(cohorts: Cohorts, k: int = 3, with_target: bool = True, n_jobs: int = 1) -> np.ndarray:
    return imputed_codes(cohorts, cohorts.missing, k, with_target, Work(n_jobs))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(1, 12),
    with_target=st.booleans(),
    cardinality=st.sampled_from([1, 2, 5]),
    hidden=st.sampled_from([0.2, 0.5, 0.8]),
    gaps=st.sampled_from([0.0, 0.2]),
)
def test_values_equal_those_of_a_search_by_the_book(
    seed, k, with_target, cardinality, hidden, gaps
):
    cohorts = random_cohorts(seed, cardinality=cardinality, hidden=hidden, gaps=gaps)
    assert np.array_equal(imputed(cohorts, k, with_target), reference(cohorts, k, with_target))


@pytest.mark.parametrize(
    ("n_features", "cardinality", "with_target"), [(70, 2, True), (9, 70_000, False)]
)
def test_many_features_and_many_categories_are_compared(n_features, cardinality, with_target):
    cohorts = random_cohorts(7, n_features=n_features, cardinality=cardinality)
    assert np.array_equal(imputed(cohorts, 3, with_target), reference(cohorts, 3, with_target))


@pytest.mark.slow
def test_blocks_longer_than_a_tile_and_several_threads_give_the_same():
    rng = np.random.default_rng(3)
    codes = rng.integers(4, size=(5, 2600)).astype(np.int8)
    missing = np.zeros((2, 5), dtype=bool)
    missing[0, 1:3] = True
    target, weights = rng.integers(2, size=2600), np.ones(2600, dtype=np.int64)
    cohorts = cohorts_of(codes, target, weights, [0, 30, 2600], missing)
    expected = reference(cohorts, 4, True)
    assert np.array_equal(imputed(cohorts, 4, True), expected)
    assert np.array_equal(imputed(cohorts, 4, True, n_jobs=2), expected)


def two_cohorts(values, weights, shared=None) -> Cohorts:
    """One row that lacks feature 1, and donors in another cohort that agree in feature 0."""
    n_donors = len(values)
    return cohorts_of(
        np.array([[0, *(shared or [0] * n_donors)], [-1, *values]]),
        np.zeros(n_donors + 1, dtype=np.int64),
        np.array([1, *weights]),
        [0, 1, n_donors + 1],
        np.array([[False, True], [False, False]]),
    )


def test_neighbours_vote_as_often_as_they_weigh_and_the_smallest_of_equals_wins():
    assert imputed(two_cohorts([0, 1, 1], [1, 1, 1]), k=1)[1, 0] == 1  # all are equally far
    assert imputed(two_cohorts([2, 1, 2, 1], [1, 1, 1, 1]), k=4)[1, 0] == 1
    far_off = [0, 1, 1]
    assert imputed(two_cohorts([2, 1, 1], [5, 9, 9], far_off), k=5)[1, 0] == 2
    assert imputed(two_cohorts([2, 1, 1], [5, 9, 9], far_off), k=6)[1, 0] == 1


@pytest.mark.parametrize("with_target", [True, False])
def test_rows_may_be_compared_in_some_features_only(with_target):
    for seed in (0, 1):
        cohorts = random_cohorts(seed, hidden=0.3)
        compared = np.random.default_rng(seed).random(cohorts.missing.shape) < 0.5
        found = imputed_codes(cohorts, cohorts.missing, 3, with_target, Work(1), compared)
        assert np.array_equal(found, reference(cohorts, 3, with_target, compared))


def test_a_feature_recorded_nowhere_becomes_a_constant_that_tells_nothing():
    cohorts = random_cohorts(12)
    cohorts.missing[:, 2] = True
    cohorts = replace(cohorts, categories=(*cohorts.categories[:2], (), *cohorts.categories[3:]))
    assert (imputed(cohorts)[2] == 0).all()
    guess = KNNCompleter(n_neighbors=3).guess(known_of(cohorts, 1), 1)
    assert guess.by_size[1][:, 2] == pytest.approx(np.zeros(4))


def test_a_lone_cohort_has_no_donors():
    cohorts = random_cohorts(13, n_cohorts=1)
    assert (imputed(cohorts)[cohorts.missing[0]] == 0).all()


def test_guesses_are_the_scores_of_the_imputed_rows():
    cohorts = random_cohorts(14)
    known = known_of(cohorts, 3)
    guess = KNNCompleter(n_neighbors=3).guess(known, 3)
    codes = imputed_codes(cohorts, cohorts.missing, 3, True, Work(1))
    for i, cohort in enumerate(cohorts):
        rows = slice(cohorts.offsets[i], cohorts.offsets[i + 1])
        full = Cohort(
            **{**vars(cohort), "codes": codes[:, rows], "recorded": np.ones(6, dtype=bool)}
        )
        for size in range(1, 4):
            expected = joint_mutual_info(full, level(6, size))
            assert guess.by_size[size][i] == pytest.approx(expected)
    assert not guess.deviation.any()


def test_where_no_row_has_the_recorded_part_the_guess_is_nothing():
    cohorts = cohorts_of(
        np.array([[-1, 0, 0], [-1, 0, 1]]),
        np.zeros(3, dtype=np.int64),
        np.ones(3, dtype=np.int64),
        [0, 1, 3],
        np.array([[False, True], [False, False]]),
    )
    guess = KNNCompleter(n_neighbors=1).guess(known_of(cohorts, 2), 2)
    assert guess.by_size[2][0].tolist() == [0.0]


def table(n_rows=3000):
    """Features 0 and 1 make the target, 2 is noise; 3, a copy of 1, is hidden from one cohort."""
    rng = np.random.default_rng(0)
    first, second, noise = rng.integers(3, size=(3, 2 * n_rows))
    target = (first + second > 2) ^ (rng.random(2 * n_rows) < 0.1)
    missing = np.zeros((2, 4), dtype=bool)
    missing[0, 3] = True
    return cohorts_of(
        np.array([first, second, noise, second]),
        target.astype(np.int64),
        np.ones(2 * n_rows, dtype=np.int64),
        [0, n_rows, 2 * n_rows],
        missing,
    )


def test_the_last_imputation_compares_rows_in_the_blanket_it_leads_to():
    cohorts = table()
    imputed, members = MarkovBlanketCompleter()._imputed_with_blankets(known_of(cohorts, 1))
    codes = imputed_codes(cohorts, cohorts.missing, 5, False, Work(1), members)
    assert np.array_equal(imputed.codes, codes)
    first = next(iter(imputed))
    assert np.flatnonzero(members[0]).tolist() == list(markov_blanket(first.codes, first.target))
    assert not members[1].any()


def test_what_is_outside_the_blanket_adds_nothing():
    cohorts = table()
    guess = MarkovBlanketCompleter().guess(known_of(cohorts, 2), 2)
    imputed, members = MarkovBlanketCompleter()._imputed_with_blankets(known_of(cohorts, 1))
    inside = [f for f in (0, 1, 3) if members[0, f]]
    assert not members[0, 2]
    alone = guess.by_size[1][0]
    assert guess.by_size[2][0, 5] == pytest.approx(alone[3])  # {2, 3}
    pair = np.array([sorted({0, 3} & set(inside))])
    expected = joint_mutual_info(next(iter(imputed)), pair)[0]
    assert guess.by_size[2][0, 3] == pytest.approx(expected)  # {0, 3}


def test_repeats_are_capped():
    cohorts = random_cohorts(1)
    once, _ = MarkovBlanketCompleter(repeats=1)._imputed_with_blankets(known_of(cohorts, 1))
    plain = imputed_codes(cohorts, cohorts.missing, 5, False, Work(1))
    assert np.array_equal(once.codes, plain)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_sum_of_likelihood_ratio_tests_of_all_strata(seed):
    rng = np.random.default_rng(seed)
    x, y, z = (rng.integers(n, size=400) for n in (3, 4, 5))
    weights = rng.integers(1, 4, size=400)
    found = g_test(x, y, z, weights)
    statistic = dof = 0
    for stratum in range(5):
        counts = np.zeros((3, 4))
        inside = z == stratum
        np.add.at(counts, (x[inside], y[inside]), weights[inside])
        test = chi2_contingency(counts, correction=False, lambda_="log-likelihood")
        statistic, dof = statistic + test.statistic, dof + test.dof
    assert found.statistic == pytest.approx(statistic)
    assert found.dof == dof


def test_strata_with_too_few_rows_do_not_count():
    x, y, strata = np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    weights = np.array([10, 10, 9, 10])
    assert g_test(x, y, strata, weights, rows_per_cell=5).dof == 1
    nothing = g_test(x, y, strata, weights, rows_per_cell=6)
    assert (nothing.statistic, nothing.dof, nothing.p_value) == (0.0, 0, 1.0)


def test_p_values_are_uniform_under_conditional_independence():
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(300):
        z = rng.integers(4, size=1000)
        x, y = ((z + rng.integers(3, size=1000)) % 3, (z + rng.integers(2, size=1000)) % 4)
        p_values.append(g_test(x, y, z, rows_per_cell=5).p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01


EFFECT = 2.0
"""How far a parent's value raises the log odds of the value that it favours."""


def random_network(rng, n_variables):
    """Parents of every variable, which come before it: one or two, the first two may have none."""
    return [
        rng.choice(v, size=rng.integers(min(v, 2) if v > 2 else 0, min(v, 2) + 1), replace=False)
        for v in range(n_variables)
    ]


def true_blanket(parents, target):
    """Parents, children and the other parents of the children; and these last ones alone."""
    children = [v for v, own in enumerate(parents) if target in own]
    near = {*parents[target].tolist(), *children}
    of_children = {int(p) for child in children for p in parents[child]} - {target}
    return near | of_children, of_children - near


def drawn(rng, parents, n_rows):
    """Rows of a network whose variables have two or three values, each parent with its effect."""
    cards = rng.integers(2, 4, size=len(parents))
    rows = np.zeros((len(parents), n_rows), dtype=np.int64)
    for v, own in enumerate(parents):
        log_odds = np.tile(rng.normal(0, 0.3, cards[v]), (n_rows, 1))
        for parent in own:
            favoured = rng.permutation(cards[v])[np.arange(cards[parent]) % cards[v]]
            log_odds += EFFECT * np.eye(cards[v])[favoured[rows[parent]]]
        chances = np.exp(log_odds) / np.exp(log_odds).sum(axis=1, keepdims=True)
        rows[v] = (rng.random(n_rows)[:, None] > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    return rows


@pytest.mark.parametrize("seed", range(6))
def test_the_blanket_of_a_known_network_is_found_exactly(seed):
    rng = np.random.default_rng(seed)
    parents = random_network(rng, 12)
    rows = drawn(rng, parents, 50_000)
    blankets = [true_blanket(parents, v) for v in range(12)]
    # Spouses tell nothing about a target by themselves; a blanket of seven variables is as large
    # as so many rows can tell.
    able = [v for v, (blanket, spouses) in enumerate(blankets) if spouses and len(blanket) <= 7]
    target = max(able, key=lambda v: len(blankets[v][1]))
    blanket, _ = blankets[target]
    others = np.array([v for v in range(12) if v != target])
    assert set(others[list(markov_blanket(rows[others], rows[target]))]) == blanket


def test_weighted_rows_give_the_same_as_rows_one_by_one():
    rng = np.random.default_rng(1)
    rows = drawn(rng, random_network(rng, 8), 5000)
    distinct, weights = np.unique(rows, axis=1, return_counts=True)
    assert len(weights) < 4000
    assert markov_blanket(rows[1:], rows[0]) == markov_blanket(distinct[1:], distinct[0], weights)


def test_rows_with_gaps_are_left_out_of_the_tests_that_need_them():
    rng = np.random.default_rng(2)
    cause, unrelated = rng.integers(2, size=(2, 3000))
    target = cause ^ (rng.random(3000) < 0.1)
    codes = np.array([cause, unrelated, cause])
    codes[:2, rng.random(3000) < 0.3] = -1
    codes[2, 20:] = -1
    assert markov_blanket(codes, target) == (0,)


def test_of_two_copies_one_is_enough():
    rng = np.random.default_rng(3)
    cause = rng.integers(3, size=2000)
    target = (cause + (rng.random(2000) < 0.3)) % 3
    assert len(markov_blanket(np.array([cause, cause]), target)) == 1


def test_with_few_rows_nothing_is_found_and_without_features_there_is_nothing():
    x = np.array([0, 1] * 5)
    assert markov_blanket(x[None], x) == ()
    assert markov_blanket(x[None], x, rows_per_cell=1) == (0,)
    assert markov_blanket(np.empty((0, 10), dtype=np.int64), x) == ()
