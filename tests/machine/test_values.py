"""Values are written as JSON holds them and read without loss; what is no plain data is named."""

import datetime as dt
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.machine.values import NOT_SPECIAL, NotPlainError, read, written

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda held: (
        st.lists(held, max_size=3)
        | st.tuples(held, held)
        | st.dictionaries(st.integers() | st.text(), held, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_what_is_written_is_read_again(value):
    assert repr(read(json.loads(json.dumps(written(value))))) == repr(value)


def test_a_moment_and_a_number_of_numpy_are_plain():
    moment = dt.datetime(2024, 2, 29, 12, 30)
    assert read(written([moment, np.int64(3), np.float64("nan")]))[:2] == [moment, 3]


def test_a_value_that_is_no_plain_data_is_handed_out():
    with pytest.raises(NotPlainError, match="object is no plain data") as caught:
        written({"a": [1, odd := object()]})
    assert caught.value.value is odd


def test_something_else_than_what_was_written_is_refused():
    with pytest.raises(NotPlainError, match="is no plain data"):
        read({"a": 1})


def test_special_values_are_written_and_read_by_the_caller():
    def names(value, inner):
        return {"set": inner(sorted(value))} if isinstance(value, set) else NOT_SPECIAL

    def sets(held, inner):
        return set(inner(held["set"])) if "set" in held else NOT_SPECIAL

    assert read(written((1, {2, 3}), names), sets) == (1, {2, 3})
