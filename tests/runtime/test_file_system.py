import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.runtime.file_system import FileLock, as_path

TABLE = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
ODD = ("a\0b", "~nobody-of-this-name/run", "q" * 3000, "loop", "loop/run", 3, "", b"run")


@pytest.fixture(scope="module")
def selector():
    return SubgroupSelector(size=1).fit(TABLE, "y")


def test_odd_paths_are_refused_in_one_line(selector, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    report = selector.report()
    for path in ODD:
        for use in (selector.save, SubgroupSelector.load, report.write_html):
            if path == "loop" and use == report.write_html:
                continue  # a file takes the place of a link that leads nowhere
            with pytest.raises(MisfeatError) as refused:
                use(path)
            assert str(refused.value).isprintable()
            assert len(str(refused.value)) < 2000
            assert [entry.name for entry in Path().iterdir()] == ["loop"]


def test_a_home_folder_is_spelled_out():
    assert as_path("~/run", "folder") == Path.home() / "run"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
@pytest.mark.parametrize("below", ["", "run", "table.csv"])
def test_what_may_not_be_read_is_named(below, selector, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0)
    for ask in (selector.save, SubgroupSelector.load):
        with pytest.raises(MisfeatError, match="Permission denied"):
            ask(folder / below)
    with pytest.raises(MisfeatError, match="Permission denied"):
        SubgroupSelector().fit(str(folder / below), "y")


HOLD = """
import sys, time
from pathlib import Path
from misfeat.runtime.file_system import FileLock
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
