from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from misfeat import Columns, SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.auto_groups import MOST_SUBGROUPS
from misfeat.datasets import make_cohorts


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
    (note,) = (note for note in cohorts.notes if note.startswith("Subgroups are told apart"))
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


def test_a_feature_that_is_missing_with_another_does_not_tell_subgroups_apart():
    rng = np.random.default_rng(0)
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


def test_there_are_few_subgroups():
    rng = np.random.default_rng(0)
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
