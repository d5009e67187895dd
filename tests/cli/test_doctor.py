import json
import os
import subprocess
import sys

import pytest

from misfeat import __version__
from misfeat.cli.background_compilation import compile_tests, compiled_beside
from misfeat.datasets import make_cohorts
from misfeat.information.kernels.permuted_scores import score_permutations
from misfeat.runtime.kernel_cache import is_kept
from tests.cli.commands import done, process, run

doctor = sys.modules["misfeat.cli.doctor"]
"""The module, whose name in the package is the command's."""


def test_a_healthy_installation_is_said_to_be_so_in_words_and_as_json():
    shown = done("doctor", "--quiet").stdout
    assert shown.endswith("All is well.\n")
    assert __version__ in shown
    found = json.loads(run("doctor", "--json", "--quiet").stdout)
    assert found["healthy"]
    assert found["versions"]["misfeat"] == __version__
    assert [text[:2] for text in found["self_test"].values()] == ["ok"] * 3
    assert found["machine"]["cores"] >= 1
    assert found["machine"]["compiled kernels"] == doctor.kernel_folder()


def test_what_is_missing_comes_with_the_extra_that_brings_it(monkeypatch):
    there = doctor.installed
    gone = {"duckdb", "pyspark", "torch-geometric"}
    monkeypatch.setattr(doctor, "installed", lambda p: None if p in gone else there(p))
    found = json.loads(run("doctor", "--json", "--quiet").stdout)
    assert found["extras"]["duckdb"] == "missing: pip install 'misfeat[duckdb]'"
    assert found["healthy"]
    shown = run("doctor", "--quiet").stdout
    assert "missing: pip install 'misfeat[spark]'" in shown
    assert "missing: pip install 'misfeat[pyg]'" in shown


def test_without_pytorch_all_is_well_and_the_extra_is_named(monkeypatch):
    there = doctor.installed
    monkeypatch.setattr(doctor, "installed", lambda p: None if p == "torch" else there(p))
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it is an ImportError
    shown = " ".join(done("doctor", "--quiet").stdout.split())
    assert "neural missing: pip install 'misfeat[neural]'" in shown
    assert "trains on" not in shown


def test_a_failed_self_test_is_told_and_the_exit_code_says_so(monkeypatch):
    def unlike(**settings):
        return make_cohorts(**{**settings, "hide": 0.0})  # nothing is left to predict

    monkeypatch.setattr("misfeat.datasets.make_cohorts", unlike)
    result = run("doctor", "--quiet")
    assert result.exit_code == 1
    assert "FAILED: RuntimeError: expected recorded and predicted scores" in result.stdout
    assert run("doctor", "--debug", "--quiet").exception is not None


def test_a_package_that_misfeat_needs_is_missed(monkeypatch):
    monkeypatch.setattr(doctor, "installed", lambda _: None)
    result = run("doctor", "--quiet")
    assert result.exit_code == 1
    assert "not installed: pip install numpy" in result.stdout


BESIDE = """
import subprocess
from misfeat.cli.background_compilation import compiled_beside

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


def test_nothing_is_started_where_kernels_are_kept(monkeypatch):
    compile_tests()
    assert is_kept(score_permutations) in (True, None)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("nothing to compile"))
    with compiled_beside():
        pass


@pytest.mark.slow
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is no core to spare")
def test_the_other_process_ends_with_the_work_of_the_first(tmp_path):
    told = process(command=[sys.executable, "-c", BESIDE], NUMBA_CACHE_DIR=str(tmp_path))
    assert (told.exit_code, told.stdout) == (0, "[True] [True]\n"), told.stderr
