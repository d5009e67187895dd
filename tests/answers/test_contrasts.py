from functools import cache
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.answers.set_contrasts import Contrasts, Estimated
from misfeat.cohorts import build_cohorts
from misfeat.completion.completer_data import CompletedScores
from misfeat.lattice.levels import level, rank

N_FEATURES = 4


def scored_from(by_size):
    """What gives the scores of sets of one size, from those of all sets by size."""
    return lambda subsets: by_size[subsets.shape[1]].of_sets(rank(subsets))


@cache
def scores_of(seed, reach=0.1, n_cohorts=1):
    """Scores with intervals of all sets of every size, by size."""
    rng = np.random.default_rng(seed)
    found = {}
    for size in range(1, N_FEATURES + 1):
        shape = (n_cohorts, comb(N_FEATURES, size))
        score = rng.random(shape) + size
        low, high = score - reach * rng.random(shape), score + reach * rng.random(shape)
        flags = np.zeros(shape, dtype=bool), np.full(shape, 4, dtype=np.int8)
        found[size] = CompletedScores(level(N_FEATURES, size), score, low, high, *flags)
    return found


@cache
def rows_of(seed, n_rows=60, lacking=()):
    """Rows of two subgroups; the first lacks some features."""
    rng = np.random.default_rng(seed)
    table = {f"f{i}": rng.integers(0, 3, 2 * n_rows).astype(object) for i in range(N_FEATURES)}
    for feature in lacking:
        table[f"f{feature}"][:n_rows] = None
    table |= {"g": ["a"] * n_rows + ["b"] * n_rows, "y": rng.integers(0, 2, 2 * n_rows)}
    return build_cohorts(table, "y", groups="g")


def contrasts_of(seed=0, confidence=0.9, lacking=(), rows=True, **how):
    cohorts = rows_of(seed, lacking=lacking)
    scores = scores_of(seed, n_cohorts=2, **how)
    known = cohorts if rows else None
    return Contrasts(scored_from(scores), cohorts.missing, confidence, known), scores


SETS = st.lists(st.integers(0, N_FEATURES - 1), unique=True).map(lambda one: tuple(sorted(one)))


@given(
    st.integers(0, 9),
    st.lists(SETS, min_size=1, max_size=4, unique=True),
    st.sampled_from([0.9, None]),
    st.booleans(),
    st.sampled_from([(), (1,), (0, 3)]),
    st.data(),
)
def test_intervals_hold_the_sum_and_stay_within_what_bounds_allow(
    seed, sets, confidence, rows, lacking, data
):
    weights = data.draw(
        st.lists(st.floats(-2, 2), min_size=len(sets), max_size=len(sets)), label="weights"
    )
    contrasts, scores = contrasts_of(seed, confidence, lacking, rows)
    (found,) = contrasts.of(0, sets, [weights])
    score, low, high = (
        np.array([getattr(scores[len(s)], x)[0, rank(np.array([s]))[0]] if s else 0 for s in sets])
        for x in ("score", "low", "high")
    )
    assert found.value == pytest.approx(np.dot(weights, score), abs=1e-12)
    assert found.low <= found.value <= found.high
    ends = np.array([np.multiply(weights, low), np.multiply(weights, high)])
    assert found.low >= ends.min(axis=0).sum() - 1e-9
    assert found.high <= ends.max(axis=0).sum() + 1e-9
    if confidence is None:
        assert found.low == pytest.approx(ends.min(axis=0).sum(), abs=1e-9)
        assert found.high == pytest.approx(ends.max(axis=0).sum(), abs=1e-9)


def test_sets_that_err_together_are_compared_more_sharply_than_others():
    rng = np.random.default_rng(3)
    a, y = rng.integers(0, 3, 300), rng.integers(0, 2, 300)
    table = {"f0": a, "f1": a, "f2": rng.integers(0, 3, 300), "f3": rng.integers(0, 3, 300), "y": y}
    cohorts = build_cohorts(table, "y")
    shape = (1, N_FEATURES)
    same = np.ones(shape)
    scores = CompletedScores(
        level(N_FEATURES, 1), same, same - 0.1, same + 0.1, same < 0, same.astype(np.int8)
    )
    contrasts = Contrasts(scored_from({1: scores}), cohorts.missing, 0.9, cohorts)
    copy, other = contrasts.difference(0, (0,), (1,)), contrasts.difference(0, (0,), (2,))
    assert copy.high == pytest.approx(0.0, abs=1e-7)
    assert 0.1 < other.high < 0.2


def test_rows_of_other_subgroups_tell_how_errors_vary_together():
    """The first subgroup lacks a feature, so that the second one says it; alone, the overlap."""
    lacking, _ = contrasts_of(lacking=(3,))
    complete, _ = contrasts_of()
    without, _ = contrasts_of(lacking=(3,), rows=False)
    one, other = (0, 3), (1, 2)
    found = lacking.difference(0, one, other)
    assert found != without.difference(0, one, other)
    assert found.value == complete.difference(0, one, other).value
    nowhere = Contrasts(
        scored_from(scores_of(0, n_cohorts=2)),
        np.array([[False] * 3 + [True]] * 2),
        0.9,
        rows_of(0),
    )
    assert nowhere.difference(0, one, other) == without.difference(0, one, other)


def test_a_difference_has_the_interval_that_its_scores_leave():
    contrasts, scores = contrasts_of()
    (found,) = contrasts.of(1, [(0, 2)], [[1.0]])
    one = scores[2]
    assert found == pytest.approx([x[1, 1] for x in (one.score, one.low, one.high)])
    contrasts, scores = contrasts_of(rows=False)
    shared = contrasts.difference(0, (0, 1), (0, 2))
    b1 = scores[2].score[0, 0] - scores[2].low[0, 0]
    b2 = scores[2].high[0, 1] - scores[2].score[0, 1]
    reach = np.sqrt(b1**2 + b2**2 - 2 * 0.8 * 0.5 * b1 * b2)
    assert shared.low == pytest.approx(shared.value - reach)
    contrasts, _ = contrasts_of(reach=10.0)
    (free,) = contrasts.of(0, [(0, 1), (0,)], [[1.0, -1.0]])
    (least,) = contrasts.of(0, [(0, 1), (0,)], [[1.0, -1.0]], least=0.0)
    assert free.low < 0 <= least.low <= least.value


@pytest.mark.parametrize("confidence", [0.9, None])
def test_a_set_differs_from_itself_by_nothing(confidence):
    contrasts, _ = contrasts_of(confidence=confidence, lacking=(1,))
    assert contrasts.difference(0, [1, 2], [1, 2]) == Estimated(0.0, 0.0, 0.0)
