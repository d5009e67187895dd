import numpy as np
import pytest
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, mutual_info_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.common.draws import SOURCES, Source, draw_of, estimated
from benchmarks.common.units import finished
from benchmarks.downstream.experiment import (
    ALL,
    METHODS,
    DownstreamBench,
    chosen_by,
    judged,
    one_choice,
)
from benchmarks.downstream.peers import PEERS, jmi, mrmr, sequential
from misfeat.cohorts.feature_removal import hide_features
from tests.benchmarks.conftest import rows_of

GENERATED = "similarity 100, 4 subgroups"
pytestmark = pytest.mark.usefixtures("small_tables")

QUICK = ("sample", "population", "SelectKBest, pooled", "mRMR, each", ALL)


def expanded(cohort):
    codes = np.repeat(cohort.codes, cohort.weights, axis=1).T
    return codes, np.repeat(cohort.target, cohort.weights)


def test_figures_are_those_of_a_logistic_regression_of_every_row():
    draw = draw_of(SOURCES[GENERATED](1), 100, 1)
    (fit, *_), (test, *_) = draw.rows, draw.left
    found = judged(fit, test, (0, 2))
    columns = [
        np.hstack([codes[:, [f]] == np.arange(3) for f in (0, 2)]).astype(float)
        for codes in (expanded(fit)[0], expanded(test)[0])
    ]
    model = LogisticRegression(max_iter=1000).fit(columns[0], expanded(fit)[1])
    said, y = model.predict_proba(columns[1])[:, 1], expanded(test)[1]
    assert found["auc"] == pytest.approx(roc_auc_score(y, said), abs=1e-3)
    assert found["log_loss"] == pytest.approx(log_loss(y, said), abs=1e-3)


def test_ours_are_the_best_sets_and_peers_choose_for_all_or_for_each():
    rows = draw_of(SOURCES[GENERATED](1), 100, 1).rows
    found = estimated("population", rows, 2)
    best = [tuple(found.subsets[row.argmax()]) for row in found.score]
    assert chosen_by("population", rows, (2,), 1)[2] == best
    pooled = chosen_by("SelectKBest, pooled", rows, (2,), 1)[2]
    assert len(set(pooled)) == 1
    X, y = (np.concatenate(parts) for parts in zip(*map(expanded, rows), strict=True))
    assert pooled[0] == PEERS["SelectKBest"](X, y, [2])[2]
    each = chosen_by("SelectKBest, each", rows, (2,), 1)[2]
    assert each == [PEERS["SelectKBest"](*expanded(cohort), [2])[2] for cohort in rows]
    assert chosen_by(ALL, rows, (2,), 1)[2] == [tuple(range(5))] * 4


def test_features_that_a_subgroup_never_recorded_are_not_chosen(monkeypatch):
    whole = SOURCES[GENERATED](1).cohorts
    mask = np.zeros(whole.missing.shape, dtype=bool)
    mask[1, 0] = True
    monkeypatch.setitem(SOURCES, GENERATED, lambda _: Source(hide_features(whole, mask)))
    for method in ("population", ALL):
        (found,) = one_choice(GENERATED, 100, 1, method, (2,))
        assert 0 < found["auc"] < 1
    assert one_choice(GENERATED, 100, 1, ALL, (4, 5)) == []  # four features are left


@pytest.mark.slow
def test_a_run_writes_every_draw_and_goes_on_where_it_was(tmp_path):
    told = []
    settings = {"tables": (GENERATED,), "rows": (60,), "sizes": (1, 2), "seeds": (1,)}
    lines = DownstreamBench(**settings, methods=QUICK[:3]).run(tmp_path, told.append)
    made = rows_of(tmp_path / "draws.csv")
    assert len(made) == 3 * 2
    assert {(row["method"], row["size"]) for row in made} == {
        (method, size) for method in QUICK[:3] for size in "12"
    }
    assert all(0 < float(row["auc"]) <= 1 for row in made)
    assert lines[1].split()[:3] == ["AUC", "m=1", "n=60"]
    assert any("best peer in" in line for line in lines)
    DownstreamBench(**settings, methods=QUICK).run(tmp_path, told.append)
    assert "3 of 5 pieces of work were done before." in told
    again = rows_of(tmp_path / "draws.csv")
    assert [row for row in again if row["method"] in QUICK[:3]] == made
    assert len(finished(tmp_path / "work.jsonl")) == 5
    for name in ("auc", "log_loss"):
        assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")
    assert "| **population** |" in (tmp_path / "page.md").read_text()


@pytest.mark.slow
def test_every_method_runs():
    for method in METHODS:
        rows = one_choice(GENERATED, 60, 1, method, (1,))
        assert [set(row) for row in rows] == [{"size", "auc", "log_loss"}]


@pytest.fixture(scope="module")
def table():
    """Feature 3 tells most, 1 less, 4 is nearly a copy of 3, and the others tell nothing."""
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=400)
    X = rng.integers(3, size=(400, 6))
    X[:, 3] = np.where(rng.random(400) < 0.7, y, X[:, 3])
    X[:, 4] = np.where(rng.random(400) < 0.95, X[:, 3], X[:, 4])
    X[:, 1] = np.where(rng.random(400) < 0.3, y, X[:, 1])
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("peer", PEERS)
def test_every_peer_finds_the_feature_that_tells_most(table, peer):
    chosen = PEERS[peer](*table, [1, 2, 3], 1)
    assert chosen[1] == (3,)
    assert all(len(set(chosen[size])) == size for size in (1, 2, 3))
    assert set(chosen[1]) < set(chosen[2]) < set(chosen[3])
    assert chosen == PEERS[peer](*table, [1, 2, 3], 1)


def test_mrmr_takes_the_most_relevant_less_the_mean_redundancy(table):
    X, y = table
    order = []
    for _ in range(3):
        gains = {
            f: mutual_info_score(X[:, f], y)
            - (np.mean([mutual_info_score(X[:, f], X[:, g]) for g in order]) if order else 0)
            for f in range(6)
            if f not in order
        }
        order.append(max(gains, key=gains.get))
    assert mrmr(X, y, [3])[3] == tuple(sorted(order))


@pytest.mark.slow
def test_sequential_selection_of_a_smaller_set_is_that_of_scikit_learn(table):
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
    search = SequentialFeatureSelector(model, n_features_to_select=2, scoring="roc_auc", cv=5)
    wanted = tuple(np.flatnonzero(search.fit(*table).get_support()).tolist())
    assert sequential(*table, [2, 3])[2] == wanted
    assert sequential(*table, [6])[6] == tuple(range(6))


def test_jmi_takes_the_most_joint_information_with_those_chosen(table):
    X, y = table
    order = [int(np.argmax([mutual_info_score(column, y) for column in X.T]))]
    for _ in range(2):
        gains = {
            f: sum(mutual_info_score(X[:, f] * 10 + X[:, g], y) for g in order)
            for f in range(6)
            if f not in order
        }
        order.append(max(gains, key=gains.get))
    assert jmi(X, y, [3])[3] == tuple(sorted(order))
