import numpy as np
import pytest

from misfeat import Coding, SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.answers.validation import captured_at
from misfeat.completion import ExactScores, Known
from misfeat.datasets import make_cohorts
from misfeat.estimation.population_model import PopulationModel
from misfeat.lattice.levels import level
from tests.cohorts.tables import build_product_sums
from tests.completion.coded import known_of_sums
from tests.estimation.generated import generated, known_with_scores, with_missing


def model_of(cohorts):
    known, scores = known_with_scores(cohorts, 2)
    exact = ExactScores(tuple(scores), cohorts.missing, known.exact.ceiling)
    return PopulationModel.of(Known(exact, cohorts))


def truth_of(data, size):
    n_features = sum(name.startswith("f") for name in data.complete)
    sets = level(n_features, size)
    populations = list(data.populations.values())
    return np.array([[p.mutual_info(s.tolist()) for s in sets] for p in populations])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_scores_of_every_size_are_near_those_of_the_population(size):
    cohorts, data = generated(4, 2000, 6, hide=0.0, similarity=1000)
    found, truth = model_of(cohorts).level(size), truth_of(data, size)
    assert found.mean == pytest.approx(truth, abs=0.3 * truth.max())
    shares = [captured_at(3, *pair) for pair in zip(truth, found.mean, strict=True)]
    assert np.mean(shares) > 0.93


@pytest.mark.parametrize("size", [1, 2, 4])
def test_intervals_hold_what_is_true(size):
    held = []
    for seed in range(6):
        cohorts, data = generated(5, 400, 6, hide=0.25, seed=seed)
        found, truth = model_of(cohorts).level(size), truth_of(data, size)
        held.append(np.abs(found.mean - truth) < 1.645 * np.sqrt(found.variance))
    assert 0.8 < np.mean(held) < 0.99


def test_unrecorded_features_are_predicted_from_subgroups_that_recorded_them():
    cohorts, data = generated(6, 1500, 6, hide=0.3, similarity=1000, seed=2)
    found, truth = model_of(cohorts).level(2), truth_of(data, 2)
    lacking = cohorts.missing[:, level(6, 2)].any(axis=2)
    assert lacking.any()
    assert np.corrcoef(found.mean[lacking], truth[lacking])[0, 1] > 0.9


def test_pairs_that_nobody_recorded_together_are_unsure(rng):
    shared = rng.integers(3, size=30_000)
    copied = rng.random((4, 30_000)) < 0.6
    codes = np.where(copied, shared, rng.integers(3, size=copied.shape))
    target = (rng.random(30_000) < 0.2 + 0.3 * shared).astype(np.int64)
    apart = np.zeros((3, 4), dtype=bool)
    apart[0, 0] = apart[1, 1] = apart[2, 0] = True
    jointly = apart.copy()
    jointly[2, 0] = False
    pair = [set(s) for s in level(4, 2).tolist()].index({0, 1})
    widths = [
        model_of(with_missing(codes.astype(np.int32), target, missing)).level(2).variance[0, pair]
        for missing in (apart, jointly)
    ]
    assert widths[0] > 2 * widths[1]


def test_a_feature_of_one_value_and_a_target_of_one_class_explain_nothing():
    codes = np.zeros((2, 60), dtype=np.int32)
    codes[1] = np.arange(60) % 3
    target = np.r_[np.zeros(30, np.int64), np.arange(30) % 2]
    cohorts = with_missing(codes, target, np.zeros((2, 2), dtype=bool))
    found = model_of(cohorts)
    assert found.level(1).mean[:, 0] == pytest.approx(0.0, abs=1e-6)
    assert found.level(2).mean[0] == pytest.approx(0.0, abs=1e-6)
    assert np.isfinite(found.level(2).variance).all()


def test_the_order_of_columns_does_not_matter():
    data = make_cohorts(4, 300, 5, hide=0.2, random_state=0)
    names = [name for name in data.columns if name.startswith("f")]
    scores = []
    for order in (names, names[::-1]):
        columns = {**{name: data.columns[name] for name in order}, "cohort": data.columns["cohort"]}
        columns["target"] = data.columns["target"]
        fitted = SubgroupSelector("cohort", size=3, k=1000).fit(columns, "target")
        scores.append(
            {(s.subgroup, frozenset(s.features)): (s.score, s.low, s.high)
             for s in best_sets(fitted.selection_)}
        )  # fmt: skip
    assert scores[0].keys() == scores[1].keys()
    for key, numbers in scores[0].items():
        assert numbers == pytest.approx(scores[1][key], abs=1e-9)


def test_r2_is_the_same_estimator_on_numbers(rng):
    x = rng.normal(size=(2000, 3))
    y = x @ [0.6, 0.3, 0.0] + rng.normal(size=2000)
    table = {"site": np.arange(2000) % 4, "a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}
    sums = build_product_sums(table, "y", groups="site")
    found = PopulationModel.of(known_of_sums(sums, 2)).level(2)
    explained = {frozenset("ab"): 0.45, frozenset("ac"): 0.36, frozenset("bc"): 0.09}
    for place, members in enumerate(level(3, 2)):
        expected = explained[frozenset("abc"[f] for f in members)] / 1.45
        assert found.mean[:, place] == pytest.approx(expected, abs=0.05)


def test_scores_of_many_correlated_features_stay_below_what_all_explain(rng):
    """Eighteen features share one cause, six of them explain the target: more add nothing."""
    weights = np.array([1.2, 0.9, 0.7, 0.5, 0.4, 0.3])
    cause = rng.normal(size=(4000, 1))
    values = np.digitize(2.0 * cause + rng.normal(size=(4000, 18)), [-0.5, 0.5])
    odds = 1.0 / (1.0 + np.exp(-(values[:, :6] - 1) @ weights))
    table = {f"f{i:02d}": values[:, i] for i in range(18)}
    table |= {"g": np.repeat(list("abcd"), 1000), "y": (rng.random(4000) < odds).astype(int)}
    selector = SubgroupSelector("g", size=1).fit(table, "y")
    entropies = [-(p * np.log(p) + (1 - p) * np.log(1 - p)) for p in (odds.mean(), odds)]
    truth = entropies[0] - entropies[1].mean()
    names = sorted(table)[:18]
    for size in (6, 12, 18):
        scores = [selector.score_of(name, names[:size]) for name in selector.cohorts_.names]
        assert np.mean(scores) == pytest.approx(truth, rel=0.08)


def test_few_rows_of_which_different_ones_recorded_each_pair_of_columns_are_answered():
    columns = {
        "ward": "aaaaaabbbbbbcccccccc",
        "day": "abbbcc" + 14 * "-",
        "code": "abcd-cdad-c-cbdca-a-",
        "level": 12 * "-" + "abcadacd",
        "y": "abacdbabcaacebdceaab",
    }
    table = {name: [None if one == "-" else one for one in text] for name, text in columns.items()}
    selector = SubgroupSelector("ward", size=2, coding=Coding(sporadic="available"))
    assert np.isfinite(selector.fit(table, "y").scores()["score"]).all()


def ruled(n_rows):
    """Five features of four values, and five classes that a rule gives in nine of ten rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (n_rows, 5))
    y = np.where(X[:, 0] == 0, 0, np.maximum(X[:, 1], X[:, 2]) + (X[:, 3] == 0))
    y = np.where(rng.random(n_rows) < 0.1, rng.integers(0, 5, n_rows), y)
    return {f"x{number}": column.astype(str) for number, column in enumerate(X.T)}, y.astype(str)


def test_many_rows_are_scored_as_they_are_counted_and_few_by_the_model():
    for n_rows, believed in ((6000, True), (150, False)):
        table = ruled(n_rows)
        selection = SubgroupSelector(size=3).fit(*table).selection_
        counted = SubgroupSelector(size=3, estimate="above_chance").fit(*table).selection_
        model = selection.set_scores.listed().models[0]
        for size in (1, 2, 3):
            own, rows = selection.completed(size).score, counted.completed(size).score
            if believed:
                strong = rows > 0.05
                assert np.abs(own / rows - 1.0)[strong].max() < 0.03
            elif size > 1:
                assert model.corrections[size - 1].factor.tolist() == [1.0] * own.shape[1]


@pytest.mark.parametrize("seed", [3, 4])
def test_no_set_of_one_subgroup_is_scored_above_what_its_rows_show(seed):
    # A direction of the interaction that is all noise was once taken for nearly all of the entropy.
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (3000, 6))
    both = np.where((X[:, 0] + X[:, 1]) % 3 == 0, 1.2, -0.4)
    odds = np.exp(np.stack([0.0 * both, both, 0.4 * both + 0.25 * (X[:, 2] - 1)], axis=1))
    shares = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    y = (rng.random(3000)[:, None] > shares).sum(axis=1)
    table = {f"x{number}": column.astype(str) for number, column in enumerate(X.T)}
    own, rows = (
        SubgroupSelector(size=3, estimate=name).fit(table, y.astype(str)).selection_.completed(3)
        for name in ("population", "sample")
    )
    assert (own.score <= rows.score).all()
