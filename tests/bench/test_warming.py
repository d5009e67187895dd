from __future__ import annotations

import sys

import pytest

from misfeat import SubgroupSelector
from misfeat.bench import warming
from misfeat.bench.warming import KINDS, warm_up
from misfeat.datasets import load_heart
from misfeat.machine.compilations import compilations_counted


def forms():
    """All kernels that are there by now, each with the kinds of data it is compiled for."""
    modules = [module for name, module in sys.modules.items() if name.startswith("misfeat.")]
    kernels = [thing for module in modules for thing in vars(module).values()]
    return {
        (kernel.py_func.__qualname__, str(kind))
        for kernel in kernels
        if hasattr(kernel, "py_func") and hasattr(kernel, "overloads")
        for kind in kernel.overloads
    }


@pytest.mark.slow
def test_a_default_run_needs_nothing_else():
    warm_up()
    before, heart = forms(), load_heart()
    with compilations_counted() as compiled:
        SubgroupSelector(heart.groups).fit(heart.columns, heart.target).report().html()
    assert forms() == before
    assert compiled.count == 0


def test_progress_tells_what_is_compiled(monkeypatch):
    monkeypatch.setattr(warming, "KINDS", {"one": lambda: None, "two": lambda: None})
    told = []
    found = warm_up(lambda *said: told.append(said))
    assert told == [
        ("Compiling kernels: one", 0, 2),
        ("Compiling kernels: two", 1, 2),
        ("Compiling kernels", 2, 2),
    ]
    assert (found.kernels, found.seconds) == (0, 0.0)


@pytest.mark.parametrize("kind", ["without subgroups", "wide tables", "large sets"])
def test_every_kind_of_table_can_be_answered_for(kind):
    KINDS[kind]()
