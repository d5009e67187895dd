"""Chance of rounding cannot be had anew: not by other columns, orders, codes or multiples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.sites import agree, propose, summarise
from misfeat.sites.chance import chance_of


@given(st.integers(0, 2**32), st.booleans())
def test_chance_of_a_line_is_that_of_the_line_alone(seed, emptied):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 30, (3, 2, 2))
    if emptied:
        table[1] = 0
    found = chance_of(table, ["b", "a"], b"secret")
    turned = chance_of(table.transpose(1, 0, 2), ["a", "b"], b"secret").transpose(1, 0, 2)
    wider = chance_of(np.insert(table, 1, 0, axis=0), ["b", "a"], b"secret")[[0, 2, 3]]
    assert np.array_equal(found, turned)
    assert np.array_equal(found, wider)
    assert ((found >= 0) & (found < 1)).all()


def test_lines_that_count_the_same_have_chance_of_their_own():
    found = chance_of(np.ones((200, 2), dtype=np.int64), ["a"], b"")
    assert len(np.unique(found)) == 400
    assert found.mean() == pytest.approx(0.5, abs=0.06)


def test_another_secret_is_other_chance():
    table = np.arange(1, 7).reshape(3, 2)
    assert not (chance_of(table, ["a"], b"one") == chance_of(table, ["a"], b"two")).any()


def test_codebooks_with_other_columns_tell_the_same_of_those_that_they_share():
    rng = np.random.default_rng(0)
    table = {f"f{i}": rng.integers(0, 3, 150) for i in range(4)} | {"ill": rng.random(150) < 0.4}
    codebook, _ = agree([propose(table, "ill", "north")])
    told = summarise(table, codebook, "north", min_cell=10)
    for left_out in range(4):
        features = tuple(one for n, one in enumerate(codebook.features) if n != left_out)
        fewer = replace(codebook, features=features[::-1])
        again = summarise(table, fewer, "north", min_cell=10)
        assert np.array_equal(again.by_class, told.by_class)
        lines = told.smaller[0].reshape(4, 4, 2)[[n for n in range(4) if n != left_out]]
        assert np.array_equal(again.smaller[0].reshape(3, 4, 2)[::-1], lines)
