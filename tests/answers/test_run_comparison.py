"""Two runs side by side: what changed, how sure that is, and in words."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from misfeat import Coding, MisfeatWarning, SubgroupSelector
from misfeat.answers.run_comparison import (
    ALONE,
    BEST_OF_BOTH,
    BEST_OF_FIRST,
    BEST_OF_SECOND,
    RECORDED,
    Change,
    ExplainedShare,
    SubgroupChange,
    changes_in_words,
    compare_selections,
    difference_of,
    explained_share,
    points_in_words,
    subgroup_in_words,
    summary_of,
)
from misfeat.datasets import make_cohorts
from misfeat.exceptions import MisfeatError
from misfeat.information.mutual_info import SampledShare
from misfeat.messages import Message

SITES = ("a", "b", "c")


def table(seed, *, silent=(), telling=0.6, n_rows=600):
    """Three sites in which x tells, and z a little; not x in the sites that are silent."""
    rng = np.random.default_rng(seed)
    site = np.repeat(SITES, n_rows)
    y = rng.integers(0, 2, len(site))
    told = rng.random(len(site)) < np.where(np.isin(site, silent), 0.0, telling)
    x = np.where(told, y, rng.integers(0, 3, len(site)))
    z = np.where(rng.random(len(site)) < 0.3, y, rng.integers(0, 2, len(site)))
    w = rng.integers(0, 4, len(site))
    return {"site": site, "x": x, "z": z, "w": w, "y": y}


def run(columns, target="y", groups="site", **settings):
    selector = SubgroupSelector(groups, **{"size": 2, **settings})
    return selector.fit(columns, target).selection_


@pytest.fixture(scope="module")
def before():
    return run(table(0))


@pytest.fixture(scope="module")
def found(before):
    return compare_selections(before, run(table(1, silent=["b"])))


def of(found, subgroup, *features):
    (line,) = [one for one in found.changes if (one.subgroup, one.features) == (subgroup, features)]
    return line


def test_what_was_planted_is_named_and_nothing_else(found):
    assert {one.subgroup: bool(one.changed) for one in found.subgroups} == {
        "site=a": False,
        "site=b": True,
        "site=c": False,
    }
    assert {one.features for one in found.changed} >= {("x",)}
    assert all("x" in one.features for one in found.changed)


def test_a_difference_is_that_of_the_shares_right_for_having_looked_at_all_subgroups(found):
    line = of(found, "site=b", "x")
    assert line.difference == pytest.approx(line.second - line.first)
    assert line.low <= line.difference <= line.high < 0
    assert line.p_value < 0.01
    line = of(found, "site=a", "x")
    assert line.first_score == pytest.approx(line.first * np.log(2), rel=0.01)
    (clear,) = (one for one in found.subgroups if one.subgroup == "site=b")
    assert clear.adjusted == pytest.approx(min(3 * clear.p_value, 1.0))
    assert all(one.adjusted >= one.p_value for one in found.subgroups)


def test_every_feature_alone_and_the_best_sets_of_both_are_looked_at(found):
    for subgroup in SITES:
        sets = [one for one in found.changes if one.subgroup == f"site={subgroup}"]
        assert {one.features for one in sets} >= {("x",), ("z",), ("w",)}
        best = {one.asked for one in sets if len(one.features) == 2}
        assert best in ({BEST_OF_BOTH}, {BEST_OF_FIRST, BEST_OF_SECOND})


def test_a_run_does_not_differ_from_itself(before):
    found = compare_selections(before, before)
    assert not found.changed
    assert {one.difference for one in found.changes} == {0.0}


def test_runs_with_nothing_in_common_are_refused_with_what_each_has(before):
    other = table(1)
    moved = {**other, "site": np.char.add(other["site"], "x")}
    with pytest.raises(MisfeatError, match=r"'site=a', 'site=b'.*'site=ax', 'site=bx'.*groups"):
        compare_selections(before, run(moved))
    renamed = {f"{name}2" if name in "xzw" else name: values for name, values in other.items()}
    with pytest.raises(MisfeatError, match=r"no feature in common.*'x', 'z', 'w'.*'x2'"):
        compare_selections(before, run(renamed))


@pytest.mark.parametrize(("name", "value"), [("estimate", "sample"), ("measure", "r2")])
def test_scores_on_different_scales_are_refused(before, name, value):
    other = run(table(1), **{name: value})
    with pytest.raises(MisfeatError, match=f"{name}='{value}'.*Fit one of them again"):
        compare_selections(before, other)


def test_another_coding_is_said(before, rng):
    columns = [{**table(seed), "age": rng.normal(50, 10, 1800)} for seed in (0, 1)]
    found = compare_selections(run(columns[0]), run(columns[1]))
    assert any("Coded otherwise in the second run: age." in note for note in found.notes)
    coarse = run(columns[0], coding=Coding(bins=3))
    found = compare_selections(run(columns[0]), coarse)
    (note,) = [note for note in found.notes if note.startswith("Coded otherwise")]
    assert "age (3 quantile bins, not 5 quantile bins)" in note


def test_the_smaller_size_is_taken_and_said(before):
    found = compare_selections(before, run(table(1), size=3))
    assert found.size == 2
    assert any("2 and 3 features; those of 2" in note for note in found.notes)
    assert compare_selections(before, before, size=1).size == 1
    with pytest.raises(MisfeatError, match="size=9 is larger"):
        compare_selections(before, before, size=9)


def test_the_higher_confidence_is_taken(before, found):
    wide = compare_selections(before, run(table(1, silent=["b"]), confidence=0.99))
    assert wide.confidence == 0.99
    narrow, wider = of(found, "site=b", "x"), of(wide, "site=b", "x")
    assert wider.low < narrow.low < narrow.high < wider.high


def test_what_one_run_had_to_predict_is_compared_and_marked(before):
    other = table(1)
    other["x"] = np.where(other["site"] == "c", np.nan, other["x"])
    found = compare_selections(before, run(other))
    line = of(found, "site=c", "x")
    assert line.source == "predicted"
    assert of(found, "site=a", "x").source == "recorded"
    recorded = of(compare_selections(before, run(table(1))), "site=c", "x")
    assert line.high - line.low > 0.8 * (recorded.high - recorded.low)


def test_a_subgroup_with_a_single_class_is_named(before):
    other = table(1)
    other["y"] = np.where(other["site"] == "b", 0, other["y"])
    with pytest.warns(MisfeatWarning, match="single value"):
        second = run(other)
    found = compare_selections(before, second)
    by_name = {one.subgroup: one for one in found.subgroups}
    assert by_name["site=b"].sets == 0
    assert by_name["site=b"].sentence.endswith("has a single value in the second run.")
    assert np.isnan(by_name["site=b"].adjusted)
    assert "2 subgroups" in found.summary()


def test_scores_of_rows_as_they_are_are_compared_less_chance():
    runs = [
        run(table(seed, silent=silent), estimate="sample") for seed, silent in ((0, ()), (1, "b"))
    ]
    found = compare_selections(*runs)
    assert of(found, "site=b", "x").changed
    assert of(found, "site=a", "w").first < 0.01


def test_squared_correlations_are_compared_as_well():
    runs = [run(table(seed, silent=silent), measure="r2") for seed, silent in ((0, ()), (1, "b"))]
    found = compare_selections(*runs)
    assert {one.subgroup for one in found.changed} == {"site=b"}
    assert found.unit == "R²"


def test_a_best_set_that_cannot_be_told_from_the_former_is_not_called_better():
    runs = [run(table(seed, n_rows=150), size=2) for seed in (0, 1)]
    for one in compare_selections(*runs).subgroups:
        if set(one.first_best) != set(one.second_best):
            apart = runs[1].difference(one.subgroup, one.second_best, one.first_best).low > 1e-12
            assert one.told_apart == apart


def test_other_classes_are_said_and_another_target_is_refused(before):
    other = {name: values for name, values in table(0).items() if name != "y"}
    with pytest.raises(MisfeatError, match="about 'y', the second about 'died'"):
        compare_selections(before, run({**other, "died": table(0)["y"]}, "died"))
    other = table(1)
    other["y"] = np.where(other["w"] == 0, 2, other["y"])
    found = compare_selections(before, run(other))
    assert any("other classes in the second run: 0, 1 and 2" in note for note in found.notes)
    assert np.isnan(found.changes[0].second_score)


def test_what_only_one_run_has_is_named_and_left_out(before):
    other = table(1)
    other["site"] = np.where(other["site"] == "c", "d", other["site"])
    found = compare_selections(before, run(other))
    assert "Subgroups of the second run only: site=d." in found.notes
    assert [one.subgroup for one in found.subgroups] == ["site=a", "site=b"]
    other = table(1)
    other["x2"] = other.pop("x")
    found = compare_selections(before, run(other))
    assert any("Features of the first run only: x;" in note for note in found.notes)
    assert {name for one in found.changes for name in one.features} <= {"z", "w"}
    other = {**table(1), "w": np.full(1800, np.nan)}
    with pytest.warns(MisfeatWarning, match="missing in every subgroup"):
        second = run(other)
    found = compare_selections(before, second)
    assert any("Features of the first run only: w" in note for note in found.notes)
    assert not any("Coded otherwise" in note for note in found.notes)


def test_frames_come_in_the_library_of_the_first_run():
    data = [make_cohorts(2, 300, 3, hide=0.0, random_state=seed) for seed in (0, 1)]
    runs = [
        SubgroupSelector("cohort", size=1).fit(pl.DataFrame(one.columns), "target") for one in data
    ]
    found = compare_selections(*(one.selection_ for one in runs))
    frame, subgroups = found.to_frame(), found.subgroups_to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert tuple(frame.columns) == tuple(Change.__dataclass_fields__)
    assert tuple(subgroups.columns) == tuple(SubgroupChange.__dataclass_fields__)
    assert len(frame) == sum(subgroups["sets"])
    assert frame["changed"].sum() == len(found.changed)


def share_of(share, n_rows=500.0, spread=0.2, chance=0.0, freedom=2.0):
    sampled = SampledShare(share, n_rows, spread, chance, freedom)
    return ExplainedShare(share, sampled, float(np.sqrt(spread / n_rows + chance)), RECORDED)


def test_the_error_of_a_difference_is_normal_and_bounds_agree_with_p_values():
    found, p_value = difference_of(share_of(0.02), share_of(0.08))
    deviation = np.sqrt(2 * 0.2 / 500)
    assert found.high - found.value == pytest.approx(stats.norm.ppf(0.95) * deviation)
    assert p_value == pytest.approx(2 * stats.norm.sf(0.06 / deviation), rel=1e-4)
    for second in np.linspace(0.02, 0.12, 30):
        shares = share_of(0.02, chance=1e-5), share_of(second, chance=1e-5)
        found, p_value = difference_of(*shares, 0.9, among=7)
        assert (found.low > 0) == (p_value * 7 < 0.1)


def test_the_tails_of_chance_are_as_heavy_as_those_of_a_chi_square():
    n_rows, rng = 300, np.random.default_rng(0)
    chance = 1 / (2 * n_rows**2)
    drawn = (rng.chisquare(1, (10_000, 2)) - 1) / (2 * n_rows)
    p_values = [
        difference_of(*(share_of(share, n_rows, 0.0, chance, 1.0) for share in pair))[1]
        for pair in drawn
    ]
    for level in (0.1, 0.01):
        assert np.mean(np.array(p_values) <= level) <= 1.4 * level


def test_a_difference_is_no_surer_than_its_runs_and_shares_stay_within_bounds():
    found, _ = difference_of(share_of(0.0, 50.0, 0.0), share_of(0.1, 5000.0, 0.3))
    assert found.high - found.value >= stats.norm.ppf(0.95) * np.sqrt(0.3 * 0.95 / 50)
    assert difference_of(share_of(0.0, spread=0.0), share_of(0.0, spread=0.0))[1] == 1.0
    for share in (0.0, 0.01, 0.99, 1.0):
        value, low, high = share_of(share, 20.0).interval(0.9)
        assert 0 <= low <= value <= high <= 1


@pytest.fixture(scope="module")
def gappy():
    data = make_cohorts(3, 400, 5, hide=0.3, random_state=0)
    return SubgroupSelector(data.groups, size=2).fit(data.columns, data.target).selection_


def test_what_was_not_recorded_is_as_sure_as_its_interval_is_wide(gappy):
    cohort, feature = (int(one[0]) for one in np.nonzero(gappy.missing))
    subgroup, name = gappy.cohorts.names[cohort], gappy.feature_names[feature]
    found = explained_share(gappy, subgroup, [name])
    assert (found.source, found.sampled) == ("predicted", None)
    scores, whole = gappy.completed(1), gappy.set_scores.measure.whole[cohort]
    assert found.share == pytest.approx(scores.score[cohort, feature] / whole)
    reach = max(
        scores.high[cohort, feature] - scores.score[cohort, feature],
        scores.score[cohort, feature] - scores.low[cohort, feature],
    )
    assert found.interval(0.9).high == pytest.approx(min(found.share + reach / whole, 1.0))


def test_scores_of_sums_of_products_are_adjusted_for_chance(rng):
    a, b = rng.normal(size=(2, 200))
    table = {"a": a, "b": b, "y": a + rng.normal(size=200)}
    found = SubgroupSelector(size=1, measure="r2").fit(table, "y").selection_
    share = explained_share(found, "all rows", ["a"])
    plain = np.corrcoef(a, table["y"])[0, 1] ** 2
    assert share.share == pytest.approx(1 - (1 - plain) * 199 / 198)
    assert share.source == RECORDED


def test_deviations_of_r2_are_those_of_tables_drawn_anew():
    found = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        a = rng.normal(size=150)
        table = {"a": a, "y": 0.5 * a + rng.normal(size=150)}
        run = SubgroupSelector(size=1, measure="r2", estimate="above_chance").fit(table, "y")
        found.append(explained_share(run.selection_, "all rows", ["a"]))
    said = np.sqrt(np.mean([one.deviation**2 for one in found]))
    assert 0.8 < said / np.std([one.share for one in found]) < 1.25


LINE = Change(
    "site=b", ("mri",), ALONE, 0.03, 0.01, 0.05, 0.12, 0.08, 0.16, 0.09, 0.04, 0.14, 0.001, True,
    0.02, 0.08, "recorded",
)  # fmt: skip
QUIET = SubgroupChange(
    "site=a", 100, 100, 5, 0, 0.8, 1.0, ("mri",), ("mri",), False, Message("quiet")
)
LOUD = replace(QUIET, subgroup="site=b", changed=1, p_value=0.001, sentence=Message("loud"))


PAIR = replace(LINE, features=("age", "mri"), asked=BEST_OF_FIRST)


def test_changes_are_told_with_both_intervals_the_clearest_single_features_first():
    assert changes_in_words([LINE]).endswith(") of the uncertainty instead of 3 % (1–5 %)")
    assert changes_in_words([PAIR]).startswith("age and mri explain 12 % (8–16 %) of")
    predicted = replace(LINE, source="predicted")
    assert changes_in_words([predicted]).startswith("mri (predicted) explains")
    clear = replace(LINE, features=("age",), p_value=1e-5)
    said = changes_in_words([LINE, replace(PAIR, p_value=1e-9), clear])
    assert (said[:12], said.count("of the uncertainty")) == ("age explains", 1)
    assert "age and mri" not in said
    many = [replace(LINE, features=(f"f{i}",), p_value=i / 1000) for i in range(6)]
    said = changes_in_words(many)
    assert said.endswith("and 3 more features changed")
    assert "f3" not in said


def test_best_sets_are_told_with_whether_either_explains_more():
    other = replace(QUIET, second_best=("age",))
    assert subgroup_in_words(other, []).endswith(
        ", before it was mri, but there is no evidence that either explains more."
    )
    assert subgroup_in_words(replace(other, told_apart=True), []).endswith(
        "; age explains most, before it was mri."
    )


def test_the_whole_is_told_in_one_sentence():
    others = [replace(QUIET, subgroup=f"site={name}") for name in "acd"]
    assert summary_of([*others, LOUD], [LINE]) == (
        "There is no evidence of a change in 3 of 4 subgroups; in site=b, mri explains "
        "12 % (8–16 %) of the uncertainty instead of 3 % (1–5 %)."
    )
    assert "no evidence of a change in any of 3 subgroups" in summary_of(others, [])
    assert summary_of([LOUD, replace(LOUD, subgroup="site=c", p_value=0.01)], [LINE]) == (
        "In site=b, mri explains 12 % (8–16 %) of the uncertainty instead of 3 % (1–5 %), "
        "the clearest of 2 such subgroups."
    )


def test_sentences_claim_no_more_than_is_known():
    said = subgroup_in_words(LOUD, [LINE], among=8)
    assert "(1–5 %), which chance may do in one of 8 subgroups; mri" in said
    said = subgroup_in_words(QUIET, [], among=8)
    assert said.startswith("In site=a, there is no evidence of a change (p = 0.80); mri")
    assert summary_of([LOUD], [LINE]) == "loud"
    assert summary_of([replace(QUIET, sets=0)], []) == "No subgroup could be compared."
    assert points_in_words(-0.02, -0.0399, -0.0001) == "-2.00 (-3.99 to -0.01)"
    assert points_in_words(0.02, -0.01, 0.05) == "+2 (-1 to +5)"
