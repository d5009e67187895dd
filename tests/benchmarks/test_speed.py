import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from benchmarks.speed import workloads
from benchmarks.speed.experiment import measured, measured_apart
from benchmarks.speed.workloads import Workload
from misfeat import MisfeatError

TINY = Workload(300, 5, 2, 2, values=3, report=False)


def test_steps_add_up_to_the_whole():
    found = measured(TINY, 1)
    assert sum(step["share"] for step in found["steps"]) == pytest.approx(1.0)
    assert sum(step["seconds"] for step in found["steps"]) == pytest.approx(found["seconds"])
    steps = [step["step"] for step in found["steps"]]
    assert steps[:3] == ["coding", "scores of own rows", "population"]
    assert found["peers"] is None
    assert found["peak_mib"] >= found["own_mib"]


@pytest.mark.slow
def test_a_process_that_fails_says_why():
    with pytest.raises(MisfeatError, match=r"Timing failed: .*size"):
        measured_apart(Workload(300, 5, 2, 0), 1)


def test_peers_score_what_misfeat_scores():
    rng = np.random.default_rng(0)
    codes, target = rng.integers(3, size=(2, 200)), rng.integers(2, size=200)
    keys = workloads._keys(codes, (0, 1), 3)
    assert workloads._counted(keys, target) == pytest.approx(mutual_info_score(keys, target))
