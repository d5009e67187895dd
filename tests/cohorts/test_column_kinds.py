from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from misfeat import SubgroupSelector, datasets
from misfeat.answers.cautions import list_cautions
from misfeat.cohorts import Coding, build_cohorts

ROWS = 300


def looks(column, name="x", **coding):
    values = list(column)
    cohorts = build_cohorts(
        {name: values, "y": [n % 2 for n in range(len(values))]}, "y", coding=Coding(**coding)
    )
    (found,) = [audit for audit in cohorts.columns if audit.column == name]
    return found.looks_like if found.role == "feature" else found.role


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_identifiers_that_are_coded_all_the_same(rng):
    visits = rng.integers(1, ROWS // 2, ROWS)
    assert looks(visits) == "identifier"
    assert looks(range(ROWS), bins={"x": 5}) == "identifier"
    assert looks([f"p{n // 2}" for n in range(ROWS)]) == "identifier"
    assert looks(rng.integers(1, 10**6, 60).tolist() * 5, name="patient_id") == "identifier"
    assert looks(rng.integers(1, 10**6, 60).tolist() * 5, name="fluid") == ""


def test_dates_also_as_text(rng):
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(n)) for n in rng.integers(0, 60, ROWS)]
    assert looks(days) == "date"
    assert looks([day.isoformat() for day in days]) == "date"
    assert looks([day.year for day in days]) in ("", "left out")


def test_text_that_people_typed(rng):
    words = np.array(["pain", "chest", "left", "after", "walking", "none", "mild", "night"])
    typed = [" ".join(rng.choice(words, 4)) for _ in range(ROWS)]
    typed[: ROWS // 5] = ["no pain at all"] * (ROWS // 5)
    assert looks(typed) == "left out"
    assert looks(typed, read={"x": "text"}) == "free text"
    towns = rng.choice([f"town {n}" for n in range(20)], ROWS)
    assert looks(towns, read={"x": "text"}) == ""


def test_measurements_are_what_they_are(rng):
    assert looks(rng.integers(20, 80, ROWS)) == ""
    assert looks(rng.normal(size=ROWS)) == ""
    assert looks(rng.integers(500, 2000, ROWS * 2)) == ""


def test_odd_columns_and_a_cut_target_are_cautions(rng):
    table = {
        "visit": rng.integers(1, ROWS // 2, ROWS),
        "seen": [dt.date(2020, 1, 1 + int(n)) for n in rng.integers(0, 20, ROWS)],
        "y": rng.normal(size=ROWS),
    }
    cut = Coding(target="classes")
    selector = SubgroupSelector(size=1, coding=cut).fit(table, "y")
    found = {one.kind: one for one in list_cautions(selector.selection_)}
    assert found["identifier"].columns == ("visit",)
    assert found["date"].columns == ("seen",)
    assert found["binned target"].columns == ("y",)
    assert "bins={'y': ...}" in found["binned target"].remedy


def test_no_column_of_the_heart_table_is_odd():
    data = datasets.load_heart()
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    assert {audit.looks_like for audit in cohorts.columns} == {""}
