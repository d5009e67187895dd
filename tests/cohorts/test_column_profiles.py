import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import MisfeatWarning, SubgroupSelector, datasets
from misfeat.answers.cautions import list_cautions
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.column_profiles import profile_column, suspects
from misfeat.reading.inputs import open_columns
from misfeat.reading.values import MissingCodes


def suspected(values, codes=None):
    table = open_columns({"x": np.asarray(values)}, MissingCodes.parse(codes))
    return suspects(profile_column(table, "x", MissingCodes.parse(codes), len(values)))


RNG = np.random.default_rng(0)
AGES = RNG.integers(18, 91, 500).tolist()
PRESSURES = RNG.normal(130, 15, 500).round().clip(80, 210).tolist()
SCALE = RNG.integers(1, 6, 500).tolist()
INCOMES = (np.exp(RNG.normal(8, 1.5, 500)).round()).tolist()
COUNTS = RNG.poisson(4, 500).tolist()


CODED = [
    *((AGES, codes) for codes in ([-9], [-1], [-99, -98], [999], [998, 999])),
    *((SCALE, codes) for codes in ([9], [8, 9], [-9], [99])),
    *((RNG.normal(15, 8, 500).round(1).tolist(), [code]) for code in (99.9, 999.9, -99.99)),
    *((PRESSURES, [0]), (PRESSURES, [9999]), (COUNTS, [-9]), (INCOMES, [-9])),
]
NOT_CODED = [
    *(AGES, PRESSURES, SCALE, INCOMES, COUNTS, [*PRESSURES, 0], [*AGES, *[99] * 2], [*COUNTS, 99]),
    *([*INCOMES, *[99999] * 20], [*SCALE, *[7] * 50, *[6] * 50], [-1, 0, 1] * 50, [0, 9] * 50),
    *([0, 250, 500, 1000] * 50, [0.0] * 400 + INCOMES, RNG.normal(size=300).tolist()),
    *(RNG.integers(-9, 10, 400).tolist(), list(range(1000)), [0.0, np.inf] * 10 + PRESSURES),
    *(["-9", "a", "b"] * 20, []),
]


def test_codes_beside_values_are_suspected():
    for others, codes in CODED:
        values, why = suspected(others + codes * 25)
        assert values == tuple(sorted(codes))
        low, high = (f"{value:g}" for value in (min(others), max(others)))
        assert f" in {25 * len(codes)} rows, and from {low} to " in why
        if max(others) < 1000:
            assert why.endswith(f" to {high} in all others")
        assert suspected(others + codes * 25, codes) == ((), "")


def test_other_values_are_not():
    assert [values for values in NOT_CODED if suspected(values) != ((), "")] == []


@given(st.lists(st.floats() | st.integers(-100, 1000), max_size=60))
def test_what_is_suspected_is_a_value_at_the_end_that_recurs(values):
    found, _ = suspected(np.array(values, dtype=float))
    kept = sorted({v for v in values if v == v})
    assert list(found) in ([], kept[: len(found)], kept[len(kept) - len(found) :])
    assert not found or sum(v in found for v in values) >= 3


def test_only_cholesterol_of_the_heart_table_is_suspected(heart_path):
    cohorts = build_cohorts(heart_path, "num", groups="site")
    found = {audit.column: audit.suspects for audit in cohorts.columns if audit.suspects}
    assert found == {"chol": (0,)}
    assert (cohorts.codes[cohorts.features.index("chol")] >= 0).any()


UNKNOWN = {
    "adult": ["workclass", "occupation", "native-country"],
    "diabetes130": ["race", "weight", "payer_code", "medical_specialty", "diag_3"],
}


@pytest.mark.parametrize("name", ["adult", "attrition", "diabetes130", "loan", "mobile"])
def test_no_other_real_table_is_suspected_of_anything(data_folder, name):
    frame = pd.read_csv(data_folder / f"{name}.csv.gz", keep_default_na=False, low_memory=False)
    table = open_columns(frame, MissingCodes())
    profiles = [profile_column(table, c, MissingCodes(), len(frame)) for c in table.names]
    found = {p.column: suspects(p)[0] for p in profiles if suspects(p)[0]}
    assert found == dict.fromkeys(UNKNOWN.get(name, []), ("?",))


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
    assert looks(rng.integers(1, 10**6, 60).tolist() * 5, name="caseid") == "identifier"


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
