from __future__ import annotations

import os
import subprocess
import sys

import pytest

from misfeat.cli import compiling
from misfeat.information.kernels.dealing import score_deals
from misfeat.runtime.compilation import is_kept

KEPT = """
from misfeat.cli.compiling import compile_tests
from misfeat.datasets import make_cohorts
from misfeat import SubgroupSelector
from misfeat.information.kernels.dealing import score_deals

compile_tests()
before = score_deals.signatures
data = make_cohorts(3, 80, 5, hide=0.3, random_state=0)
selector = SubgroupSelector(data.groups, size=3).fit(data.columns, data.target)
selector.significance()
assert before
print(before == score_deals.signatures)
"""


def test_what_is_compiled_ahead_is_what_a_run_needs():
    told = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "True"


def test_what_is_compiled_ahead_is_kept():
    compiling.compile_tests()
    assert is_kept(score_deals) in (True, None)


def test_nothing_is_started_where_kernels_are_kept(monkeypatch):
    compiling.compile_tests()
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("nothing to compile"))
    with compiling.compiled_beside():
        pass


def test_the_other_process_ends_with_the_first_ones_work(monkeypatch, tmp_path):
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    monkeypatch.setattr(compiling, "_is_worthwhile", lambda: True)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with compiling.compiled_beside():
        (process,) = started
        assert process.poll() is None
    assert process.poll() is not None


def test_an_empty_cache_is_seen(tmp_path):
    code = "from misfeat.cli.compiling import _is_worthwhile as of; print(of())"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == str((os.cpu_count() or 1) > 1)
