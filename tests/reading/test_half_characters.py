"""Halves of characters (lone surrogates) are refused wherever they come in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.cohorts import build_cohorts

HALF = "a\ud800"


@pytest.fixture(params=["arrays", "pandas"])
def hold(request):
    def objects(table):
        if request.param == "arrays":
            return {name: np.array(values) for name, values in table.items()}
        # pandas 3 would make texts of PyArrow of names and values, which hold no such text.
        frame = pd.DataFrame({i: pd.Series(v, dtype=object) for i, v in enumerate(table.values())})
        return frame.set_axis(pd.Index(list(table), dtype=object), axis=1)

    return objects


@pytest.mark.parametrize("place", ["x", "y"])
def test_names_are_refused(hold, place):
    table = {HALF if name == place else name: [0, 1] * 10 for name in ("x", "y")}
    with pytest.raises(MisfeatError, match=r"column 'a\\ud800' holds half a character"):
        build_cohorts(hold(table), HALF if place == "y" else "y")


@pytest.mark.parametrize("place", ["x", "g", "y"])
def test_values_are_refused_by_their_column(hold, place):
    table = {name: ["b", HALF if name == place else "c"] * 10 for name in ("x", "g", "y")}
    with pytest.raises(MisfeatError, match=rf"Column '{place}' holds the text 'a\\ud800'"):
        build_cohorts(hold(table), "y", groups="g")


@pytest.mark.parametrize(
    "asked",
    [
        {"groups": {HALF: "x > 0"}},
        {"groups": {"g": {"b": HALF}}},
        {"groups": {"some": f"g == '{HALF}'"}},
        {"groups": HALF},
        {"blocks": {HALF: ["x", "z"]}},
        {"include": [HALF]},
    ],
)
def test_names_that_a_user_makes_up_are_refused(asked):
    table = {"x": [0, 1] * 10, "z": [0, 0, 1, 1] * 5, "g": ["b", "c"] * 10, "y": [0, 1, 1, 0] * 5}
    with pytest.raises(MisfeatError) as caught:
        SubgroupSelector(size=1, **asked).fit(table, "y")
    assert str(caught.value).isprintable()
