"""Features that say the same twice, and numbers that follow from others."""

import numpy as np

from misfeat.answers.redundant_features import derived_numbers, determined_pairs
from misfeat.cohorts import build_cohorts

N_ROWS = 600


def pairs_of(table):
    cohorts = build_cohorts({**table, "y": np.arange(len(table["a"])) % 2}, "y")
    return [
        (cohorts.features[one], cohorts.features[other], mutual)
        for one, other, mutual in determined_pairs(cohorts)
    ]


def test_a_recoded_copy_and_another_unit_are_duplicates(rng):
    a = rng.normal(170, 10, N_ROWS)
    code = rng.integers(0, 4, N_ROWS)
    table = {"a": a, "inches": a / 2.54, "c": code, "text": np.array(list("zyxw"))[code]}
    assert pairs_of(table) == [("a", "inches", True), ("c", "text", True)]


def test_which_determines_which_is_told(rng):
    fine = rng.integers(0, 6, N_ROWS)
    table = {"a": fine // 3, "fine": fine, "other": rng.integers(0, 6, N_ROWS)}
    assert pairs_of(table) == [("fine", "a", False)]


def test_a_few_errors_do_not_hide_a_duplicate(rng):
    a = rng.integers(0, 5, 5000)
    copy = np.where(rng.random(5000) < 0.005, rng.integers(0, 5, 5000), a)
    often = np.where(rng.random(5000) < 0.1, rng.integers(0, 5, 5000), a)
    assert pairs_of({"a": a, "copy": copy, "often": often}) == [("a", "copy", True)]


def test_gaps_do_not_hide_a_duplicate_and_are_none(rng):
    a = rng.integers(0, 4, N_ROWS).astype(float)
    gaps = rng.random(N_ROWS) < 0.3
    other = np.where(gaps, np.nan, rng.integers(0, 4, N_ROWS))
    panel = np.where(gaps, np.nan, rng.integers(0, 4, N_ROWS))
    table = {"a": a, "copy": np.where(gaps, np.nan, a), "other": other, "panel": panel}
    assert pairs_of(table) == [("a", "copy", True)]


def test_many_values_in_few_rows_determine_nothing(rng):
    table = {"a": rng.permutation(40) // 5, "b": rng.integers(0, 2, 40)}
    assert pairs_of(table) == []
    assert pairs_of({"a": [0, 1] * 5, "b": [1, 0] * 5}) == []


def test_numbers_made_from_two_others_are_named_with_what_they_are_made_from(rng):
    a, b, other = rng.normal(size=(3, 2000)) + 5
    measured = a + b + rng.normal(0, 1.5, 2000)  # goes with both, and says more
    table = {"a": a, "b": b, "half": (a + b) / 2, "measured": measured, "other": other}
    cohorts = build_cohorts({**table, "y": np.arange(2000) % 2}, "y")
    (found,) = derived_numbers(cohorts)
    assert found.columns == ("half", "a", "b")
    assert found.remedy == "Leave it out: exclude=['half']."
    gaps = np.where(rng.random(2000) < 0.2, np.nan, a)
    for ratio in (a / b, np.where(np.isnan(gaps), np.nan, a - b)):
        cohorts = build_cohorts({"a": gaps, "b": b, "made": ratio, "y": np.arange(2000) % 2}, "y")
        assert len(list(derived_numbers(cohorts))) == 1
