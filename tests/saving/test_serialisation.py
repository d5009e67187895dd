from __future__ import annotations

import datetime as dt
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import MisfeatError
from misfeat.saving.saved_run import decoded, encoded

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.datetimes() | st.dates(),
    lambda inner: st.lists(inner, max_size=3)
    | st.tuples(inner, inner)
    | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(VALUES)
def test_values_come_back_as_they_were(value):
    text = json.dumps(encoded(value, "it"))
    back = decoded(json.loads(text))
    assert back == value
    assert type(back) is type(value)


def test_odd_values():
    assert math.isnan(decoded(encoded(float("nan"), "it")))
    assert encoded(np.int8(3), "it") == 3
    assert decoded(encoded(np.array([1.5]), "it")) == [1.5]
    assert decoded(encoded(dt.date(2020, 1, 2), "it")) == dt.date(2020, 1, 2)
    with pytest.raises(MisfeatError, match=r"groups=<object .* cannot be saved"):
        encoded(object(), "groups")
    with pytest.raises(ValueError, match="no plain data"):
        decoded({"class": "os.system"})
