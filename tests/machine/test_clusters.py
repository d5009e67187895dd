from __future__ import annotations

import os
import signal

import joblib
import numpy as np
import pytest

from misfeat.datasets import make_cohorts
from misfeat.machine import spreading
from tests.machine.test_spreading import answers

pytestmark = pytest.mark.heavy


@pytest.fixture
def client():
    """A cluster of two worker processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_dask_worker_that_is_killed_in_the_middle_changes_no_bit(client, monkeypatch):
    data = make_cohorts(3, 200, 5, hide=0.2, random_state=3)
    here = answers(data)
    victim, *_ = client.run(os.getpid).values()
    done = []

    def killed_once():
        done.append(1)
        if len(done) == 5:  # some tasks of the fit are done, and others under way
            os.kill(victim, signal.SIGKILL)

    monkeypatch.setattr(spreading, "check_interrupt", killed_once)
    with joblib.parallel_config("dask"):
        elsewhere = answers(data)
    assert len(done) > 20
    assert victim not in client.run(os.getpid).values()
    for name in ("score", "low", "high", "predicted", "support"):
        assert np.array_equal(getattr(here[0], name), getattr(elsewhere[0], name)), name
    for size, values in here[1].items():
        assert np.array_equal(values, elsewhere[1][size], equal_nan=True)
    assert here[2] == elsewhere[2]
