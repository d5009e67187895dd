from __future__ import annotations

import json
import sys

from misfeat import __version__
from misfeat.datasets import make_cohorts
from tests.cli.commands import run

doctor = sys.modules["misfeat.cli.doctor"]
"""The module, whose name in the package is the command's."""


def test_a_healthy_installation_is_said_to_be_so_in_words_and_as_json():
    result = run("doctor", "--quiet")
    assert result.exit_code == 0, result.stdout
    assert result.stdout.endswith("All is well.\n")
    assert __version__ in result.stdout
    result = run("doctor", "--json", "--quiet")
    found = json.loads(result.stdout)
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
    result = run("doctor", "--quiet")
    assert result.exit_code == 0, result.stdout
    shown = " ".join(result.stdout.split())
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
