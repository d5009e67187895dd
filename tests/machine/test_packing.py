from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
import pytest

from misfeat.exceptions import InPython, Message, Setting
from misfeat.machine.packing import UnpackableError, packed, unpacked


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
