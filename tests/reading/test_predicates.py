from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.reading.coders import Predicate

ROWS = {
    "age": np.array([30, 50, 70, 90]),
    "sex": np.array(["F", "M", "F", "M"], dtype=object),
    "body mass": np.array([20.0, 31.0, 28.0, 33.0]),
}


def holds(text: str) -> list[bool]:
    return Predicate(text).evaluate(ROWS.__getitem__).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age > 50", [False, False, True, True]),
        ("50 <= age < 90", [False, True, True, False]),
        ("age != 50 and sex == 'F'", [True, False, True, False]),
        ("age < 40 or not sex == 'F'", [True, True, False, True]),
        ("sex in ['M', 'X'] and age > 60", [False, False, False, True]),
        ("age not in (30, 90)", [False, True, True, False]),
        ("`body mass` >= 30", [False, True, False, True]),
        ("age > -1", [True, True, True, True]),
    ],
)
def test_predicates_mean_what_they_say(text, expected):
    assert holds(text) == expected


def test_columns_and_constants_are_found():
    predicate = Predicate("`body mass` > 30 and age in [1, 2]")
    assert predicate.columns == ("body mass", "age")
    assert predicate.comparisons == (("body mass", 30), ("age", 1), ("age", 2))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "age >",
        "age",
        "1 < 2",
        "age + 1 > 2",
        "__import__('os').system('true')",
        "age.__class__ == 1",
        "age is None",
        "age in []",
        "age in [sex]",
        "age in sex",
        "age == [1]",
        "lambda: age > 1",
        "age > 1 if sex == 'F' else age > 2",
    ],
)
def test_anything_but_comparisons_is_refused(text):
    with pytest.raises(MisfeatError, match="cannot be used"):
        _ = Predicate(text).columns
