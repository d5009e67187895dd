import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from misfeat.estimation.covariance_scores import (
    CorrelationScale,
    InformationScale,
    additive_scores,
    set_columns,
    whitened,
)
from misfeat.estimation.covariance_sources import CodedRowSource
from misfeat.estimation.moments import Moments, Term
from misfeat.lattice.levels import level
from tests.completion.coded import drawn_cohorts


def moments_of(values, n_targets=1, terms=()):
    n_columns = values.shape[1] - n_targets
    columns = tuple(np.array([f]) for f in range(n_columns))
    recorded = np.ones((1, n_columns - sum(len(t.effects[0]) for t in terms)), dtype=bool)
    own = np.cov(values.T, bias=True)[None]
    return Moments(own, np.array([float(len(values))]), recorded, columns, n_targets, terms)


def test_scores_are_those_of_linear_regression(rng):
    x = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    y = x @ [0.5, 0.0, -0.3, 0.1] + rng.normal(size=200)
    moments = moments_of(np.c_[x, y])
    subsets = level(4, 2)
    found = additive_scores(whitened(moments.own[0], 1), set_columns(moments, subsets), 2, 1e-12)
    r2 = [LinearRegression().fit(x[:, s], y).score(x[:, s], y) for s in subsets]
    assert found.score == pytest.approx(-0.5 * np.log1p(-np.array(r2)))
    assert found.freedom == pytest.approx(np.ones((len(subsets), 2)))


def test_several_target_columns_are_explained_as_canonical_correlations_say():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(300, 6)) @ rng.normal(size=(6, 6))
    moments = moments_of(values, n_targets=3)
    sets = set_columns(moments, np.array([[0, 1, 2]]))
    found = additive_scores(whitened(moments.own[0], 3), sets, 3, 1e-12)
    cov = moments.own[0]
    blocks = (np.s_[:3], np.s_[3:])
    logs = [np.linalg.slogdet(cov[b, b])[1] for b in blocks]
    expected = -0.5 * (np.linalg.slogdet(cov)[1] - sum(logs))
    assert found.score[0] == pytest.approx(expected, rel=1e-6)


def test_a_ridge_leaves_fewer_columns_free():
    moments = CodedRowSource(drawn_cohorts()).moments()
    subsets = level(moments.n_features, 2)
    sets = set_columns(moments, subsets)
    few, many = (
        additive_scores(whitened(moments.own[0], 1), sets, 2, r).freedom for r in (0.05, 1e-9)
    )
    widths = np.array([len(c) for c in moments.columns])
    assert many == pytest.approx(widths[subsets], abs=1e-4)
    assert (few < many).all()


def test_columns_of_a_term_belong_to_sets_that_hold_its_features():
    table = CodedRowSource(drawn_cohorts())
    term = Term((0, 2), np.ones((int(table.cards[0] * table.cards[2]), 1)), np.zeros((1, 1)))
    moments = table.moments((term,))
    subsets = level(moments.n_features, 3)
    held = (set_columns(moments, subsets).columns == moments.columns[-1][0]).any(axis=1)
    assert held.tolist() == [{0, 2} <= set(s) for s in subsets.tolist()]


SHARES = st.lists(st.floats(0.02, 1.0), min_size=2, max_size=6).map(
    lambda weights: np.array(weights) / sum(weights)
)


def entropy(shares):
    return -(shares * np.log(shares)).sum()


@given(SHARES, st.lists(st.floats(-0.1, 15.0), min_size=2, max_size=20))
def test_more_explained_variance_is_more_information_up_to_the_entropy(shares, additive):
    scores = InformationScale(shares).score(np.sort(additive))
    assert (np.diff(scores) >= -1e-9).all()
    assert (scores <= entropy(shares) + 1e-9).all()


@given(SHARES)
def test_weak_features_inform_as_the_gaussian_formula_says(shares):
    additive = np.array([1e-5, 1e-3])
    assert InformationScale(shares).score(additive) == pytest.approx(additive, rel=0.05)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("precision", [1.0, 5.0, 50.0])
def test_the_scale_is_that_of_dirichlet_class_probabilities(shares, precision):
    rng = np.random.default_rng(1)
    shares = np.array(shares)
    drawn = rng.dirichlet(precision * shares, size=400_000)
    pointwise = np.log(np.maximum(drawn, 1e-300) / shares)
    information = (drawn * pointwise).sum(axis=1).mean()
    spread = (drawn * pointwise**2).sum(axis=1).mean() - information**2
    additive = -0.5 * (len(shares) - 1) * np.log1p(-1.0 / (precision + 1.0))
    scale = InformationScale(shares)
    found = scale.score(np.array([additive]))
    assert found[0] == pytest.approx(information, rel=0.02)
    assert scale.row_variance(found)[0] == pytest.approx(spread, rel=0.05)


def test_one_class_has_no_information_and_squared_correlations_come_back():
    scale = InformationScale(np.array([1.0, 0.0]))
    assert not scale.score(np.array([0.3])).any()
    assert not scale.row_variance(np.array([0.3])).any()
    r2 = np.array([0.0, 0.2, 0.9])
    assert CorrelationScale().score(-0.5 * np.log1p(-r2)) == pytest.approx(r2)
