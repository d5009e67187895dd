import doctest
from importlib import import_module

import pytest

MODULES = (
    "common.draws", "common.output", "common.units", "completers.from_scores",
    "completers.imputing", "paper.results", "population.differences", "speed.clock",
    "speed.experiment", "speed.workloads", pytest.param("downstream.peers", marks=pytest.mark.slow),
)  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_print_what_they_say(name):
    found = doctest.testmod(import_module(f"benchmarks.{name}"), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert found.failed == 0
