from __future__ import annotations

import os
import subprocess
import sys

import pytest

from misfeat import SubgroupSelector
from misfeat.cli.compilation import compile_all, compile_tests, compiled_beside
from misfeat.datasets import make_cohorts
from misfeat.information.kernels.permutation import score_permutations
from misfeat.runtime.kernel_cache import compilations_counted, is_kept

BESIDE = """
import subprocess
from misfeat.cli.compilation import compiled_beside

started = []

class Noted(subprocess.Popen):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        started.append(self)

subprocess.Popen = Noted
with compiled_beside():
    running = [process.poll() is None for process in started]
print(running, [process.poll() is not None for process in started])
"""


def printed(code: str, **environment: str) -> str:
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.strip()


def specialisations():
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
    compile_all()
    before = specialisations()
    survey = make_cohorts(3, 120, 9, n_values=4, n_classes=3, random_state=5)
    clinics = make_cohorts(5, 700, 12, n_values=6, hide=0.4, random_state=6)
    with compilations_counted() as compiled:
        reported(survey.columns, survey.target, survey.groups)
        reported(clinics.columns, clinics.target, clinics.groups, size=2)
        reported(clinics.complete, clinics.target, None)
    assert specialisations() == before
    assert compiled.count == 0


def test_nothing_is_started_where_kernels_are_kept(monkeypatch):
    compile_tests()
    assert is_kept(score_permutations) in (True, None)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("nothing to compile"))
    with compiled_beside():
        pass


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is no core to spare")
def test_the_other_process_ends_with_the_work_of_the_first(tmp_path):
    assert printed(BESIDE, NUMBA_CACHE_DIR=str(tmp_path)) == "[True] [True]"
