import datetime as dt
import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest

from misfeat import Columns, MisfeatError, SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.auto_groups import MOST_SUBGROUPS
from misfeat.datasets import make_cohorts
from tests.cohorts.tables import table
from tests.reading.holders import HOLDERS

NAMED = [
    ({"age": [25, 40]}, ("age<=25", "25<age<=40", "age>40")),
    ({"day": [dt.date(2024, 3, 1)]}, ("day<=2024-03-01", "day>2024-03-01")),
    ({"site": {"b": "B", "*": "other"}}, ("site=B", "site=other")),
    ({"site": {"a": "ab", "b": "ab"}}, ("site=ab", "site=c")),
    (["z", {"z": [0]}], ("z=0 & z<=0", "z=1 & z>0")),
]


@pytest.mark.filterwarnings("ignore:Column 'age' is left out as an identifier")
def test_cuts_and_merged_values_make_readable_names_in_order():
    days = np.array(["2024-01-01", "2024-06-01"] * 30, dtype="datetime64[D]")
    data = table(age=np.arange(60), day=days)
    found = {}
    for groups, names in NAMED:
        found[names] = build_cohorts(data, "y", groups=groups, coding=Coding(min_rows=1))
        assert found[names].names == names
    sizes = [[cohort.size for cohort in found[names]] for _, names in NAMED[:3]]
    assert sizes == [[26, 15, 19], [30, 30], [20, 40]]
    assert "age" not in found[NAMED[0][1]].features


def test_rows_with_a_missing_group_value_form_a_subgroup_or_go_and_are_counted(caplog):
    data = table()
    data["site"][:5] = None
    caplog.set_level(logging.INFO, logger="misfeat")
    own = build_cohorts(data, "y", groups="site")
    assert own.names[-1] == "site is missing"
    assert own["site is missing"].size == 5
    assert "5 rows with a missing group value form subgroups of their own." in caplog.messages
    dropped = build_cohorts(data, "y", groups="site", coding=Coding(missing_groups="drop"))
    assert "site is missing" not in dropped.names
    assert dropped.weights.sum() == 55
    assert "5 rows with a missing group value are dropped." in caplog.messages


def test_dropping_every_subgroup_is_refused():
    with pytest.raises(MisfeatError, match="Every subgroup has fewer than min_rows=100"):
        build_cohorts(table(), "y", groups="site", coding=Coding(min_rows=100, small_groups="drop"))


def test_groups_may_be_named_in_an_array_or_an_index():
    expected = build_cohorts(table(), "y", groups="site")
    for groups in (np.array(["site"]), pd.Index(["site"]), ("site",)):
        assert build_cohorts(table(), "y", groups=groups).equals(expected)


def test_values_of_rows_are_sent_to_fit():
    site = table()["site"]
    series = pd.Series(site), pl.Series(site.tolist()), pd.DataFrame({"site": site})
    for groups in (*series, np.arange(60), np.array([["site"]])):
        with pytest.raises(MisfeatError, match=r"the subgroup of every row to fit\(X, y") as error:
            build_cohorts(table(), "y", groups=groups)
        assert len(str(error.value)) < 150


def test_what_is_named_twice_in_groups_is_refused():
    site = table()["site"]
    twice = (["site", "site"], ["z", {"site": None}, "site"], [{"x": [1]}, {"x": [1]}])
    for groups in (*twice, site, site.tolist()):
        with pytest.raises(MisfeatError, match=r"twice; name it once\.$"):
            build_cohorts(table(), "y", groups=groups)


def test_a_text_under_a_name_defines_no_subgroups():
    with pytest.raises(MisfeatError, match="defines no subgroups; use a column name"):
        build_cohorts(table(), "y", groups={"old": "x > 1"})


def test_a_group_with_too_many_values_must_be_cut():
    ids = np.repeat(np.arange(5500), 2)
    with pytest.raises(MisfeatError, match="more than 5,000 distinct values"):
        build_cohorts({"g": ids, "x": ids % 2, "y": ids % 3}, "y", groups="g")
    with pytest.raises(MisfeatError, match="a type that cannot define subgroups"):
        build_cohorts(pl.DataFrame({"g": [[1], [2]], "x": [0, 1], "y": [0, 1]}), "y", groups="g")


def visits(n=2000, seed=0):
    """A lab that one site lacks, a test of men from 40 on, and gaps by chance."""
    rng = np.random.default_rng(seed)
    site, sex = rng.choice(["a", "b", "c"], n), rng.choice(["f", "m"], n)
    age = rng.integers(18, 90, n)
    values = rng.integers(3, size=(4, n)).astype(float)
    lab = np.where(site == "b", np.nan, values[0])
    psa = np.where((sex == "f") | (age < 40), np.nan, values[1])
    gaps = np.where(rng.random(n) < 0.2, np.nan, values[2])
    columns = {"site": site, "sex": sex, "age": age, "lab": lab, "psa": psa, "gaps": gaps}
    return pl.DataFrame({**columns, "x": values[3], "y": rng.integers(2, size=n)}, nan_to_null=True)


def groups_of(cohorts):
    return {audit.column: audit.edges for audit in cohorts.columns if audit.role == "group"}


def test_columns_that_explain_what_is_missing_are_chosen_and_cut_where_it_changes():
    cohorts = build_cohorts(visits(), "y", groups="auto", coding=Coding(min_rows=1))
    assert groups_of(cohorts) == {"site": (), "sex": (), "age": (39,)}
    assert cohorts.names[:2] == ("site=a & sex=f & age<=39", "site=a & sex=f & age>39")
    (note,) = (note for note in cohorts.notes if note.startswith("Subgroups are made by"))
    assert "by site, sex and age (cut at 39), which explain " in note
    assert note.told(lambda setting: f"--{setting.parameter}").endswith("with --groups.")


def test_the_hospitals_of_the_heart_table_are_found(heart_path):
    cohorts = build_cohorts(heart_path, "num", groups="auto")
    assert groups_of(cohorts) == {"site": ()}
    assert len(cohorts) == 4


@pytest.mark.parametrize("seed", range(5))
def test_subgroups_that_features_were_hidden_from_are_found(seed):
    data = make_cohorts(4, 200, 6, hide=0.3, random_state=seed)
    cohorts = build_cohorts(data.columns, data.target, groups="auto")
    assert groups_of(cohorts) == {"cohort": ()}


@pytest.mark.parametrize("seed", range(20))
def test_gaps_by_chance_are_explained_by_nothing(seed):
    rng = np.random.default_rng(seed)
    columns = {f"x{i}": rng.normal(size=300) for i in range(6)}
    columns |= {f"t{i}": rng.choice(list("abcdefgh"), 300) for i in range(4)}
    for name in ("x0", "x1", "x2"):
        columns[name][rng.random(300) < 0.3] = np.nan
    cohorts = build_cohorts({**columns, "y": rng.integers(2, size=300)}, "y", groups="auto")
    assert cohorts.names == ("all rows",)
    assert cohorts.notes[0].startswith("No column explains where values are missing (3 features")


def test_a_table_without_gaps_is_one_subgroup():
    cohorts = build_cohorts({"x": [0, 1] * 9, "y": [0, 0, 1] * 6}, "y", groups="auto")
    assert cohorts.names == ("all rows",)
    assert cohorts.notes == ("No value is missing anywhere: all rows are one subgroup.",)


def test_a_feature_that_is_missing_with_another_does_not_tell_subgroups_apart(rng):
    absent = rng.random(400) < 0.5
    panel = {f"p{i}": np.where(absent, np.nan, rng.integers(3, size=400)) for i in range(3)}
    cohorts = build_cohorts({**panel, "y": rng.integers(2, size=400)}, "y", groups="auto")
    assert cohorts.names == ("all rows",)


def test_the_target_is_not_chosen():
    y = np.repeat([0, 1], 100)
    table = {"x": np.where(y == 0, np.nan, np.arange(200) % 3), "z": np.arange(200) % 2, "y": y}
    assert build_cohorts(table, "y", groups="auto").names == ("all rows",)


def test_a_column_of_that_name_is_meant_itself():
    table = {"auto": ["p", "q"] * 20, "x": [0, 1] * 20, "y": [0, 0, 1, 1] * 10}
    assert build_cohorts(table, "y", groups="auto").names == ("auto=p", "auto=q")


def test_there_are_few_subgroups(rng):
    n = 20_000
    columns = {f"g{i}": rng.integers(9, size=n) for i in range(3)}
    for i in range(3):
        columns[f"x{i}"] = np.where(columns[f"g{i}"] % 2 == 0, np.nan, rng.integers(2, size=n))
    cohorts = build_cohorts({**columns, "y": rng.integers(2, size=n)}, "y", groups="auto")
    assert 1 < len(cohorts) <= MOST_SUBGROUPS


def test_a_selector_knows_the_chosen_subgroups_of_other_rows(tmp_path):
    table = visits(600).to_pandas()
    selector = SubgroupSelector("auto", size=1, columns=Columns(unseen="warn")).fit(table, "y")
    selector.save(tmp_path / "run")
    for fitted in (selector, SubgroupSelector.load(tmp_path / "run")):
        assert len(fitted.transform(table[:20])) == 20
        with pytest.warns(UserWarning, match=r"not there at fit: 'site=new"):
            fitted.transform(table[:20].assign(site="new"))


def test_subgroups_come_in_it_from_every_library():
    sites = ["c10", "c9", "c1", "c100", "c2"] * 12
    ages = ["100+", "18-39", "<18"] * 20
    table = pl.DataFrame({"site": sites, "age": ages, "x": [0, 1] * 30, "y": [0] * 30 + [1] * 30})
    groups = [{"site": {"c9": "first", "c1": "c1", "c10": "c10", "c2": "c2"}}, "age"]
    for hold in HOLDERS.values():
        by_site = build_cohorts(hold(table), "y", groups="site", coding=Coding(min_rows=1)).names
        assert [name.removeprefix("site=") for name in by_site] == ["c1", "c2", "c9", "c10", "c100"]
        both = build_cohorts(hold(table), "y", groups=groups, coding=Coding(min_rows=1)).names
        assert both[:3] == tuple(f"site=first & age={age}" for age in ("<18", "18-39", "100+"))
        assert (both[3], both[-1]) == ("site=c1 & age=<18", "site=c100 & age=100+")
