from __future__ import annotations

import sys

import pytest

from misfeat import SubgroupSelector
from misfeat.cli import warming
from misfeat.cli.warming import KINDS, warm_up
from misfeat.datasets import make_cohorts
from misfeat.runtime.compilation import compilations_counted


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


def reported(table, target, groups, size=3):
    SubgroupSelector(groups, size=size).fit(table, target).report().html()


@pytest.mark.slow
def test_default_runs_need_nothing_else():
    warm_up()
    before, survey = forms(), make_cohorts(3, 120, 9, n_values=4, n_classes=3, random_state=5)
    clinics = make_cohorts(5, 700, 12, n_values=6, hide=0.4, random_state=6)
    with compilations_counted() as compiled:
        reported(survey.columns, survey.target, survey.groups)
        reported(clinics.columns, clinics.target, clinics.groups, size=2)
        reported(clinics.complete, clinics.target, None)
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


@pytest.mark.parametrize("kind", ["without subgroups", "wide tables"])
def test_every_kind_of_table_can_be_answered_for(kind):
    KINDS[kind]()
