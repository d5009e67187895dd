from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = (
    "common.draws", "common.output", "common.units", "completers.from_scores",
    "completers.imputing", "paper.results", "population.differences",
    "speed.clock", "speed.experiment", "speed.workloads",
)  # fmt: skip
SLOW = pytest.param("downstream.peers", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [*MODULES, SLOW])
def test_examples_in_docstrings_print_what_they_say(name):
    found = doctest.testmod(import_module(f"benchmarks.{name}"), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert found.failed == 0
