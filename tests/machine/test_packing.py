from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.exceptions import InPython, Message, Setting
from misfeat.machine.packing import (
    NOT_SPECIAL,
    NotPlainError,
    UnpackableError,
    packed,
    read,
    unpacked,
    written,
)

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda held: (
        st.lists(held, max_size=3)
        | st.tuples(held, held)
        | st.dictionaries(st.integers() | st.text(), held, max_size=3)
    ),
    max_leaves=8,
)


@dataclass(frozen=True)
class Pair:
    first: object
    second: object = None


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(10**30),
        0.1,
        float("inf"),
        "Zürich\n",
        [1, (2, [3])],
        {1: "a", ("b", 2): {"c": None}},
        dt.date(2020, 2, 29),
        dt.datetime(2020, 2, 29, 1, 2, 3),
        Pair(1, Pair("x", (1.5,))),
        np.float64(0.3),
    ],
)
def test_plain_data_comes_back_as_it_was(value):
    found = unpacked(packed(value, [Pair]), [Pair])
    assert found == value
    assert repr(found) == repr(value.item() if isinstance(value, np.generic) else value)


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.1, np.nan, -0.0]),
        np.zeros((0, 3), dtype=np.int16),
        np.arange(12, dtype=np.uint16).reshape(3, 4)[:, ::2],
        np.array([[True], [False]]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ],
)
def test_arrays_come_back_to_the_bit(array):
    (found,) = unpacked(packed([array]))
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()


def test_a_message_still_speaks_to_whoever_reads_it():
    message = Message(
        "{limit} is {words}; {inner}.",
        limit=Setting("min_rows", 5),
        words=InPython("small", "few"),
        inner=Message("see {name}", name=Setting("k")),
    )
    found = unpacked(packed((message,)))[0]
    assert found == message
    assert found.told(lambda setting: f"--{setting.parameter}") == message.told(
        lambda setting: f"--{setting.parameter}"
    )


@pytest.mark.parametrize("value", [object(), {1, 2}, Pair(1), [lambda: 1]])
def test_anything_else_is_refused(value):
    with pytest.raises(UnpackableError):
        packed(value)


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 8, b"not packed at all", packed(Pair(1), [Pair])]
)
def test_bytes_of_another_kind_are_refused(content):
    with pytest.raises(UnpackableError):
        unpacked(content)


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
