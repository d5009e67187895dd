from __future__ import annotations

import numpy as np
import pytest

from misfeat.answers.column_cautions import MOST_NAMED, determined_pairs, duplicates
from misfeat.cohorts import build_cohorts

ROWS = 600


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def pairs_of(table):
    cohorts = build_cohorts({**table, "y": np.arange(len(table["a"])) % 2}, "y")
    return [
        (cohorts.features[one], cohorts.features[other], mutual)
        for one, other, mutual in determined_pairs(cohorts)
    ]


def test_a_recoded_copy_and_another_unit_are_duplicates(rng):
    a = rng.normal(170, 10, ROWS)
    code = rng.integers(0, 4, ROWS)
    table = {"a": a, "inches": a / 2.54, "c": code, "text": np.array(list("zyxw"))[code]}
    assert pairs_of(table) == [("a", "inches", True), ("c", "text", True)]


def test_which_determines_which_is_told(rng):
    fine = rng.integers(0, 6, ROWS)
    table = {"a": fine // 3, "fine": fine, "other": rng.integers(0, 6, ROWS)}
    assert pairs_of(table) == [("fine", "a", False)]


def test_a_few_errors_do_not_hide_a_duplicate(rng):
    a = rng.integers(0, 5, 5000)
    copy = np.where(rng.random(5000) < 0.005, rng.integers(0, 5, 5000), a)
    often = np.where(rng.random(5000) < 0.1, rng.integers(0, 5, 5000), a)
    assert pairs_of({"a": a, "copy": copy, "often": often}) == [("a", "copy", True)]


def test_gaps_do_not_hide_a_duplicate_and_are_none(rng):
    a = rng.integers(0, 4, ROWS).astype(float)
    gaps = rng.random(ROWS) < 0.3
    other = np.where(gaps, np.nan, rng.integers(0, 4, ROWS))
    panel = np.where(gaps, np.nan, rng.integers(0, 4, ROWS))
    table = {"a": a, "copy": np.where(gaps, np.nan, a), "other": other, "panel": panel}
    assert pairs_of(table) == [("a", "copy", True)]


def test_many_values_in_few_rows_determine_nothing(rng):
    table = {"a": rng.permutation(40) // 5, "b": rng.integers(0, 2, 40)}
    assert pairs_of(table) == []
    assert pairs_of({"a": [0, 1] * 5, "b": [1, 0] * 5}) == []


def test_only_some_pairs_are_named_and_the_rest_is_counted(rng):
    a = rng.integers(0, 3, 100)
    table = {f"x{n}": a for n in range(5)}
    found = list(duplicates(build_cohorts({**table, "y": np.arange(100) % 2}, "y")))
    assert len(found) == MOST_NAMED + 1
    assert found[-1].sentence == "5 more pairs of features determine each other."
