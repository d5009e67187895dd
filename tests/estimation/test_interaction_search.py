import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.estimation.covariance_sources import CodedRowSource
from misfeat.estimation.interaction_search import find_terms
from tests.estimation.generated import with_missing


def table_of(target_of, n_rows=1200, n_cohorts=3, missing=None, seed=0, n_features=6):
    """Six independent features of three values, and a target that some of them explain."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=(n_features, n_rows)).astype(np.int32)
    target = (rng.random(n_rows) < target_of(codes)).astype(np.int64)
    missing = np.zeros((n_cohorts, n_features), dtype=bool) if missing is None else missing
    return CodedRowSource(with_missing(codes, target, missing))


def together(codes):
    """The first two features explain only together."""
    return np.where((codes[0] + codes[1]) % 3 == 0, 0.8, 0.35)


def three_together(codes):
    return np.where((codes[1] + codes[2] + codes[4]) % 3 == 0, 0.85, 0.3)


def found_in(table, hidden=None):
    moments = table.moments()
    return find_terms(table, moments if hidden is None else moments.hidden(hidden))


def test_what_explains_only_together_is_found_and_what_explains_side_by_side_is_not():
    for target_of, features in ((together, (0, 1)), (three_together, (1, 2, 4))):
        assert [t.features for t in found_in(table_of(target_of)).terms] == [features]
    for seed in range(8):
        table = table_of(lambda codes: 0.1 + 0.2 * codes[0] + 0.15 * codes[3], seed=seed)
        assert not found_in(table).terms


@pytest.mark.parametrize("share", [0.5, 0.05])
def test_nothing_is_found_where_nothing_is_explained(share):
    found = [
        found_in(table_of(lambda codes: np.full(codes.shape[1], share), 300, seed=seed)).terms
        for seed in range(20)
    ]
    assert sum(map(len, found)) <= 1


def test_subgroups_that_lack_a_feature_have_no_say():
    missing = np.zeros((3, 6), dtype=bool)
    missing[1, 0] = True
    table = table_of(together, missing=missing)
    moments = found_in(table)
    assert [t.features for t in moments.terms] == [(0, 1)]
    (column,) = moments.columns[-1]
    assert moments.observed[:, column].tolist() == [True, False, True]
    missing[:, 0] = True
    assert not found_in(table_of(together), missing).terms  # hidden features are not looked at


def test_an_interaction_explains_what_it_does_in_the_population():
    table = table_of(together, n_rows=60_000, n_cohorts=1)
    moments = found_in(table)
    (column,) = moments.columns[-1]
    own = moments.own[0]
    explained = own[column, -1] ** 2 / (own[column, column] * own[-1, -1])
    p = np.array([0.8, 0.35, 0.35])
    assert explained == pytest.approx(p.var() / (p.mean() * (1 - p.mean())), rel=0.05)


def test_chance_is_not_taken_for_an_effect():
    """Effects are fitted to the rows, and what that explains by itself is taken off."""
    explained = []
    for seed in range(30):
        table = table_of(together, n_rows=400, n_cohorts=1, seed=seed)
        moments = found_in(table)
        columns = [c[0] for t, c in zip(moments.terms, moments.columns[6:], strict=True)]
        own = moments.own[0]
        explained += [own[c, -1] ** 2 / (own[c, c] * own[-1, -1]) for c in columns[:1]]
    p = np.array([0.8, 0.35, 0.35])
    assert np.mean(explained) == pytest.approx(p.var() / (p.mean() * (1 - p.mean())), rel=0.15)


def test_flags_and_several_classes_give_scores_near_those_of_the_rows(rng):
    """Two flags have one interaction, whatever number of classes; and not where one is constant."""
    n_rows = 2_400
    group, y = np.repeat(["a", "b"], n_rows // 2), rng.integers(0, 8, n_rows)
    y[(group == "b") & (y > 4)] = 0  # classes that one subgroup lacks
    lit = np.array([[1, 1, 0, 1, 0, 1, 1, 0], [0, 1, 1, 0, 1, 1, 0, 1], [1, 0, 1, 1, 0, 0, 1, 1]])
    table = {f"f{i}": bits[y] ^ (rng.random(n_rows) < 0.1) for i, bits in enumerate(lit)}
    table["f3"] = np.where(group == "b", 0, table["f0"] ^ table["f1"])
    found = SubgroupSelector("g", size=2).fit({**table, "g": group, "y": y}, "y").scores()
    assert (found["score"] - found["observed"]).abs().max() < 0.06
    assert (found["low"] <= found["score"]).all()
    assert (found["score"] <= found["high"]).all()
