from __future__ import annotations

import os
import subprocess
import sys

import pytest

from misfeat.cli import compiling
from misfeat.completion.transfer.kernels.pairs import complete_pairs
from misfeat.completion.transfer.kernels.sets import complete_sets
from misfeat.machine.compiling import is_kept

KEPT = """
from misfeat.cli.compiling import LONGEST_FIRST, compile_part
from misfeat.datasets import make_cohorts
from misfeat import SubgroupSelector
from misfeat.completion.transfer.kernels.pairs import complete_pairs
from misfeat.completion.transfer.kernels.sets import complete_sets
from misfeat.information.kernels.dealing import score_deals

for part in LONGEST_FIRST:
    compile_part(part)
kernels = [complete_pairs, complete_sets, score_deals]
before = [kernel.signatures for kernel in kernels]
data = make_cohorts(3, 80, 5, hide=0.3, random_state=0)
selector = SubgroupSelector(data.groups, size=3).fit(data.columns, data.target)
selector.significance()
assert all(before)
print(before == [kernel.signatures for kernel in kernels])
"""


def test_parts_hold_the_kernels_that_a_run_needs():
    told = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "True"


def test_what_is_compiled_ahead_is_kept():
    for part in compiling.LONGEST_FIRST:
        compiling.compile_part(part)
    assert is_kept(complete_sets) in (True, None)
    assert is_kept(complete_pairs) in (True, None)


def test_nothing_is_started_where_kernels_are_kept(monkeypatch):
    compiling.compile_part("sets")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("nothing to compile"))
    with compiling.compiled_beside():
        pass


@pytest.mark.parametrize("others", [1, 2, 3])
def test_other_processes_end_with_the_first_ones_work(monkeypatch, tmp_path, others):
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self)

    shares = [compiling.LONGEST_FIRST[one::others] for one in range(others)]
    monkeypatch.setattr(subprocess, "Popen", Noted)
    monkeypatch.setattr(compiling, "_shares_of_others", lambda: shares)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with compiling.compiled_beside():
        assert len(started) == others
        assert all(one.poll() is None for one in started)
    assert all(one.wait(300) is not None for one in started)


@pytest.mark.slow
def test_an_empty_cache_is_seen_and_its_kernels_shared_out(tmp_path):
    code = "from misfeat.cli.compiling import _shares_of_others as of; print(sum(of(), ()))"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    found = told.stdout.strip()
    alone = (os.cpu_count() or 1) == 1
    assert all((part in found) != alone for part in compiling.LONGEST_FIRST)
