from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from misfeat.information import dealing, joint_mutual_info, level_mutual_info
from misfeat.information.kernels.dealing import shuffled
from misfeat.runtime.threads import Work
from tests.information.generated import cohort_of, with_gaps

SEED = np.random.SeedSequence(7)


def drawn(seed, n_rows, n_features):
    rng = np.random.default_rng(seed)
    return cohort_of(rng.integers(3, size=(n_features, n_rows)), rng.integers(3, size=n_rows))


@st.composite
def questions(draw):
    """A cohort, the features that are held, and strata or none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features, n_rows = draw(st.integers(2, 6)), draw(st.integers(2, 80))
    cohort = cohort_of(
        rng.integers(draw(st.integers(1, 6)), size=(n_features, n_rows)),
        rng.integers(draw(st.integers(2, 7)), size=n_rows),
        rng.integers(1, 4, size=n_rows),
    )
    held = tuple(draw(st.sets(st.integers(0, n_features - 1), max_size=n_features - 1)))
    strata = rng.integers(3, size=n_rows) if draw(st.booleans()) else None
    return cohort, held, strata


@settings(max_examples=30)
@given(questions())
def test_deals_side_by_side_are_those_one_by_one(question):
    cohort, held, strata = question
    asked = {"held": held, "strata": strata, "seed": SEED}
    found = dealing.deals_of(cohort, 2, **asked)
    other = dealing.OneByOne(found.asked)
    beside = dealing.SideBySide(found.asked)
    assert np.allclose(beside.scores(0, 9, Work(2)), other.scores(0, 9, Work(1)), atol=1e-10)


@settings(max_examples=20)
@given(questions())
def test_the_first_deal_is_the_target_as_it_was_recorded(question):
    cohort, held, strata = question
    deals = dealing.deals_of(cohort, 2, held=held, strata=strata, seed=SEED)
    alone = joint_mutual_info(cohort, np.array([sorted(held)], dtype=np.int64))[0] if held else 0.0
    expected = np.concatenate([joint_mutual_info(cohort, s) for s in deals.subsets]) - alone
    assert np.allclose(deals.scores(0, 1, Work())[0], expected, atol=1e-10)


@settings(max_examples=20)
@given(questions())
def test_sets_are_all_that_hold_what_is_held(question):
    cohort, held, strata = question
    deals = dealing.deals_of(cohort, 2, held=held, strata=strata, seed=SEED)
    free = [f for f in range(len(cohort.codes)) if f not in held]
    expected = {
        tuple(sorted((*held, *chosen))) for size in (1, 2) for chosen in combinations(free, size)
    }
    found = [tuple(members) for subsets in deals.subsets for members in subsets.tolist()]
    assert len(found) == len(expected)
    assert set(found) == expected


def test_the_mean_over_deals_is_what_chance_gives():
    cohort = drawn(1, 60, 4)
    deals = dealing.deals_of(cohort, 2, seed=SEED)
    scores = deals.scores(1, 2001, Work())
    chance = np.concatenate(
        [
            plain - above
            for plain, above in zip(
                level_mutual_info(cohort, 1, 2),
                level_mutual_info(cohort, 1, 2, above_chance=True),
                strict=True,
            )
        ]
    )
    deviation = scores.std(axis=0) / np.sqrt(len(scores))
    assert (np.abs(scores.mean(axis=0) - chance) < 5 * deviation).all()


def test_the_same_number_is_the_same_deal_whatever_is_asked_with_it():
    cohort = drawn(2, 50, 4)
    deals = dealing.deals_of(cohort, 2, seed=SEED)
    whole = deals.scores(0, 100, Work(3))
    assert (whole[37:61] == deals.scores(37, 61, Work(1))).all()


def test_what_held_features_tell_stays():
    cohort = drawn(3, 80, 3)
    deals = dealing.deals_of(cohort, 1, held=(0,), seed=SEED)
    dealt = shuffled_rows(deals, 5)
    again = cohort_of(*dealt)
    only = np.array([[0]])
    assert joint_mutual_info(again, only)[0] == pytest.approx(joint_mutual_info(cohort, only)[0])


def shuffled_rows(deals, number):
    """Codes and classes of one deal, row by row."""
    rows = dealing.OneByOne(deals.asked)
    classes = shuffled(rows._rows.target, rows._starts, deals.asked.seeds[number])
    return rows._rows.codes, classes, np.ones(len(classes), dtype=np.int64)


def test_every_order_is_as_likely():
    starts = np.array([0, 4])
    seeds = np.random.SeedSequence(1).generate_state(12_000, np.uint64)
    orders = [tuple(shuffled(np.arange(4, dtype=np.uint16), starts, seed)) for seed in seeds]
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 24
    assert chisquare(counts).pvalue > 1e-4


def test_classes_stay_within_their_stratum():
    classes = np.array([0, 1, 0, 2, 2, 3, 3], dtype=np.uint16)
    dealt = shuffled(classes, np.array([0, 3, 7]), np.uint64(9))
    assert sorted(dealt[:3]) == [0, 0, 1]
    assert sorted(dealt[3:]) == [2, 2, 3, 3]


def test_rows_with_gaps_and_large_tables_are_scored_one_by_one():
    gaps = with_gaps()
    deals = dealing.deals_of(gaps, 2, seed=SEED)
    assert isinstance(deals, dealing.OneByOne)
    expected = np.concatenate(level_mutual_info(gaps, 1, 2))
    assert np.allclose(deals.scores(0, 1, Work())[0], expected)
    rng = np.random.default_rng(0)
    wide = cohort_of(rng.integers(200, size=(4, 60)), rng.integers(2, size=60), np.ones(60, int))
    assert isinstance(dealing.deals_of(wide, 3, seed=SEED), dealing.OneByOne)


def test_rows_that_are_dealt_one_by_one_lie_as_recorded_ones_do():
    """Another layout would be another kernel, which is compiled anew."""
    deals = dealing.deals_of(with_gaps(), 2, seed=SEED)
    assert deals._rows.codes.flags.c_contiguous


def test_many_rows_are_counted_in_wider_lanes():
    rng = np.random.default_rng(5)
    cohort = cohort_of(
        rng.integers(2, size=(3, 40)), rng.integers(2, size=40), rng.integers(1000, 4000, size=40)
    )
    deals = dealing.deals_of(cohort, 2, seed=SEED)
    assert cohort.size > 2**16
    expected = np.concatenate(level_mutual_info(cohort, 1, 2))
    assert np.allclose(deals.scores(0, 1, Work())[0], expected, atol=1e-9)
    assert (deals.scores(1, 20, Work()) < expected + 1e-9).all()
