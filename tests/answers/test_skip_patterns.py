import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.skip_patterns import missing_by_rule
from misfeat.cli.errors import in_options
from misfeat.cohorts import Coding, build_cohorts
from misfeat.datasets import load_heart


def survey(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    smoker, age = rng.choice(["no", "yes", "former"], n), rng.integers(18, 90, n)
    values = rng.integers(4, size=(4, n)).astype(float)
    return {
        "smoker": smoker,
        "age": age,
        "packs": np.where(smoker == "no", np.nan, values[0]),
        "years": np.where(smoker == "no", np.nan, values[1]),
        "psa": np.where(age < 40, np.nan, values[2]),
        "gaps": np.where(rng.random(n) < 0.3, np.nan, values[3]),
        "site": rng.choice(["a", "b"], n),
        "y": rng.integers(2, size=n),
    }


def rules(table, **settings):
    return list(missing_by_rule(build_cohorts(table, "y", **settings)))


@pytest.mark.parametrize("sporadic", ["category", "available"])
def test_features_asked_only_of_some_are_named_with_what_tells_them(sporadic):
    smoked, aged = rules(survey(), groups="site", coding=Coding(sporadic=sporadic))
    assert smoked.columns == ("packs", "years", "smoker")
    assert smoked.sentence.startswith(
        "Features 'packs', 'years' are missing nearly always where 'smoker' is 'no', and nearly "
        "never elsewhere"
    )
    assert smoked.remedy.endswith("too: groups='smoker'.")
    assert in_options(smoked.remedy).endswith("too: --by 'smoker'.")
    assert aged.columns == ("psa", "age")
    assert "nearly never beyond the bin next to that" in aged.sentence
    assert aged.remedy.endswith("groups='auto'.")


def test_the_cut_between_bins_is_suggested_and_leaves_nothing_to_suggest():
    (rule,) = [
        one
        for one in rules(survey(), coding=Coding(bins={"age": [39, 60]}))
        if "psa" in one.columns
    ]
    assert rule.remedy.endswith("groups={'age': [39]}.")
    assert in_options(rule.remedy).endswith("--by 'age:39'.")
    groups = ["smoker", {"age": [39]}]
    assert rules(survey(), groups=groups, coding=Coding(min_rows=1)) == []


@pytest.mark.parametrize("seed", range(10))
def test_gaps_by_chance_follow_no_rule(seed):
    rng = np.random.default_rng(seed)
    table = {f"x{i}": rng.integers(5, size=300).astype(float) for i in range(6)}
    for name in ("x0", "x1", "x2"):
        table[name][rng.random(300) < rng.uniform(0.05, 0.9)] = np.nan
    assert rules({**table, "y": rng.integers(2, size=300)}) == []


def test_features_that_are_missing_together_are_no_rule(rng):
    absent = rng.random(300) < 0.4
    panel = {f"p{i}": np.where(absent, np.nan, rng.integers(3, size=300)) for i in range(3)}
    assert rules({**panel, "y": rng.integers(2, size=300)}) == []


def test_hospitals_are_suggested_where_they_are_not_told_apart():
    columns = load_heart().columns
    (rule,) = missing_by_rule(build_cohorts(columns, "num"))
    assert rule.columns == ("ca", "site")
    assert rule.remedy.endswith("groups='site'.")
    assert not list(missing_by_rule(build_cohorts(columns, "num", groups="site")))


def test_a_selector_cautions_of_it():
    found = list_cautions(SubgroupSelector("site", size=1).fit(survey(), "y").selection_)
    assert [one.severity for one in found if one.kind == "missing by rule"] == ["note", "note"]
