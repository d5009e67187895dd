from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from misfeat.estimation.additive import additive_scores, set_columns, whitened
from misfeat.estimation.covariances import CodedTable, Moments, Term
from misfeat.lattice import level
from tests.completion.coded import drawn_cohorts


def moments_of(values, n_targets=1, terms=()):
    n_columns = values.shape[1] - n_targets
    columns = tuple(np.array([f]) for f in range(n_columns))
    recorded = np.ones((1, n_columns - sum(len(t.effects[0]) for t in terms)), dtype=bool)
    own = np.cov(values.T, bias=True)[None]
    return Moments(own, np.array([float(len(values))]), recorded, columns, n_targets, terms)


def test_scores_are_those_of_linear_regression():
    rng = np.random.default_rng(0)
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
    moments = CodedTable.of(drawn_cohorts()).moments()
    subsets = level(moments.n_features, 2)
    sets = set_columns(moments, subsets)
    few, many = (
        additive_scores(whitened(moments.own[0], 1), sets, 2, r).freedom for r in (0.05, 1e-9)
    )
    widths = np.array([len(c) for c in moments.columns])
    assert many == pytest.approx(widths[subsets], abs=1e-4)
    assert (few < many).all()


def test_columns_of_a_term_belong_to_sets_that_hold_its_features():
    table = CodedTable.of(drawn_cohorts())
    term = Term((0, 2), np.ones((int(table.cards[0] * table.cards[2]), 1)), np.zeros((1, 1)))
    moments = table.moments((term,))
    subsets = level(moments.n_features, 3)
    held = (set_columns(moments, subsets).columns == moments.columns[-1][0]).any(axis=1)
    assert held.tolist() == [{0, 2} <= set(s) for s in subsets.tolist()]
