"""Whether answers come out again, and how much selections agree."""

from collections import Counter
from copy import deepcopy
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from misfeat import Coding, MisfeatError, SubgroupSelector
from misfeat.answers import stability
from misfeat.answers.stability import StableSet, stability_index, stability_of
from misfeat.answers.top_sets import best_sets
from misfeat.cohorts.resampled_rows import subsample
from misfeat.completion import InteractionsCompleter
from misfeat.datasets import load_heart, make_cohorts
from misfeat.estimation.score_estimate import Estimate

COLUMNS = ["subgroup", "rank", "features", "frequency", "rank_low", "rank_median", "rank_high"]
DRAWS = 6


def test_a_line_a_shown_set_in_the_order_of_top_k(selector):
    found, best = selector.stability(resamples=DRAWS), selector.top_k()
    assert list(found.columns) == COLUMNS
    for name in ("subgroup", "rank", "features"):
        assert found[name].tolist() == best[name].tolist()
    assert found["frequency"].between(0, 1).all()
    ordered = found[["rank_low", "rank_median", "rank_high"]].to_numpy()
    assert (np.diff(ordered, axis=1) >= 0).all()
    assert 1 <= ordered.min() <= ordered.max() <= 10
    one = selector.stability(subgroup="cohort=c2", resamples=DRAWS)
    assert one["features"].tolist() == best[best["subgroup"] == "cohort=c2"]["features"].tolist()


@pytest.mark.parametrize("estimate", ["population", "above_chance", "sample"])
def test_a_draw_is_the_whole_answer_to_a_share_of_the_rows(estimate):
    """The draws are made again by fitting a new selector to the rows that were drawn."""
    data = make_cohorts(2, 90, 4, hide=0.3, random_state=1)
    table, given = pd.DataFrame(data.columns), {"size": 2, "k": 2, "estimate": estimate}
    selector = SubgroupSelector(data.groups, random_state=5, **given).fit(table, data.target)
    found = stability_of(selector.selection_, resamples=4)
    again = Counter()
    for seed in np.random.SeedSequence(5).spawn(4):
        share = stability.SHARE if estimate == "population" else stability.SHARE_ALONE
        rows = subsample(selector.cohorts_, share, np.random.default_rng(seed))
        drawn = SubgroupSelector(data.groups, coding=Coding(min_rows=1), **given)
        drawn.fit(as_table(rows, data), data.target)
        assert drawn.cohorts_.names == selector.cohorts_.names
        again.update((best.subgroup, best.features) for best in best_sets(drawn.selection_))
    for one in found.sets:
        assert one.frequency == again[one.subgroup, one.features] / 4


def as_table(cohorts, data):
    """Coded rows as a table that is coded the same way again."""
    lines = []
    for cohort in cohorts:
        for row in np.repeat(np.arange(len(cohort.weights)), cohort.weights):
            values = {
                name: cohorts.categories[f][cohort.codes[f, row]] if cohort.recorded[f] else None
                for f, name in enumerate(cohorts.features)
            }
            label = cohorts.classes[cohort.target[row]]
            group = cohort.name.removeprefix(f"{data.groups}=")
            lines.append({**values, data.target: label, data.groups: group})
    return pd.DataFrame(lines)


def test_everything_is_counted_from_the_draws():
    subsets = np.array([[0, 1], [0, 2], [1, 2]])
    best = np.array([[[0, 1]], [[0, 2]], [[2, 1]], [[0, 1]]])
    ranks = np.array([[[1, 2]], [[1, 3]], [[3, 2]], [[1, 2]]])
    found = stability.summary_of_draws(
        stability.Draws(np.array([[0, 1]]), best, ranks), subsets, "abc", ["here"]
    )
    assert found.sets == (
        StableSet("here", 1, ("a", "b"), 0.75, 1, 1, 1),
        StableSet("here", 2, ("a", "c"), 0.75, 2, 2, 2),
    )
    assert [one.in_best for one in found.features] == [0.75, 1, 0.25]
    assert [one.in_top_k for one in found.features] == [1, 1, 1]
    held = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 0]], dtype=bool)
    assert found.subgroups == (stability.StableSubgroup("here", *stability_index(held)),)
    assert (found.size, found.k, found.resamples) == (2, 2, 4)


def test_a_set_that_tells_all_comes_out_always_and_one_of_noise_does_not(rng):
    table = {name: rng.integers(0, 3, 600) for name in "abcdef"}
    table["y"] = (table["b"] == 1) ^ (table["e"] == 2)
    found = stability_of(SubgroupSelector(size=2, k=3).fit(table, "y").selection_, resamples=20)
    assert found.sets[0].features == ("b", "e")
    assert (found.sets[0].frequency, found.sets[0].rank_high) == (1, 1)
    assert found.subgroups[0].index == 1
    table["y"] = rng.integers(0, 2, 600)
    noise = stability_of(SubgroupSelector(size=2, k=3).fit(table, "y").selection_, resamples=20)
    assert max(one.frequency for one in noise.sets) < 0.8
    assert noise.subgroups[0].index < 0.5


def test_numbers_repeat_by_seed_whatever_the_threads(selector):
    data = make_cohorts(3, 200, 5, hide=0.3, random_state=0)

    def found(seed, n_jobs):
        asked = {"size": 2, "k": 3, "random_state": seed, "n_jobs": n_jobs}
        made = SubgroupSelector(data.groups, **asked).fit(data.columns, data.target)
        return stability_of(made.selection_, resamples=DRAWS)

    expected = stability_of(selector.selection_, resamples=DRAWS)
    assert found(0, 1) == found(0, 2) == found(None, None) == expected
    assert found(1, 1) != expected


def test_asked_again_it_is_not_drawn_again(selector):
    first = stability_of(selector.selection_, resamples=DRAWS)
    assert stability_of(selector.selection_, resamples=DRAWS) is first
    assert stability_of(selector.selection_, resamples=DRAWS + 1).resamples == DRAWS + 1


def test_features_to_include_and_a_budget_hold_for_draws():
    data = make_cohorts(2, 200, 5, hide=0, random_state=0)
    asked = {"size": 2, "k": 4, "include": "f2", "budget": 0.6, "random_state": 0}
    selector = SubgroupSelector(data.groups, **asked).fit(data.columns, data.target)
    found = stability_of(selector.selection_, resamples=DRAWS)
    assert all("f2" in one.features for one in found.sets)
    assert all(one.frequency == 1 for one in found.sets)
    in_best = {one.feature: one.in_best for one in found.features if one.subgroup == "cohort=c1"}
    assert in_best["f2"] == 1
    assert sum(in_best.values()) == pytest.approx(2)


def test_few_sets_and_few_rows_still_answer():
    table = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": [0, 0, 1, 1] * 5}
    found = stability_of(SubgroupSelector(size=2, k=10).fit(table, "y").selection_, resamples=DRAWS)
    assert found.k == len(found.sets) == 1
    assert found.sets[0].frequency == 1
    assert np.isnan(found.subgroups[0].index)
    table = {"a": [0, 1, 1, 0], "b": [0, 0, 1, 1], "s": ["x", "x", "y", "y"], "y": [0, 1, 0, 1]}
    selector = SubgroupSelector("s", size=1, coding=Coding(min_rows=1)).fit(table, "y")
    assert len(selector.stability(resamples=DRAWS)) == 4


def test_a_completer_keeps_what_it_learned_from_all_rows():
    class Noting(InteractionsCompleter):
        def complete(self, known, size):
            self.rows_ = sum(cohort.size for cohort in known.cohorts)
            return super().complete(known, size)

    data = make_cohorts(2, 60, 4, hide=0.4, random_state=0)
    completer = Noting(confidence=None)
    selector = SubgroupSelector(data.groups, size=2, estimate="sample", completer=completer)
    selector.fit(data.columns, data.target).stability(resamples=2)
    assert isinstance(selector.selection_.set_scores.estimate, Estimate)
    assert selector.completer_.rows_ == 120


def test_it_says_so_where_no_rows_are_kept():
    data = make_cohorts(2, 200, 4, hide=0, random_state=0)
    asked = {"groups": data.groups, "size": 2}
    sums = SubgroupSelector(measure="r2", **asked).fit(data.columns, data.target)
    with pytest.raises(MisfeatError, match="measure='r2' keeps sums of products"):
        sums.stability()


@pytest.mark.parametrize(
    ("asked", "named"),
    [({"resamples": 1}, "resamples=1"), ({"k": 0}, "k=0"), ({"size": 9}, "size=9")],
)
def test_wrong_numbers_are_named(selector, asked, named):
    with pytest.raises(MisfeatError, match=named):
        selector.stability(**asked)


def test_a_sentence_a_subgroup():
    sets = [StableSet("x", n, ("a", "b"), often, 1, 1, 2) for n, often in ((1, 0.9), (2, 0.3))]
    said = stability.Stability(
        2, 2, 50, tuple(sets), (), (stability.StableSubgroup("x", 1, 1, 1),)
    ).sentences()
    assert said == [
        "x: the best set, 'a', 'b', is among the 2 best in 90 % of 50 resamples; "
        "1 of these 2 is so in at least 80 %."
    ]


SELECTIONS = st.tuples(st.integers(2, 8), st.integers(2, 7)).flatmap(
    lambda shape: arrays(np.bool_, shape)
)


def by_the_formula(selected):
    """Definition 4 and the variance of Nogueira, Sechidis and Brown (2018), sum by sum."""
    z = [[int(held) for held in line] for line in selected]
    n, d = len(z), len(z[0])
    p = [sum(line[f] for line in z) / n for f in range(d)]
    k = [sum(line) for line in z]
    k_mean = sum(k) / n
    chance = k_mean / d * (1 - k_mean / d)
    index = 1 - sum(n / (n - 1) * p[f] * (1 - p[f]) for f in range(d)) / d / chance
    parts = []
    for i in range(n):
        agreed = sum(z[i][f] * p[f] for f in range(d)) / d - k[i] * k_mean / d**2
        share = 2 * k_mean * k[i] / d**2 - k[i] / d - k_mean / d + 1
        parts.append((agreed + index / 2 * share) / chance)
    mean = sum(parts) / n
    return index, 4 / n**2 * sum((part - mean) ** 2 for part in parts)


@given(SELECTIONS)
def test_it_is_the_formula_of_the_paper(selected):
    found = stability_index(selected)
    if selected.all() or not selected.any():
        assert np.isnan(found).all()
        return
    index, variance = by_the_formula(selected)
    away = 1.959964 * sqrt(variance)
    assert found == pytest.approx((index, index - away, min(index + away, 1)), abs=1e-6)


def test_random_selections_agree_no_more_than_chance(rng):
    _, low, high = stability_index(rng.permuted(np.tile(np.arange(10) < 3, (2000, 1)), axis=1))
    assert low < 0 < high < low + 0.01


def test_the_interval_holds_what_very_many_selections_give():
    """Features enter independently, each with a share of its own, so that the truth is known."""
    shares = np.array([0.9, 0.8, 0.3, 0.2, 0.1, 0.05])
    k = shares.sum() / len(shares)
    truth = 1 - (shares * (1 - shares)).mean() / (k * (1 - k))
    rng = np.random.default_rng(1)
    drawn = (stability_index(rng.random((100, 6)) < shares, 0.9) for _ in range(400))
    held = np.mean([low <= truth <= high for _, low, high in drawn])
    assert 0.85 < held < 0.95


def test_resamples_one_by_one_are_those_side_by_side(monkeypatch):
    heart = load_heart()
    selector = SubgroupSelector(groups=heart.groups, size=2, random_state=0)
    together = selector.fit(heart.columns, heart.target).selection_
    alone = deepcopy(together)
    monkeypatch.setattr("misfeat.estimation.resample_scores.MOST_NUMBERS", 1)
    one_by_one = stability_of(alone, resamples=4)
    monkeypatch.undo()
    assert one_by_one == stability_of(together, resamples=4)


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_a_constant_target_is_answered():
    table = pd.DataFrame({"town": ["u", "u"], "a": [-6.7, 7.9], "b": [-8.0, 8.0], "y": ["", "mid"]})
    assert SubgroupSelector(groups="town", size=1).fit(table, "y").stability().empty
