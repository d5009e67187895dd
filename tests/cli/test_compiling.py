from __future__ import annotations

import os
import subprocess
import sys

import pytest

from misfeat.cli import compiling
from misfeat.completion.transfer.kernels.sets import complete_sets
from misfeat.machine.compiling import is_kept


def test_what_the_second_process_compiles_is_kept():
    compiling.compile_last_ones()
    assert is_kept(complete_sets) in (True, None)


def test_nothing_is_started_where_kernels_are_kept(monkeypatch):
    compiling.compile_last_ones()
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("nothing to compile"))
    with compiling.compiled_beside():
        pass


def test_the_second_process_ends_with_the_first_ones_work(monkeypatch, tmp_path):
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    monkeypatch.setattr(compiling, "_is_worth_it", lambda: True)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with compiling.compiled_beside():
        (second,) = started
        assert second.poll() is None
    assert second.poll() is not None


@pytest.mark.slow
def test_an_empty_cache_is_seen(tmp_path):
    code = "from misfeat.cli.compiling import _is_worth_it; print(_is_worth_it())"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == str((os.cpu_count() or 1) > 1)
