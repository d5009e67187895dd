from __future__ import annotations

import os
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib.parallel import BACKENDS, register_parallel_backend

from misfeat import MisfeatError, SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.machine import spreading
from misfeat.machine.long_work import long_work
from misfeat.machine.spreading import is_elsewhere, spread, threads_here, workers_elsewhere
from tests.machine.pickled import PickledBackend

SQUARES = {number: number**2 for number in range(6)}


@pytest.fixture
def workers():
    """A joblib backend whose tasks are pickled as those of a cluster are, carried out here."""
    register_parallel_backend("pickled", PickledBackend)
    PickledBackend.deaths = PickledBackend.sent = 0
    PickledBackend.started = PickledBackend.stopped = 0
    with joblib.parallel_config("pickled"):
        yield PickledBackend
    del BACKENDS["pickled"]


def power(exponent, number):
    return number**exponent


def own_threads(_shared, _task):
    return is_elsewhere(), threads_here(-1)


def first_value(shared, place):
    return type(shared["rows"]).__name__, int(shared["rows"][place])


def fail(_shared, number):
    raise MisfeatError("{number} is refused.", number=number)


def test_threads_are_taken_unless_a_context_names_a_backend():
    assert not is_elsewhere()
    assert workers_elsewhere() == 1
    with joblib.parallel_config(n_jobs=3):
        assert not is_elsewhere()
        assert threads_here(None) == 3
    with joblib.parallel_config("threading", n_jobs=2):
        assert not is_elsewhere()


def test_tasks_give_the_same_here_and_elsewhere(workers):
    assert is_elsewhere()
    assert dict(spread(power, 2, list(range(6)))) == SQUARES
    assert workers.sent == 6


def test_a_backend_that_starts_workers_for_every_call_keeps_them_for_one_piece_of_work(
    workers, monkeypatch
):
    monkeypatch.setattr(workers, "supports_return_generator", False)  # as of Ray's
    with long_work(verbose=False):
        assert dict(spread(power, 2, [2])) == {0: 4}
        with long_work(verbose=False):
            assert dict(spread(power, 2, [3])) == {0: 9}
        assert (workers.started, workers.stopped) == (1, 0)
    assert (workers.started, workers.stopped) == (1, 1)
    assert dict(spread(power, 2, [4])) == {0: 16}
    assert (workers.started, workers.stopped) == (2, 2)


def test_a_worker_takes_one_thread_and_sends_nothing_on(workers):
    assert [found for _, found in spread(own_threads, None, [0])] == [(False, 1)]


def test_what_tasks_share_is_mapped_into_memory_and_gone_afterwards(workers, tmp_path, monkeypatch):
    monkeypatch.setenv(spreading.FOLDER_VARIABLE, str(tmp_path))
    found = dict(spread(first_value, {"rows": np.arange(10_000)}, [3, 5]))
    assert found == {0: ("memmap", 3), 1: ("memmap", 5)}
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_does_not_see_the_disk_is_sent_the_content(workers, monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda _: False)
    found = dict(spread(first_value, {"rows": np.arange(10)}, [3, 5]))
    assert found == {0: ("ndarray", 3), 1: ("ndarray", 5)}


def test_workers_that_die_cost_a_retry(workers):
    workers.deaths = 2
    assert dict(spread(power, 2, list(range(6)))) == SQUARES


def test_workers_that_die_all_the_time_are_told(workers):
    workers.deaths = 10**6
    with pytest.raises(ConnectionError):
        dict(spread(power, 2, list(range(6))))


def test_what_a_task_raises_is_raised_at_once(workers):
    with pytest.raises(MisfeatError, match="3 is refused"):
        dict(spread(fail, None, [3]))
    assert workers.sent == 1


def answers(data):
    selector = SubgroupSelector(data.groups, size=2, k=3, random_state=0)
    selection = selector.fit(data.columns, data.target).selection_
    tests = selection.significances(2, permutations=39)
    told = [selection.enoughs(permutations=39), selection.trusts()]
    again = selection.resampled(resamples=3)
    return selection.completed(2), tests.p_values, repr((told, again))


@pytest.mark.parametrize("n_cohorts", [1, 3])
def test_every_answer_is_the_same_to_the_bit(n_cohorts, workers):
    data = make_cohorts(n_cohorts, 200, 5, hide=0.2 if n_cohorts > 1 else 0.0, random_state=3)
    elsewhere = answers(data)
    assert workers.sent > 20
    with joblib.parallel_config("threading"):
        here = answers(data)
    for name in ("score", "low", "high", "predicted", "support"):
        assert np.array_equal(getattr(here[0], name), getattr(elsewhere[0], name)), name
    for size, values in here[1].items():
        assert np.array_equal(values, elsewhere[1][size], equal_nan=True)
    assert here[2] == elsewhere[2]


@pytest.mark.parametrize("setting", [{"estimate": "sample"}, {"measure": "r2"}, {"budget": 0.5}])
def test_other_estimates_are_the_same_too(setting, workers):
    data = make_cohorts(3, 120, 5, hide=0.2, random_state=3)
    if "measure" in setting:
        data.columns["target"] = np.asarray(data.columns["target"]).astype(float)
    asked = SubgroupSelector(data.groups, size=2, random_state=0, **setting)
    elsewhere = asked.fit(data.columns, data.target).selection_.completed(2)
    with joblib.parallel_config("threading"):
        here = asked.fit(data.columns, data.target).selection_.completed(2)
    assert np.array_equal(here.score, elsewhere.score)
    assert np.array_equal(here.high, elsewhere.high)


def test_a_numeric_target_is_the_same_too(workers):
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 3, 300) for name in "abcd"}
    table["y"] = table["a"] + rng.normal(size=300)
    asked = SubgroupSelector(size=2, random_state=0)
    elsewhere = asked.fit(table, "y").selection_.book
    with joblib.parallel_config("threading"):
        here = asked.fit(table, "y").selection_.book
    for mine, theirs in zip(here.computed_by_grid, elsewhere.computed_by_grid, strict=True):
        assert np.array_equal(mine, theirs)


def end(_shared, file):
    """Die the first time, as a process."""
    if not Path(file).exists():
        Path(file).touch()
        os._exit(1)
    return os.getpid()


@pytest.mark.slow
def test_a_process_of_loky_that_dies_costs_a_retry(tmp_path):
    with joblib.parallel_config("loky", n_jobs=2):
        found = dict(spread(end, None, [str(tmp_path / "died")]))
    assert found[0] != os.getpid()
