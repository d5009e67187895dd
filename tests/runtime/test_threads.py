import threading
import time

import joblib
import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.runtime.threads import Work


@pytest.mark.parametrize("count", [0, 1, 7, 1000])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_stretches_cover_a_range_once_and_in_order(count, n_jobs):
    stretches = Work(n_jobs).stretches(count, a_thread=4)
    assert [i for first, last in stretches for i in range(first, last)] == list(range(count))
    assert len(stretches) <= max(1, 4 * n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_every_task_runs_once_and_progress_counts_them(n_jobs):
    ran, told = [], []
    work = Work(n_jobs, lambda done, total: told.append((done, total)))
    work.run([])
    work.run([lambda i=i: ran.append(i) for i in range(20)])
    assert sorted(ran) == list(range(20))
    assert told == [(done, 20) for done in range(1, 21)]


def fail():
    raise ValueError("no such thing")


def interrupt(done, total):
    raise KeyboardInterrupt


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("first", "progress", "error"),
    [(fail, None, ValueError), (lambda: None, interrupt, KeyboardInterrupt)],
)
def test_an_error_or_what_progress_raises_stops_the_tasks_not_yet_begun(
    n_jobs, first, progress, error
):
    ran = []

    def take_long():
        time.sleep(0.01)
        ran.append(1)

    with pytest.raises(error):
        Work(n_jobs, progress).run([first, *[take_long] * 500])
    assert len(ran) < 500


def test_threads_are_taken_from_joblibs_context():
    together = threading.Barrier(3, timeout=300)  # passed by three threads at once only
    with joblib.parallel_config(n_jobs=3):
        Work().run([together.wait] * 3)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.heavy)])
def test_stability_and_validation_are_the_same_on_workers_of_joblib(backend):
    data = make_cohorts(3, 200, 5, hide=0.2, random_state=3)

    def answers():
        selector = SubgroupSelector(data.groups, size=2, random_state=0)
        selector.fit(data.columns, data.target)
        return selector.stability(resamples=4), selector.validate()

    expected = answers()
    with joblib.parallel_config(backend, n_jobs=2):
        found = answers()
    assert all(frame.equals(own) for frame, own in zip(found, expected, strict=True))
