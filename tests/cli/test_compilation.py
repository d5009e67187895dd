from __future__ import annotations

import os
import subprocess
import sys

import pytest

from misfeat.cli.compilation import compile_tests, compiled_beside
from misfeat.information.kernels.permutation import score_permutations
from misfeat.runtime.kernel_cache import is_kept

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


def test_nothing_is_started_where_kernels_are_kept(monkeypatch):
    compile_tests()
    assert is_kept(score_permutations) in (True, None)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("nothing to compile"))
    with compiled_beside():
        pass


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is no core to spare")
def test_the_other_process_ends_with_the_work_of_the_first(tmp_path):
    assert printed(BESIDE, NUMBA_CACHE_DIR=str(tmp_path)) == "[True] [True]"
