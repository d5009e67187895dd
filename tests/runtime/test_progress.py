from io import StringIO

import pytest
from rich.console import Console

from misfeat import MisfeatError, SubgroupSelector
from misfeat.cli.errors import in_options
from misfeat.datasets import make_cohorts
from misfeat.exceptions import MemoryLimitError
from misfeat.runtime.progress import Bar, long_work, progress_shown, unreported


def lines_of(steps):
    """What is written of steps: what, how much of how much is done, and seconds until the next."""
    now = [100.0]
    console = Console(file=StringIO())
    show = Bar(console, clock=lambda: now[0])
    for what, done, total, seconds in steps:
        show(what, done, total)
        now[0] += seconds
    return console.file.getvalue().splitlines()


def test_lines_are_some_seconds_apart_and_tell_the_time_left():
    lines = lines_of(("Scores", done, 100, 1) for done in range(100))
    assert lines[0] == "Scores: 10 %, about 0:01:30 left"
    assert lines[-1] == "Scores: 90 %, about 0:00:10 left"
    assert len(lines) == 9
    for short in (
        [("Scores", n, 4, 0.9) for n in range(4)],
        [("Scores", n, 10, 60) for n in (0, 10)],
    ):
        assert lines_of(short) == []  # short and finished work is not worth a line


def test_a_block_within_another_is_shown_by_the_outer_one(with_progress):
    with progress_shown(True) as outer, progress_shown(True) as inner:
        assert inner is outer
    with progress_shown(True) as later:
        assert later is not outer


def test_the_environment_turns_progress_off_for_good(monkeypatch):
    for text, is_off in (("off", True), ("", False), ("auto", False)):
        monkeypatch.setenv("MISFEAT_PROGRESS", text)
        with progress_shown(True) as wanted, progress_shown(False) as unwanted:
            assert (wanted is unreported) == is_off
            assert unwanted is unreported


def test_what_the_environment_may_not_say_is_refused(monkeypatch):
    monkeypatch.setenv("MISFEAT_PROGRESS", "no")
    with (
        pytest.raises(MisfeatError, match="MISFEAT_PROGRESS='no'; use 'auto' or 'off'"),
        progress_shown(True),
    ):
        pass


def test_every_step_of_a_fit_is_told_and_finished(with_progress, monkeypatch):
    told = []

    class Told:
        def __call__(self, *step):
            told.append(step)

        def announce(self, line):
            pass

        def close(self):
            pass

    monkeypatch.setattr("misfeat.runtime.progress.Bar", Told)
    data = make_cohorts(n_rows=200, n_features=5, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=2, verbose=1).fit(data.columns, data.target)
    steps = list(dict.fromkeys(what for what, _, _ in told))
    assert steps[0] == "Opening the table"
    assert "Scoring feature sets" in steps
    assert len(steps) == 5
    told_before = len(told)
    selector.validate()
    assert len(told) > told_before
    for what in dict.fromkeys(what for what, _, _ in told):
        done = [done for step, done, total in told if step == what]
        totals = {total for step, _, total in told if step == what}
        assert done[-1] == max(totals), what
        assert done == sorted(done), what


def test_silent_work_tells_nothing(capfd):
    data = make_cohorts(n_rows=200, n_features=4, random_state=0)
    SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    assert capfd.readouterr() == ("", "")


def test_full_memory_says_what_to_do():
    duckdb = pytest.importorskip("duckdb")
    for error in (
        MemoryError(),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("can't start new thread"),
        duckdb.OutOfMemoryException("failed to allocate"),
    ):
        with pytest.raises(MemoryLimitError) as caught, long_work(False):
            raise error
        assert str(caught.value) == (
            "The memory is full; lower size, leave features out (exclude) or use budget."
        )
        assert in_options(caught.value.message) == (
            "The memory is full; lower --size, leave features out (--exclude) or use --budget."
        )


def test_a_full_device_is_told_apart():
    torch = pytest.importorskip("torch")
    full = torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
    told = "of the CUDA device is full; lower size, .* or use device='cpu'"
    with pytest.raises(MemoryLimitError, match=told), long_work(False), long_work(False):
        raise full


def test_an_error_of_ours_that_full_memory_caused_is_told_as_that():
    with pytest.raises(MemoryLimitError), long_work(False):
        raise MisfeatError("cannot be read") from MemoryError()


def test_other_errors_pass():
    for error in (RuntimeError("no"), MisfeatError("no"), KeyError("no")):
        with pytest.raises(type(error)) as caught, long_work(False):
            raise error
        assert caught.value is error
