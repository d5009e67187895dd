import os
import signal
from contextlib import suppress

import pytest

from benchmarks.common.units import Unit, finished, run_units
from misfeat import MisfeatError


def units_of(count, done):
    def work(number):
        done.append(number)
        return [{"square": number**2}]

    return [Unit("squares", {"n": n}, {}, lambda n=n: work(n)) for n in range(count)]


def test_what_was_done_is_not_done_again(tmp_path):
    file, done, told = tmp_path / "work.jsonl", [], []
    rows = list(run_units(units_of(3, done), file, told.append))
    assert rows == [{"experiment": "squares", "n": n, "square": n**2} for n in range(3)]
    assert len(told) == 3
    assert "left" in told[1]
    again = list(run_units(units_of(4, done), file, told.append))
    assert again[:3] == rows
    assert done == [0, 1, 2, 3]
    assert "3 of 4 pieces of work were done before" in told[3]


def test_a_line_that_was_cut_off_is_done_again_and_swallows_no_other(tmp_path):
    file, done = tmp_path / "work.jsonl", []
    list(run_units(units_of(2, done), file, lambda _: None))
    file.write_bytes(file.read_bytes()[:-5])
    assert len(finished(file)) == 1
    list(run_units(units_of(3, done), file, lambda _: None))
    assert done == [0, 1, 1, 2]
    assert len(finished(file)) == 3


def test_a_result_of_work_that_caught_an_interrupt_is_not_kept(tmp_path):
    def ends_early():
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return [{"half": "done"}]

    file = tmp_path / "work.jsonl"
    with pytest.raises(KeyboardInterrupt):
        list(run_units([Unit("training", {}, {}, ends_early)], file, lambda _: None))
    assert finished(file) == {}


def lose_the_worker():
    os.kill(os.getpid(), signal.SIGKILL)


def one_row():
    return [{"done": True}]


@pytest.mark.slow
def test_a_lost_worker_is_told_and_what_was_done_is_kept(tmp_path):
    file = tmp_path / "done.jsonl"
    whole = [Unit("squares", {"n": n}, {}, one_row) for n in range(3)]
    assert len(list(run_units(whole, file, print, n_jobs=2))) == 3
    lost = Unit("squares", {"n": 3}, {}, lose_the_worker)
    with pytest.raises(MisfeatError, match="worker process was lost, killed or out of memory"):
        list(run_units([*whole, lost], file, print, n_jobs=2))
    assert len(finished(file)) == 3
