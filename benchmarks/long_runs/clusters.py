"""Backends of joblib, each with two processes: whether answers are the same, and what they take.

    python benchmarks/long_runs/clusters.py > benchmarks/long_runs/clusters.txt

Needs distributed for Dask, ray for Ray, joblibspark for Spark; what is not installed is left out,
and so is what is not among the names that follow the script's. In a third turn a process of loky
and of Dask is killed by its id in the middle. Ray's pool of joblib waits for a process that was
killed for ever, and local Spark has threads in place of processes.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec

import joblib
import numpy as np
import psutil

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.machine import spreading

DATA = make_cohorts(4, 400, 9, hide=0.2, random_state=5)
KILLED_AFTER = 6
"""Tasks that are done before a process is killed."""


def answers():
    selector = SubgroupSelector(DATA.groups, size=3, k=5, random_state=0)
    selection = selector.fit(DATA.columns, DATA.target).selection_
    tests = selection.significances(2, permutations=199).p_values
    told = [selection.enoughs(size=2), selection.trusts(), selection.resampled(resamples=12)]
    arrays = [*vars(selection.completed()).values(), *tests.values()]
    return [np.asarray(one).tobytes() for one in arrays if one is not None], repr(told)


@contextmanager
def dask():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield lambda: list(client.run(os.getpid).values())


@contextmanager
def loky():
    def workers():
        children = psutil.Process().children(recursive=True)
        return [one.pid for one in children if "popen_loky" in " ".join(one.cmdline())]

    yield workers


@contextmanager
def ray():
    import ray as cluster
    from ray.util.joblib import register_ray

    cluster.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register_ray()

    try:
        yield None
    finally:
        cluster.shutdown()


@contextmanager
def spark():
    from joblibspark import register_spark
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # else workers take the system's Python
    session = SparkSession.builder.master("local[2,4]").getOrCreate()
    register_spark()
    try:
        yield None
    finally:
        session.stop()


NEEDS = {"loky": "joblib", "dask": "distributed", "ray": "ray", "spark": "joblibspark"}


def timed(backend):
    began = time.monotonic()
    with joblib.parallel_config(backend, n_jobs=2):
        found = answers()
    return found, time.monotonic() - began


def after_a_kill(backend, workers, here):
    """Whether answers are the same where a process is killed in the middle."""
    if workers is None:
        return "not tried"
    done, check = [], spreading.check_interrupt

    def kill_once():
        done.append(1)
        if len(done) == KILLED_AFTER:
            os.kill(workers()[0], signal.SIGKILL)

    spreading.check_interrupt = kill_once
    try:
        found, _ = timed(backend)
    except Exception as error:
        return f"{type(error).__name__}"
    finally:
        spreading.check_interrupt = check
    return "the same" if found == here else "another answer"


def main():
    answers()  # compiles what is not yet
    began = time.monotonic()
    here = answers()
    print(f"threads: {time.monotonic() - began:.1f} s", flush=True)
    for backend, needs in NEEDS.items():
        if sys.argv[1:] and backend not in sys.argv[1:]:
            continue
        if find_spec(needs) is None:
            print(f"{backend}: {needs} is not installed", flush=True)
            continue
        with globals()[backend]() as workers:
            found, first = timed(backend)
            _, second = timed(backend)
            same = "the same" if found == here else "another answer"
            killed = after_a_kill(backend, workers, here)
        print(
            f"{backend}: {same}, {first:.1f} s the first time, {second:.1f} s then; with a "
            f"process killed: {killed}",
            flush=True,
        )


if __name__ == "__main__":
    main()
