"""What may mislead: what is pointed out, in which words, and what is kept of it in files."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from misfeat import Coding, Selection, SubgroupSelector, fit_steps
from misfeat.answers.caution import SEVERITIES, Caution
from misfeat.answers.caution_checks import left_out, list_cautions
from misfeat.answers.subgroup_significance import significance_tests
from misfeat.cli.errors import in_options
from tests.estimation.generated import wide_columns


@pytest.fixture(scope="module")
def heart(heart_path):
    return pd.read_csv(heart_path)


def cautions(table, target, **settings):
    return [one.words for one in caution_list(table, target, **settings)]


def caution_list(table, target, **settings):
    return list_cautions(SubgroupSelector(**settings).fit(table, target).selection_)


def test_a_value_that_may_stand_for_missing_is_pointed_out(heart):
    cautioned = caution_list(heart, "num", groups="site", size=2)
    (found,) = [one for one in cautioned if "chol" in one.columns]
    assert found.sentence == (
        "Feature 'chol' is 0 in 172 rows, and from 85 to 603 in all others: that looks like a code "
        "for missing values."
    )
    assert found.remedy == "If it is one, say so: missing_values={'chol': [0]}."
    assert in_options(found.remedy).endswith("say so: --missing 'chol=0'.")
    coding = Coding(missing_values={"chol": [0]})
    coded = cautions(heart, "num", groups="site", size=2, coding=coding)
    assert not [one for one in coded if "chol" in one]


def test_a_single_value_in_one_subgroup_is_pointed_out(heart):
    table = heart.assign(chol=heart["chol"].replace(0, 90))
    cautioned = caution_list(table, "num", groups="site", size=1)
    (found,) = [one for one in cautioned if "chol" in one.columns]
    assert found.sentence.startswith("Feature 'chol' has a single value in 'site=switzerland'")
    assert found.remedy.endswith("say so: missing_values={'chol': ...}.")
    assert found.subgroups == ("site=switzerland",)
    (setting,) = found.remedy.settings
    assert (setting.parameter, setting.column) == ("missing_values", "chol")


def test_a_single_value_in_a_handful_of_rows_is_no_surprise(heart):
    with pytest.warns(UserWarning, match="has a single value"):
        found = cautions(heart, "num", groups="age", size=1, coding=Coding(min_rows=1))
    assert not [one for one in found if one.startswith("Feature") and "'age=28'" in one]
    (single,) = [one for one in found if one.startswith("The target 'num' has a single value")]
    assert "'age=28'" in single
    assert not [one for one in found if one.startswith("No set tells") and "'age=28'" in one]


def test_few_rows_for_many_combinations_are_pointed_out(rng):
    table = {name: rng.integers(0, 5, 120) for name in "abc"}
    table |= {"site": np.repeat(["x", "y"], 60), "y": rng.integers(0, 2, 120)}
    for size, pointed_out in ((3, True), (1, False)):
        found = cautions(table, "y", groups="site", size=size, estimate="sample")
        assert any(one.startswith("Few rows in 'site=x'") for one in found) is pointed_out


def test_sets_that_tell_nothing_are_pointed_out():
    rows = [(site, x, y) for site in "ab" for x in (0, 1) for y in (0, 1)] * 30
    table = {
        "site": [site for site, _, _ in rows],
        "x": [x for _, x, _ in rows],
        "y": [x if site == "a" else y for site, x, y in rows],
    }
    found = caution_list(table, "y", groups="site", size=1, estimate="sample")
    by_kind = {one.kind: one for one in found}
    assert set(by_kind) == {"leak", "explains little"}
    assert by_kind["leak"].subgroups == ("site=a",)
    assert by_kind["explains little"].words == (
        "No set explains more than 2 % of the target 'y' in 'site=b'; the order of sets there "
        "may be chance."
    )
    by_correlation = cautions(table, "y", groups="site", size=1, measure="r2", estimate="sample")
    assert len(by_correlation) == 2


def test_few_subgroups_to_pool_are_pointed_out(rng):
    table = {"x": rng.integers(0, 3, 300), "y": rng.integers(0, 2, 300)}
    table |= {"four": np.arange(300) % 4, "two": np.arange(300) % 2}
    for groups, words in (
        ("four", []),
        ("two", ["With 2 subgroups one learns little"]),
        (None, ["There is one subgroup only"]),
    ):
        for estimate, expected in (("population", words), ("above_chance", [])):
            found = caution_list(table, "y", groups=groups, size=1, estimate=estimate)
            said = [one.words for one in found if one.kind == "few subgroups"]
            assert [one[: len(word)] for one, word in zip(said, expected, strict=True)] == expected


def test_few_cases_are_pointed_out_where_there_are_two_classes():
    table = {"a": [0, 1] * 100, "b": [0, 0, 1, 1] * 50}
    rare, common, many = [1] * 20 + [0] * 180, [0, 1] * 100, [0, 1, 2, 2] * 50
    for y in (common, many):
        found = cautions(table, y, size=1)
        assert not [one for one in found if one.startswith("Few rows of the rarer class")]
    (found,) = [one for one in cautions(table, rare, size=1) if one.startswith("Few rows of the")]
    assert "20 at the fewest, in 'all rows'; take" in found


def test_the_worst_comes_first_and_a_frame_says_the_same(heart):
    table = heart.assign(copy=heart["num"] * 2)
    selector = SubgroupSelector("site", size=1).fit(table, "num")
    found = list_cautions(selector.selection_)
    assert found[0].kind == "leak"
    places = [SEVERITIES.index(one.severity) for one in found]
    assert places == sorted(places)
    frame = selector.cautions()
    assert list(frame) == list(Caution.__dataclass_fields__)
    assert frame["sentence"].tolist() == [str(one.sentence) for one in found]
    assert frame["columns"].tolist() == [one.columns for one in found]


def test_subgroups_with_too_few_rows_are_kept_and_pointed_out():
    rows = {"site": ["a"] * 12 + ["b"] * 12, "x": [0, 1] * 12, "y": [0, 0, 1, 1] * 6}
    found = caution_list(rows, "y", groups="site", size=1)
    (few,) = [one for one in found if one.kind == "few rows"]
    assert few.subgroups == ("site=a", "site=b")
    assert few.sentence.startswith("Fewer than 18 rows in 'site=a', 'site=b'")


def unlike_table(beta_of_small, n_small=120, seed=0):
    rng = np.random.default_rng(seed)
    parts = []
    for site, n_rows in (("a", 1200), ("b", 1200), ("c", 1200), ("small", n_small)):
        features = rng.integers(0, 3, (n_rows, 6))
        beta = beta_of_small if site == "small" else [1.2, 0.8, 0.5, 0.3, 0.0, 0.0]
        odds = 1 / (1 + np.exp(-(features - 1) @ np.array(beta)))
        part = pd.DataFrame(features, columns=[f"f{i}" for i in range(6)])
        parts.append(part.assign(site=site, y=(rng.random(n_rows) < odds).astype(int)))
    return pd.concat(parts)


def test_a_small_subgroup_is_named_where_it_contradicts_the_others():
    selector = SubgroupSelector("site", size=2).fit(unlike_table([0, 0, 0, 0, 2.2, 0]), "y")
    (caution,) = (one for one in list_cautions(selector.selection_) if one.kind == "unlike")
    assert caution.subgroups == ("site=small",)
    assert caution.columns == ("f4",)
    assert "the others lead to expect" in caution.words
    selector = SubgroupSelector("site", size=2).fit(unlike_table([1.2, 0.8, 0.5, 0.3, 0, 0]), "y")
    assert not [one for one in list_cautions(selector.selection_) if one.kind == "unlike"]


@pytest.mark.parametrize(("beta", "named"), [(0.0, True), (1.2, False)])
def test_few_cases_that_point_elsewhere_are_named_with_both_numbers(beta, named, rng):
    parts = []
    for site in ["a", "b", "c", "d", "e", "f", "dc"]:
        n_rows, base, slope = (120, -2.0, beta) if site == "dc" else (600, 0.0, 1.2)
        x = rng.integers(0, 5, (n_rows, 3))
        odds = 1 / (1 + np.exp(-(base + (x - 2) @ [slope, 0.9, 0.6])))
        part = pd.DataFrame(x, columns=["x", "v", "w"]).assign(site=site)
        parts.append(part.assign(y=(rng.random(n_rows) < odds).astype(int)))
    selector = SubgroupSelector("site", size=1).fit(pd.concat(parts), "y")
    found = [one for one in list_cautions(selector.selection_) if one.kind == "unlike"]
    assert [one.subgroups for one in found] == [("site=dc",)] * named
    for one in found:
        assert re.search("'x' explains . % of .* suggest .. % .*–.. %", one.sentence)
        assert in_options(one.remedy).count("--estimate 'above_chance'") == 1


@pytest.fixture(scope="module")
def shortlisted():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit_steps, "MOST_FEATURES", 10)
        made = SubgroupSelector("site", size=2, k=2)
        return made.fit(pd.DataFrame(wide_columns(n_rows=600)), "y")


def test_the_caution_reaches_the_terminal_and_the_report(shortlisted, capsys):
    shortlisted.show()
    assert "features were left out" in " ".join(capsys.readouterr().out.split())
    assert "features were left out" in shortlisted.report(validate=False).html()


def test_the_caution_says_what_was_looked_at_and_what_it_cannot_know(shortlisted):
    (caution,) = (one for one in list_cautions(shortlisted.selection_) if one.kind == "shortlist")
    assert caution.words.startswith("14 of 24 features were left out")
    assert "in one of 276 pairs, in 299 rows" in caution.words
    assert caution.severity == "weakens"
    found = shortlisted.selection_
    few = replace(found.shortlist, outstanding=3)
    (caution,) = left_out(few, found.cohorts)
    assert "3 more would have explained something" in caution.words


def test_a_loaded_selection_answers_as_the_saved_one(shortlisted, tmp_path):
    shortlisted.save(tmp_path / "run")
    again = SubgroupSelector.load(tmp_path / "run")
    pd.testing.assert_frame_equal(again.significance(), shortlisted.significance())
    pd.testing.assert_frame_equal(again.top_k(), shortlisted.top_k())
    pd.testing.assert_frame_equal(again.cautions(), shortlisted.cautions())


def test_tests_see_only_rows_that_were_held_back(shortlisted):
    """The target of rows that were looked at may be anything."""
    found = shortlisted.selection_
    looked = found.shortlist.held_back == 0
    codes = found.cohorts.target_codes
    others = replace(found.cohorts, target_codes=np.where(looked, 1 - codes, codes))
    other = Selection(others, found.set_scores, found.options, shortlist=found.shortlist)
    tests = [significance_tests(one, permutations=49).subgroups for one in (found, other)]
    assert [one.p_value for one in tests[0]] == [one.p_value for one in tests[1]]


def test_a_row_that_carries_much_of_a_class_is_pointed_out(rng):
    table = {"g": np.arange(800) % 2, "a": rng.integers(0, 3, 800), "y": rng.integers(0, 2, 800)}
    weights = np.ones(800)
    for heavy in (1.0, 50.0):
        weights[1] = heavy
        selection = SubgroupSelector("g", size=1).fit(table, "y", sample_weight=weights).selection_
        found = [one for one in list_cautions(selection) if one.kind == "heavy row"]
        assert [one.subgroups for one in found] == [("g=1",)] * (heavy > 1)
        assert not found or "up to 2" in found[0].sentence


def test_a_time_beside_the_event_that_ends_it_is_pointed_out(rng):
    table = {"rfstime": rng.exponential(size=300), "a": rng.integers(0, 3, 300)}
    event = rng.integers(0, 2, 300)
    for name, pointed in (("status", True), ("DEATH_EVENT", True), ("grade", False)):
        found = caution_list({**table, name: event}, name, size=1)
        assert [one.columns for one in found if one.kind == "follow-up"] == [("rfstime",)] * pointed
    timed = SubgroupSelector(size=1).fit({**table, "status": event}, ("rfstime", "status"))
    assert not [one for one in list_cautions(timed.selection_) if "follow-up" in one.kind]
    other = {"dtime": table["rfstime"] + rng.exponential(size=300), "death": event}
    timed.fit({**table, "recur": 1 - event, **other}, ("rfstime", "recur"))
    found = [one for one in list_cautions(timed.selection_) if one.kind == "other follow-up"]
    assert [one.columns for one in found] == [("dtime",), ("death",)]
    found = caution_list({**table, "death": event, "dtime": table["rfstime"]}, "death", size=1)
    assert sum("if that is the event" in one.remedy for one in found) == 2


def test_a_class_of_one_row_may_be_a_typing_error(rng):
    table, y = {"a": rng.integers(0, 3, 200)}, np.array(["yes", "no"] * 99 + ["yess", "no"])
    (found,) = [one for one in caution_list(table | {"y": y}, "y", size=1) if "rare" in one.kind]
    assert "'yess' in 1 row only" in found.sentence
