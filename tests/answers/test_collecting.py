from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from benchmarks.validity.intervals import drawn
from misfeat import Coding, MisfeatError, SubgroupSelector
from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.recording_gains import MIXTURE, OPTIMISM, Gain, feature_worths
from misfeat.answers.selection_base import FitOptions
from misfeat.answers.top_sets import best_sets
from misfeat.completion import CompletedScores
from misfeat.datasets import make_cohorts
from misfeat.lattice.levels import level
from tests.answers.test_contrasts import scored_from

# One cohort with features a, b, c, d; it lacks c and d.
MISSING = np.array([[False, False, True, True]])


def completed(scores, half=0.0, size=1):
    subsets = level(4, size)
    score = np.array([scores])
    lacking = MISSING[0][subsets].any(axis=1)
    spread = np.where(lacking, half, 0.0)
    support = np.where(lacking, 3, 4)[None, :]
    return CompletedScores(
        subsets, score, score - spread, score + spread, lacking[None, :], support
    )


def of_pairs(**scores):
    return completed([scores["abcd"[one] + "abcd"[other]] for one, other in level(4, 2)], size=2)


def worths(scores, confidence=None, costs=None, smaller=None):
    by_size = {scores.subsets.shape[1]: scores}
    size = scores.subsets.shape[1] - 1
    if size:
        smaller = np.zeros((1, 4)) if smaller is None else smaller
        held = np.zeros(smaller.shape, dtype=bool)
        by_size[size] = CompletedScores(level(4, size), smaller, smaller, smaller, held, held)
    selection = SimpleNamespace(
        size=size + 1,
        feature_names=tuple("abcd"),
        missing=MISSING,
        confidence=confidence,
        options=FitOptions(size + 1, 5),
        cohorts=OneCohort(),
        completed=by_size.__getitem__,
        set_scores=SimpleNamespace(
            scored=scored_from(by_size),
            estimate=SimpleNamespace(lists=False),
            measure=SimpleNamespace(whole=np.array([1.0])),
        ),
        subgroup_names=lambda _: ("here",),
        remembered=lambda _, answer: answer(),
    )
    return {worth.feature: worth for worth in feature_worths(selection, costs=costs)}


class OneCohort:
    """The rows of the one cohort, as far as they are looked at."""

    names, columns = ("here",), ()

    def position(self, _):
        return 0

    def effective_sizes(self):
        return np.array([100.0])

    def __getitem__(self, _):
        return SimpleNamespace(target=np.array([0, 1]), size=100)


def test_a_feature_is_worth_what_the_best_set_gains_by_it():
    found = worths(completed([0.1, 0.3, 0.5, 0.2], half=0.05))
    assert found["c"].gain == pytest.approx(0.2)
    assert (found["c"].low, found["c"].high) == pytest.approx((0.15, 0.25))
    assert found["c"].best_set == ("c",)
    assert found["c"].support == "joint"
    assert found["d"].gain == 0  # certain bounds tell no deviation, and b is better
    assert np.isnan(found["c"].probability)
    assert (found["c"].clear, found["d"].clear) == (True, False)
    assert [found["c"].rank, found["d"].rank] == [1, 2]
    assert found["c"].before == found["d"].before == 0.3


def test_an_uncertain_feature_may_be_better_than_it_looks():
    sure, unsure = (
        worths(completed([0.1, 0.3, 0.5, 0.28], half), confidence=0.9)["d"] for half in (1e-6, 0.1)
    )
    assert sure.gain == pytest.approx(0, abs=1e-9)
    assert 0 < unsure.gain < 0.1
    assert unsure.low == 0
    assert 0 < unsure.high < 0.1
    assert 0.1 < unsure.probability < 0.5
    assert unsure.probability_of_a_tenth < unsure.probability
    likely = worths(completed([0.1, 0.3, 0.5, 0.28], 0.1), confidence=0.9)["c"]
    assert likely.probability > 0.85
    assert not likely.clear, "no other subgroup shows in how many it informs"


def test_the_best_recorded_set_errs_with_the_others():
    sure = completed([0.1, 0.3, 0.4, 0.2], half=0.1)
    both = replace(sure, low=sure.score - 0.1, high=sure.score + 0.1)
    alone, together = (worths(one, confidence=0.9)["c"] for one in (sure, both))
    assert together.probability > alone.probability


@pytest.mark.parametrize("gain", [Gain(0.1, 0.05), Gain(0.0, 0.1), Gain(-0.1, 0.05)])
def test_a_gain_is_a_mixture_of_two_normal_distributions(gain, rng):
    width = np.where(rng.random(400_000) < MIXTURE[0][0], MIXTURE[0][1], MIXTURE[1][1])
    drawn = gain.difference + gain.deviation * (width * rng.normal(size=len(width)) - OPTIMISM)
    assert gain.expected == pytest.approx(np.maximum(drawn, 0).mean(), abs=4e-4)
    assert gain.exceeds(0.02) == pytest.approx((drawn > 0.02).mean(), abs=4e-3)
    wide = gain.difference + gain.deviation * (rng.normal(size=len(width)) - OPTIMISM)
    ends = np.quantile(np.maximum(wide, 0), [0.05, 0.95])
    np.testing.assert_allclose(gain.interval(0.9), ends, atol=2e-3)


def test_costs_change_the_order():
    scores = completed([0.1, 0.3, 0.5, 0.4])
    assert worths(scores)["c"].rank == 1
    dear = worths(scores, costs={"c": 10})
    assert dear["c"].rank == 2
    assert dear["c"].gain_per_cost == pytest.approx(0.02)
    assert dear["d"].cost == 1


def test_only_sets_of_recorded_features_and_the_one_count():
    # cd needs both c and d
    found = worths(of_pairs(ab=0.3, ac=0.4, bc=0.35, ad=0.2, bd=0.31, cd=0.9))
    assert found["c"].gain == pytest.approx(0.1)
    assert found["c"].best_set == ("a", "c")
    assert found["d"].gain == pytest.approx(0.01)


def test_joined_is_the_least_that_a_feature_adds_to_all_but_one_of_the_best_set():
    scores = of_pairs(ab=0.35, ac=0.6, bc=0.55, ad=0.3, bd=0.2, cd=0.9)
    found = worths(scores, smaller=np.array([[0.3, 0.2, 0.5, 0.1]]))
    assert found["c"].joined == pytest.approx(0.6 - 0.3)  # less than the .35 that it adds to b
    assert found["d"].joined == 0.0
    alone = worths(completed([0.1, 0.3, 0.5, 0.2]), smaller=np.zeros((1, 1)))
    assert alone["c"].joined == pytest.approx(0.5)


def test_a_pair_that_nobody_recorded_together_is_named_with_who_could_settle_it():
    data = make_cohorts(n_cohorts=3, n_rows=400, n_features=5, hide=0, random_state=3)
    columns, site = dict(data.columns), np.asarray(data.columns["cohort"])
    for feature, lacking in (("f1", ("c1", "c2")), ("f2", ("c3",))):
        values = np.asarray(columns[feature], dtype=float)
        columns[feature] = np.where(np.isin(site, lacking), np.nan, values)
    selector = SubgroupSelector("cohort", size=5, coding=Coding(bins=3)).fit(columns, "target")
    (worth,) = feature_worths(selector.selection_, subgroup="cohort=c1")
    assert (worth.feature, worth.support) == ("f1", "singles")
    assert (worth.unsettled, worth.settled_by) == (("f1", "f2"), "cohort=c3")
    words = [one.words for one in list_cautions(selector.selection_)]
    (said,) = [one for one in words if one.startswith("No subgroup recorded")]
    assert "'f1' and 'f2' together" in said
    assert said.endswith("recording both in 'cohort=c3' would settle most.")


def test_with_features_to_include_gains_are_counted_from_sets_that_hold_them():
    data = make_cohorts(n_cohorts=4, n_rows=600, n_features=7, hide=0.3, random_state=2)
    selector = SubgroupSelector(data.groups, size=2, completer="interactions", include=["f6"])
    found = feature_worths(selector.fit(data.columns, data.target).selection_)
    assert found
    for worth in found:
        sets = best_sets(selector.selection_, k=1000, subgroup=worth.subgroup)
        assert worth.before == max((one.score for one in sets if not one.missing), default=0.0)


@pytest.mark.slow
def test_hidden_features_are_ordered_as_the_population_orders_them():
    orders = []
    for seed in range(3):
        data = make_cohorts(6, 20_000, 8, hide=0.4, similarity=5000, random_state=seed)
        selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
        worth = selector.worth_collecting()
        features = [f"f{i + 1}" for i in range(8)]
        for name, own in worth.groupby("subgroup"):
            recorded = [f for f in features if f not in set(own["feature"])]
            best = max(data.true_score(name, [a, b]) for a in recorded for b in recorded if a < b)
            truth = [
                max(data.true_score(name, sorted([f, other])) for other in recorded) - best
                for f in own["feature"]
            ]
            if len(truth) > 2:
                orders.append(kendalltau(truth, own["gain"]).statistic)
    assert len(orders) > 8
    assert np.mean(orders) >= 0.9


def test_the_selector_tells_what_is_worth_collecting():
    data = make_cohorts(3, 300, 5, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=2, random_state=0).fit(data.columns, data.target)
    worth = selector.worth_collecting()
    cohorts = selector.cohorts_
    missing = {(name, one) for name in cohorts.names for one in cohorts.missing_features(name)}
    assert set(zip(worth["subgroup"], worth["feature"], strict=True)) == missing
    assert ((worth["low"] <= worth["gain"]) & (worth["gain"] <= worth["high"])).all()
    assert (worth["joined"] >= 0).all()
    assert worth["probability"].between(0, 1).all()
    assert (worth["probability_of_a_tenth"] <= worth["probability"]).all()
    assert (worth["probability"][worth["clear"]] >= 0.8).all()
    for _, own in worth.groupby("subgroup"):
        assert own["rank"].tolist() == list(range(1, len(own) + 1))
        assert own["gain"].is_monotonic_decreasing
    one = selector.worth_collecting(subgroup="cohort=c2", size=5)
    assert set(one["subgroup"]) <= {"cohort=c2"}
    with pytest.raises(MisfeatError, match="no column 'g1'"):
        selector.worth_collecting(costs={"g1": 2})
    for cost in (0, -1, np.inf, np.nan, "dear", True):
        with pytest.raises(MisfeatError, match=f"'f1': {cost!r}}}; it must be above 0"):
            selector.worth_collecting(costs={"f1": cost})
    for costs in (["f1"], 5, "f1"):
        with pytest.raises(MisfeatError, match=r"costs=.*; it must map features to what"):
            selector.worth_collecting(costs=costs)
    first = ["subgroup", "feature", "gain", "low", "high", "probability"]
    assert list(worth.columns)[:6] == first


def test_the_score_of_one_set_is_that_of_the_table_of_scores():
    data = make_cohorts(2, 200, 4, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    scores = selector.scores(subgroup="cohort=c1")
    for row in scores.itertuples():
        assert selector.score_of("cohort=c1", row.features[::-1]) == row.score
    assert selector.score_of("cohort=c1", "f1") == selector.scores(1, "cohort=c1")["score"][0]
    with pytest.raises(MisfeatError, match="no column 'f9'"):
        selector.score_of("cohort=c1", ["f1", "f9"])
    with pytest.raises(MisfeatError, match="There is no subgroup 'c7'"):
        selector.score_of("c7", ["f1"])


@pytest.mark.parametrize("kind", ["alike", "lot .7", "lot .5", "half", "few"])
def test_a_gain_is_clear_only_where_features_inform_in_all_subgroups(kind):
    said = []
    for seed in range(71_000, 71_004):
        selector = SubgroupSelector("site", size=2, k=1).fit(drawn(kind, seed)[0], "y")
        said += selector.worth_collecting()["clear"].tolist()
    assert (sum(said) > 2) == (kind == "alike")
    assert any(said) == (kind == "alike")


@pytest.mark.parametrize("informing", [11, 6])
def test_it_is_as_likely_that_a_feature_informs_as_it_does_in_other_subgroups(informing, rng):
    site = np.repeat(np.arange(12), 200)
    y, *more = rng.integers(0, 2, (4, len(site)))
    flags = {f"x{i}": np.where(rng.random(len(site)) < 0.2, y, one) for i, one in enumerate(more)}
    strong = np.where(rng.random(len(site)) < 0.5, y, rng.integers(0, 2, len(site)))
    informs = np.where(site <= informing, strong, rng.integers(0, 2, len(site)))
    table = {"site": site, **flags, "strong": np.where(site == 0, np.nan, informs)}
    selector = SubgroupSelector("site", size=2).fit(table, y)
    (said,) = selector.worth_collecting().itertuples()
    assert said.clear == (informing == 11)
    assert said.probability == pytest.approx(informing / 11, abs=0.12)
    (step,) = selector.plan().itertuples()
    assert step.probability <= said.probability


@pytest.mark.slow
def test_thermometers_that_fifteen_waves_asked_are_worth_asking_in_the_other_one(data_folder):
    waves = pd.read_csv(data_folder / "waves.csv.gz").drop(columns=["rownames", "uid"])
    selector = SubgroupSelector("year", size=2).fit(waves, "pid7")
    worth = selector.worth_collecting("year=2002").set_index("feature")
    assert set(worth.index[worth["clear"]]) == {"mpti", "therm_dem", "therm_gop"}
    assert worth["probability"][worth["clear"]].min() > 0.95
    assert selector.plan()["worth"].iloc[0]


def test_a_subgroup_that_differs_from_all_others_rests_on_its_own_rows():
    # Two features tell in seven subgroups of 600 rows and not in the last, where a third one does.
    rng, parts = np.random.default_rng(3), []
    for site in range(8):
        x = rng.integers(0, 3, (600, 6))
        told = 2.0 * (x[:, 2] - 1) if site == 7 else 1.5 * (x[:, 0] - 1) + 0.8 * (x[:, 1] - 1)
        part = pd.DataFrame(x, columns=list("abcdef")).astype(object).assign(site=site)
        parts.append(part.assign(y=(rng.random(600) < 1 / (1 + np.exp(-told))).astype(int)))
    table = pd.concat(parts, ignore_index=True)
    table.loc[(table["site"] == 7) | (table["site"] == 1), "a"] = None
    selection = SubgroupSelector("site", size=1).fit(table, "y").selection_
    (model,) = selection.set_scores.listed().models
    assert (~model.effects.like).tolist() == [False] * 7 + [True]
    (caution,) = (one for one in list_cautions(selection) if one.kind == "unlike")
    assert caution.subgroups == ("site=7",)
    # What all others lead to expect of it is doubtful there, and sure in one of them.
    gains = {one.subgroup: one for one in feature_worths(selection) if one.feature == "a"}
    assert gains["site=1"].probability > 0.8 > 0.5 > gains["site=7"].probability
    # Its rows do not change what the others share: nor does leaving it out.
    rest = SubgroupSelector("site", size=1).fit(table[table["site"] != 7], "y").selection_
    with_it, without = (one.completed(1).score[1, 0] for one in (selection, rest))
    assert with_it == pytest.approx(without, rel=0.05)
