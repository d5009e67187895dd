"""Values that look like codes for missing values."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import Coding
from misfeat.cohorts import build_cohorts
from misfeat.cohorts.column_profiles import profile_column, suspects
from misfeat.reading.inputs import open_columns
from misfeat.reading.values import MissingCodes

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
UNKNOWN = {
    "adult": ["workclass", "occupation", "native-country"],
    "diabetes130": [
        "race",
        "weight",
        "payer_code",
        "medical_specialty",
        "diag_1",
        "diag_2",
        "diag_3",
    ],
}


def suspected(values, codes=None):
    table = open_columns({"x": values}, MissingCodes.parse(codes))
    return suspects(profile_column(table, "x", MissingCodes.parse(codes), len(values)))


def test_codes_beside_values_are_suspected():
    for others, codes in CODED:
        values, why = suspected(others + codes * 25)
        assert values == tuple(sorted(codes))
        low, high = (f"{value:g}" for value in (min(others), max(others)))
        assert f" in {25 * len(codes)} rows, and from {low} to " in why
        if max(others) < 1000:
            assert why.endswith(f" to {high} in all others")
        assert suspected(others + codes * 25, codes) == ((), "")


@pytest.mark.parametrize("holder", [str, dt.date.fromisoformat])
def test_dates_written_for_none_are_suspected(holder):
    days = [str(dt.date(2015, 1, 1) + dt.timedelta(days=n % 300)) for n in range(600)]
    for code in ("1900-01-01", "9999-12-31", "1970-01-01"):
        column = [*map(holder, [*days, *[code] * 9])]
        why = f"{code} in 9 rows, and from 2015-01-01 to 2015-10-27 in all others"
        assert suspected(column) == ((code,), why)
        assert suspected([*column[:602], *[holder("2014-12-31")] * 9]) == ((), "")
        coding = Coding(missing_values={"x": code})
        cohorts = build_cohorts({"x": column, "y": [0, 1, 1] * 203}, "y", coding=coding)
        assert cohorts.columns[0].missing == 9
    beyond = np.array([-(10**15), 0, 1, 2, 0, 0, 0], dtype="datetime64[ms]")  # years
    assert suspected(beyond) == ((), "")


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


@pytest.mark.parametrize("name", ["adult", "attrition", "diabetes130", "loan", "mobile"])
def test_no_other_real_table_is_suspected_of_anything(data_folder, name):
    frame = pd.read_csv(data_folder / f"{name}.csv.gz", keep_default_na=False, low_memory=False)
    table = open_columns(frame, MissingCodes())
    profiles = [profile_column(table, c, MissingCodes(), len(frame)) for c in table.names]
    found = {p.column: suspects(p)[0] for p in profiles if suspects(p)[0]}
    assert found == dict.fromkeys(UNKNOWN.get(name, []), ("?",))
