from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from misfeat import MisfeatError
from misfeat.bench import speed, speed_peers
from misfeat.bench.speed import SpeedBench, measured, measured_apart
from misfeat.bench.speed_page import as_json, sentences, write_figures
from misfeat.bench.workloads import Workload
from tests.cli.commands import run

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


@pytest.mark.slow
def test_a_process_of_its_own_gives_the_same_figures():
    found = measured_apart(TINY, 1)
    assert found["rows"] == TINY.rows
    assert {"seconds", "steps", "peak_mib", "kernels"} <= {*found}


def test_a_process_that_fails_says_why():
    with pytest.raises(MisfeatError, match=r"Timing failed: .*size"):
        measured_apart(Workload(300, 5, 2, 0), 1)


def test_peers_score_what_misfeat_scores():
    rng = np.random.default_rng(0)
    codes, target = rng.integers(3, size=(2, 200)), rng.integers(2, size=200)
    keys = speed_peers._keys(codes, (0, 1), 3)
    assert speed_peers._counted(keys, target) == pytest.approx(mutual_info_score(keys, target))


def test_an_unknown_table_is_refused():
    with pytest.raises(MisfeatError, match="'no' is unknown; use some of A, heart"):
        SpeedBench(("no",))


def test_every_table_and_the_cold_start_are_told(quick):
    told = []
    found = list(SpeedBench(quick=True, cold=True).run(lambda *said: told.append(said)))
    assert [one["table"] for one in found] == ["tiny"] * 4 + ["cold start"]
    assert told[0] == ("Timing A", 0, 5)
    assert told[-1] == ("Compiling all kernels", 4, 5)


def test_what_is_said_of_a_table():
    said = list(sentences(FOUND))
    assert said == [
        "Peak memory 400 MiB, 20 of it its own. Within the budget of 60 s and 4 GiB on two cores.",
        "Before: 2.0 s for a small table of the kind; no kernel had to be compiled.",
        "Fit and scores with estimate='sample': 0.050 s, 400.0 times scikit-learn and 20.0 times "
        "np.bincount doing the scores alone.",
    ]
    (line,) = sentences(COLD)
    assert line.endswith("90.0 s of it to compile 300 kernels.")
    beyond = next(sentences({**FOUND, "seconds": 70.0}))
    assert "BEYOND the budget" in beyond


def test_figures_are_written(tmp_path):
    write_figures(str(tmp_path), {"cores": 2}, [FOUND, COLD])
    assert json.loads((tmp_path / "speed.json").read_text())["tables"][0] == FOUND
    with (tmp_path / "steps.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["step"] for row in rows] == ["coding", "report"]
    assert as_json({}, []) == '{"machine": {}, "tables": []}'


def test_the_command_prints_tables_or_json(quick, tmp_path):
    shown = run("bench", "speed", "--quick", "--tables", "A", "--quiet", "--out", str(tmp_path))
    assert shown.exit_code == 0, shown.stderr
    assert "tiny: 300 rows, 5 features, 2 subgroups, sets of 2" in shown.stdout
    assert "all of it" in shown.stdout
    assert (tmp_path / "speed.json").exists()
    told = json.loads(run("bench", "speed", "--quick", "--cold", "--json", "--quiet").stdout)
    assert len(told["tables"]) == 5
    assert told["machine"]["cores"] >= 1
