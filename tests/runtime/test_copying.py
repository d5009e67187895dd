from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import misfeat
from misfeat.runtime.compilation import copy_lines, copy_values

KERNELS = sorted(
    file
    for file in Path(misfeat.__file__).parent.rglob("*.py")
    if "import compiled" in file.read_text(encoding="utf-8")
)
FROM_AN_ARRAY = re.compile(r"^ +[\w.]+\[[^\]=]*:[^\]=]*\] = (?!-?[\d.]+$|[A-Z_]+$).*$", re.M)
"""A part of an array gets what is neither a number nor a constant."""


@pytest.mark.parametrize("order", ["C", "F"])
def test_lines_are_copied_whatever_their_layout(order):
    source = np.asarray(np.arange(6).reshape(2, 3), order=order)
    target = np.full((3, 3), -1)
    copy_lines(source, target[1:])
    assert target.tolist() == [[-1, -1, -1], [0, 1, 2], [3, 4, 5]]


def test_what_lies_beyond_stays_as_it_is():
    target = np.full(3, 7, dtype=np.int32)
    copy_values(np.arange(2, dtype=np.int32), target)
    assert target.tolist() == [0, 1, 7]


@pytest.mark.parametrize("file", KERNELS, ids=lambda file: file.stem)
def test_no_kernel_assigns_an_array_to_a_part_of_another(file):
    """Each would be compiled with the words of an error, which takes seconds."""
    assert FROM_AN_ARRAY.findall(file.read_text(encoding="utf-8")) == []
