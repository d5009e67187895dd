from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.attacks.names import PLAIN, ask, attack, heavy_engines, quick_engines, try_name
from tests.attacks.tally import Tally

TELLING = ("*", "^.*$", "^a.*$", "a.b", "`", '"', "NA", "SITE", "\ud800", "")


@pytest.mark.parametrize("engine", ["polars", "polars-lazy", "duckdb", "csv", "parquet"])
@pytest.mark.parametrize("role", ["feature", "target"])
def test_names_with_a_meaning_are_only_names(tmp_path, engine, role):
    hold = quick_engines(tmp_path)[engine]
    tally, expected = Tally("names", ""), ask(hold, role, PLAIN[role])
    for name in TELLING:
        try_name(tally, engine, hold, role, name, expected)
    assert not tally.wrong
    assert tally.outcomes["same answer"] >= 5


@pytest.mark.attack
def test_a_zoo_of_names_gets_the_answers_of_plain_names():
    tally = attack(300, seed=4)
    assert not tally.wrong


@pytest.mark.heavy
def test_names_with_a_meaning_are_only_names_in_heavy_engines():
    tally = Tally("names", "")
    with ExitStack() as stack:
        for engine, hold in heavy_engines(stack).items():
            for number, role in enumerate(PLAIN):
                expected = ask(hold, role, PLAIN[role])
                for name in TELLING[number % 2 :: 2]:  # every name in two of the roles
                    try_name(tally, engine, hold, role, name, expected)
    assert not tally.wrong
