"""Rows with weights: shares, what chance gives, and classes dealt out over rows as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.cohorts.weights import squares_of
from misfeat.information import dealing, entropies, joint_mutual_info, level_mutual_info
from misfeat.information.chance import chance_of_counts, chance_of_totals, n_log_n
from misfeat.information.dealing import OfDesign, design_effect
from misfeat.lattice.levels import level
from misfeat.runtime.threads import Work
from tests.information.generated import cohort_of
from tests.information.test_dealing import questions as unweighted

SEED = np.random.SeedSequence(7)


def weighed(cohort, rng, effect=1.0):
    """The same rows with weights, unequal ones within collapsed rows, too."""
    masses = cohort.weights * rng.integers(1, 10**6, size=len(cohort.weights))
    heaviest = masses / cohort.weights**0.5
    kish = masses.sum() ** 2 / squares_of(cohort.weights, masses, heaviest).sum()
    return replace(cohort, masses=masses, heaviest=heaviest, effective=float(kish / effect))


@st.composite
def questions(draw):
    """A weighted cohort, the features that are held, and strata or none."""
    cohort, held, strata = draw(unweighted())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return weighed(cohort, rng), held, strata


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(questions())
def test_deals_side_by_side_are_those_one_by_one(question):
    cohort, held, strata = question
    found = dealing.deals_of(cohort, 2, held=held, strata=strata, seed=SEED)
    asked = found.asked
    one_by_one = dealing.OneByOne(asked).scores(0, 9, Work(1))
    assert np.allclose(dealing.SideBySide(asked).scores(0, 9, Work(2)), one_by_one, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(questions())
def test_the_first_deal_is_scored_by_the_weights(question):
    cohort, held, strata = question
    deals = dealing.deals_of(cohort, 2, held=held, strata=strata, seed=SEED)
    alone = joint_mutual_info(cohort, np.array([sorted(held)], dtype=np.int64))[0] if held else 0.0
    expected = np.concatenate([joint_mutual_info(cohort, s) for s in deals.subsets]) - alone
    assert np.allclose(deals.scores(0, 1, Work())[0], expected, atol=1e-6)


def test_cells_weigh_the_same_in_every_deal():
    rng = np.random.default_rng(1)
    cohort = weighed(cohort_of(rng.integers(3, size=(3, 90)), rng.integers(2, size=90)), rng)
    deals = dealing.deals_of(cohort, 1, seed=SEED)
    codes, weights = deals._rows.codes[0], np.bincount(deals._rows.patterns, deals._rows.weights)
    by_value = np.bincount(codes, weights=weights)
    expected = np.bincount(cohort.codes[0], weights=cohort.masses)
    np.testing.assert_allclose(by_value / by_value.sum(), expected / expected.sum(), rtol=1e-6)


def test_a_design_takes_its_effect_off_what_was_recorded():
    rng = np.random.default_rng(2)
    cohort = cohort_of(rng.integers(3, size=(3, 90)), rng.integers(2, size=90))
    plain, clustered = (weighed(cohort, np.random.default_rng(3), effect) for effect in (1.0, 2.0))
    assert design_effect(plain) == 1.0
    assert design_effect(clustered) == pytest.approx(2.0)
    found = [dealing.deals_of(one, 2, seed=SEED) for one in (plain, clustered)]
    assert isinstance(found[1], OfDesign)
    scores = [deals.scores(0, 4, Work()) for deals in found]
    np.testing.assert_allclose(scores[1][0], scores[0][0] / 2.0)
    np.testing.assert_allclose(scores[1][1:], scores[0][1:])


def plug_in(cohort, members):
    """I(S; Y) of weighted shares, as it is defined."""
    cells = np.unique(cohort.codes[members], axis=1, return_inverse=True)[1].reshape(-1)
    table = np.zeros((cells.max() + 1, cohort.n_classes))
    np.add.at(table, (cells, cohort.target), cohort.counts)
    shares = table / table.sum()
    outer = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    there = shares > 0
    return float((shares[there] * np.log(shares[there] / outer[there])).sum()), table


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 400), st.integers(2, 4), st.integers(2, 6))
def test_scores_are_those_of_weighted_shares(seed, n_rows, cardinality, n_classes):
    rng = np.random.default_rng(seed)
    codes, target = (
        rng.integers(cardinality, size=(4, n_rows)),
        rng.integers(n_classes, size=n_rows),
    )
    cohort = weighed(cohort_of(codes, target), rng)
    for size, scores in zip((1, 2, 3), level_mutual_info(cohort, 1, 3), strict=True):
        expected = [plug_in(cohort, list(members))[0] for members in level(4, size)]
        np.testing.assert_allclose(scores, expected, atol=1e-11)
    assert entropies(cohort, level(4, 2)).joint.max() <= np.log(max(n_rows, 1)) + 1e-9


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
    same = replace(
        cohort, masses=masses, heaviest=masses / cohort.weights, effective=float(cohort.size)
    )
    for above_chance in (False, True):
        found = level_mutual_info(same, 1, 4, above_chance=above_chance)
        expected = level_mutual_info(cohort, 1, 4, above_chance=above_chance)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(30, 600))
def test_chance_is_taken_off_as_of_rows_of_equal_weight(seed, n_rows):
    rng = np.random.default_rng(seed)
    codes, target = rng.integers(3, size=(4, n_rows)), rng.integers(3, size=n_rows)
    cohort = weighed(cohort_of(codes, target), rng)
    whole = max(round(cohort.effective), 1)
    shift = 1.0 - whole / cohort.size
    for size, scores in zip(
        (1, 2), level_mutual_info(cohort, 1, 2, above_chance=True), strict=True
    ):
        for members, score in zip(level(4, size), scores, strict=True):
            table = plug_in(cohort, list(members))[1] * (whole / cohort.effective)
            by_class = np.diff(np.rint(np.cumsum(table.sum(axis=0))), prepend=0.0)
            cells = np.clip(table.sum(axis=1) + shift, 1.0, whole)
            low = np.floor(cells)
            ends = np.stack([low, np.minimum(low + 1, whole)])
            h = np.log(ends) - chance_of_totals(ends, by_class) / ends
            mean = h[0] + (cells - low) * (h[1] - h[0])
            totals = table.sum(axis=1)
            chance = n_log_n(totals) - totals * mean
            assert score == pytest.approx((n_log_n(table).sum() - chance.sum()) / whole, abs=1e-9)


def test_a_cell_with_a_single_row_says_nothing_whatever_it_weighs():
    cohort = cohort_of(np.arange(6)[None], np.arange(6) % 2)
    masses = np.array([5, 7, 6, 5, 8, 6])
    kish = masses.sum() ** 2 / (masses**2.0).sum()
    one_each = replace(
        cohort, masses=masses, heaviest=masses / cohort.weights, effective=float(kish)
    )
    found = joint_mutual_info(one_each, np.array([[0]]), above_chance=True)[0]
    assert found == pytest.approx(0.0, abs=0.12)


@settings(max_examples=50)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=5).filter(lambda n: sum(n) > 1))
def test_whole_counts_have_the_chance_of_rows(by_class):
    totals = np.arange(sum(by_class) + 1)
    expected = chance_of_totals(totals, by_class)
    np.testing.assert_allclose(chance_of_counts(totals, by_class), expected)
    near = chance_of_counts(totals + 1e-9, by_class)[:-1]
    np.testing.assert_allclose(near, expected[:-1], atol=1e-6)
