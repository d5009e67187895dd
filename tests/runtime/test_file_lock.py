from __future__ import annotations

import subprocess
import sys
import time

import pytest

from misfeat.runtime import turns
from misfeat.runtime.file_lock import Turn

HOLD = """
import sys, time
from pathlib import Path
from misfeat.runtime.file_lock import Turn
turn = Turn(Path(sys.argv[1]), "work")
assert turn.take()
print("taken", flush=True)
sys.stdin.read()
if sys.argv[2] == "end":
    turn.end()
    print("ended", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that has its turn: it ends it, or itself, when its input is closed."""
    started = []

    def start(how):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path), how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout.readline() == "taken\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_turn_is_waited_for_no_longer_than_patience_lasts(holder, tmp_path):
    holder("end")
    assert not Turn(tmp_path, "work", patience=0.1).take()
    assert Turn(tmp_path, "other work", patience=0.1).take()


def test_the_next_one_goes_on_when_a_turn_ends(holder, tmp_path):
    process = holder("end")
    process.stdin.close()
    assert Turn(tmp_path, "work", patience=300).take()


def test_the_turn_of_a_process_that_was_killed_is_free(holder, tmp_path):
    process = holder("end")
    process.kill()
    assert Turn(tmp_path, "work", patience=300).take()


def test_a_turn_can_be_taken_again_after_its_end(tmp_path):
    turn = Turn(tmp_path, "work")
    for _ in range(3):
        assert turn.take()
        turn.end()


def test_a_turn_that_was_not_taken_may_end(tmp_path):
    Turn(tmp_path, "work").end()


def test_nobody_waits_where_no_file_can_be_written(tmp_path):
    (tmp_path / "file").write_text("no folder")
    begun = time.monotonic()
    assert not Turn(tmp_path / "file", "work", patience=1e9).take()
    assert time.monotonic() - begun < 1e6


def test_nobody_waits_where_there_are_no_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "fcntl", None)
    turn = Turn(tmp_path, "work")
    assert not turn.take()
    turn.end()
