from __future__ import annotations

import fcntl
import subprocess
import sys
import threading

import pytest

from misfeat.runtime.atomic_files import FileLock

HOLD = """
import sys, time
from pathlib import Path
from misfeat.runtime.atomic_files import FileLock
lock = FileLock(Path(sys.argv[1]))
assert lock.acquire()
print("acquired", flush=True)
sys.stdin.read()
lock.release()
time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that has the lock of a folder, until its input is closed or it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "acquired\n"
    yield process
    process.kill()
    process.wait()


def test_a_lock_is_waited_for_no_longer_than_patience_lasts(holder, tmp_path):
    assert not FileLock(tmp_path, patience=0.1).acquire()
    assert FileLock(tmp_path.parent, patience=0.1).acquire()


@pytest.mark.parametrize("ended", ["released", "killed"])
def test_the_next_one_goes_on_when_a_lock_is_released_or_its_process_killed(
    holder, tmp_path, ended
):
    holder.kill() if ended == "killed" else holder.stdin.close()
    assert FileLock(tmp_path, patience=300).acquire()


def test_a_lock_of_a_folder_keeps_other_threads_out_and_leaves_nothing(tmp_path):
    lock = FileLock(tmp_path)
    assert lock.acquire()
    acquired = []
    thread = threading.Thread(
        target=lambda: acquired.append(FileLock(tmp_path, patience=0.05).acquire())
    )
    thread.start()
    thread.join()
    assert acquired == [False]
    lock.release()
    assert FileLock(tmp_path, patience=0.05).acquire()
    assert not list(tmp_path.iterdir())


def test_nobody_waits_where_there_are_no_locks(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError("no such request")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    for _ in range(2):
        assert FileLock(tmp_path, patience=1e9).acquire()
