import datetime as dt

import numpy as np
import pytest

from misfeat import MisfeatWarning, SubgroupSelector, datasets
from misfeat.answers.caution_checks import list_cautions
from misfeat.cohorts import Coding, build_cohorts


def test_words_for_missing_and_spellings_that_are_alike_are_said_once_a_column():
    rng = np.random.default_rng(1)
    table = {
        "job": rng.choice(["?", "cook", "nurse"], 300),
        "sign": rng.choice(["+", "-"], 300),
        "site": rng.choice(["A", "A ", "b", "unknown"], 300),
        "y": rng.choice(["yes", "Yes", "no"], 300),
    }
    with pytest.warns(MisfeatWarning) as warned:
        selection = SubgroupSelector("site", size=1).fit(table, "y").selection_
    said = [str(one.message) for one in warned if "differ in case" in str(one.message)]
    assert [text[: text.index(", which")] for text in said] == [
        "Column 'site' holds 'A', 'A '",
        "Column 'y' holds 'Yes', 'yes'",
    ]
    (found,) = (one for one in list_cautions(selection) if one.kind == "code for missing")
    assert str(found.words) == (
        "2 columns hold values that look like codes for missing ones: 'job' ('?') and 'site' "
        "('unknown'). Where it stands for missing, say so, as in missing_values={'job': ['?']}."
    )


def test_codes_for_missing_that_do_not_occur_are_said():
    values = [["low", "high", ""], ["1,5", "-9,0", "2,5"], [1, 2, 3]]
    table = {name: column * 20 for name, column in zip("abc", values, strict=True)}
    table["y"] = [0, 1] * 30
    codes = {"a": [9], "b": [-9], "c": [99]}
    notes = build_cohorts(table, "y", coding=Coding(missing_values=codes)).notes
    assert [note for note in notes if "no row" in note] == [
        "missing_values={'a': [9]}: no row of the column holds that, but there are high, low.",
        "missing_values={'c': [99]}: no row of the column holds that, but there are 1, 2, 3.",
    ]


ROWS = 300


def looks(column, name="x", **coding):
    values = list(column)
    cohorts = build_cohorts(
        {name: values, "y": [n % 2 for n in range(len(values))]}, "y", coding=Coding(**coding)
    )
    (found,) = [audit for audit in cohorts.columns if audit.column == name]
    return found.looks_like if found.role == "feature" else found.role


def test_identifiers_that_are_coded_all_the_same(rng):
    visits = rng.integers(1, ROWS // 2, ROWS)
    assert looks(visits) == "identifier"
    assert looks(range(ROWS), bins={"x": 5}) == "identifier"
    assert looks([f"p{n // 2}" for n in range(ROWS)]) == "identifier"


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
@pytest.mark.parametrize("name", ["patient_id", "caseid", "pid", "USUBJID", "patientId", "fluid"])
def test_columns_called_identifiers_are_left_out_and_offered_as_clusters(rng, name):
    numbers, called = rng.integers(1, 10**6, 60).tolist() * 5, name != "fluid"
    table = {"x": [n % 3 for n in range(300)], "y": [n % 2 for n in range(300)]}
    for values in (numbers, [f"p{number}" for number in numbers]):
        told = "".join(build_cohorts(table | {name: values}, "y").notes)
        assert (f"{name!r} is left out" in told) == called
        assert (f"{name!r} has 5.0 rows a value. If these are rows of one" in told) == called
        clustered = build_cohorts(table | {name: values}, "y", design={"cluster": name})
        assert "rows a value" not in "".join(clustered.notes)
    assert looks(numbers, name=name, bins={name: 5}) == ("identifier" if called else "")


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
    assert looks(rng.integers(300, 850, 4 * ROWS)) == ""
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
