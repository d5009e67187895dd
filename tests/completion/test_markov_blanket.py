"""Markov blankets: what they hold, and what rows lack by rows that are alike in them."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, kstest

from misfeat.completion import MarkovBlanketCompleter
from misfeat.completion.markov_blanket import g_test, markov_blanket
from misfeat.completion.nearest_neighbours import imputed_codes
from misfeat.information import joint_mutual_info
from misfeat.runtime.threads import Work
from tests.completion.coded import cohorts_of, known_of, random_cohorts

EFFECT = 2.0
"""How far a parent's value raises the log odds of the value that it favours."""


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
