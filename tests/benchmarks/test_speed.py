from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.speed import experiment as speed
from benchmarks.speed import workloads
from benchmarks.speed.experiment import (
    measured,
    measured_apart,
)
from benchmarks.speed.workloads import Workload
from misfeat import MisfeatError

TINY = Workload(300, 5, 2, 2, values=3, report=False)
FOUND = {
    "table": "tiny",
    "rows": 300,
    "features": 5,
    "subgroups": 2,
    "size": 2,
    "start_seconds": 2.0,
    "compiling_seconds": 0.0,
    "kernels": 0,
    "seconds": 4.0,
    "cpu_seconds": 6.0,
    "peak_mib": 400.0,
    "own_mib": 20.0,
    "steps": [
        {"step": "coding", "seconds": 1.0, "cpu_seconds": 1.0, "share": 0.25},
        {"step": "report", "seconds": 3.0, "cpu_seconds": 5.0, "share": 0.75},
    ],
    "budget": {"seconds": 60.0, "gib": 4.0},
    "peers": {
        "seconds": {"sample": 0.05, "np.bincount": 1.0, "scikit-learn": 20.0},
        "times": {"sample": {"scikit-learn": 400.0, "np.bincount": 20.0}},
    },
}
COLD = {"table": "cold start", "start_seconds": 99.0, "compiling_seconds": 90.0, "kernels": 300}


@pytest.fixture
def quick(monkeypatch):
    """Figures that nobody has to wait for."""
    monkeypatch.setattr(speed, "measured_apart", lambda *_: {**FOUND})
    monkeypatch.setattr(speed, "cold_start", lambda *_: {**COLD})


def test_steps_add_up_to_the_whole():
    found = measured(TINY, 1)
    assert sum(step["share"] for step in found["steps"]) == pytest.approx(1.0)
    assert sum(step["seconds"] for step in found["steps"]) == pytest.approx(found["seconds"])
    steps = [step["step"] for step in found["steps"]]
    assert steps[:3] == ["coding", "scores of own rows", "population"]
    assert found["peers"] is None
    assert found["peak_mib"] >= found["own_mib"]


def test_a_process_that_fails_says_why():
    with pytest.raises(MisfeatError, match=r"Timing failed: .*size"):
        measured_apart(Workload(300, 5, 2, 0), 1)


def test_peers_score_what_misfeat_scores():
    rng = np.random.default_rng(0)
    codes, target = rng.integers(3, size=(2, 200)), rng.integers(2, size=200)
    keys = workloads._keys(codes, (0, 1), 3)
    assert workloads._counted(keys, target) == pytest.approx(mutual_info_score(keys, target))


def test_the_command_prints_tables_or_json(quick, tmp_path):
    shown = CliRunner().invoke(
        app, ["speed", "--quick", "--tables", "A", "--quiet", "--out", str(tmp_path)]
    )
    assert shown.exit_code == 0, shown.stderr
    assert "tiny: 300 rows, 5 features, 2 subgroups, sets of 2" in shown.stdout
    assert "all of it" in shown.stdout
    assert (tmp_path / "speed.json").exists()
    told = json.loads(
        CliRunner().invoke(app, ["speed", "--quick", "--cold", "--json", "--quiet"]).stdout
    )
    assert len(told["tables"]) == 5
    assert told["machine"]["cores"] >= 1
