from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from errno import ENOSPC
from typing import TYPE_CHECKING

import numpy as np
import pytest

from misfeat import MisfeatError, checkpoint
from misfeat.machine.paths import unwritable
from misfeat.machine.steps import UNFINISHED, Form, Steps, fingerprint

if TYPE_CHECKING:
    from pathlib import Path


class Killed(BaseException):
    """Ends a block as a kill would."""


@contextmanager
def ended_by(error, folder):
    """A block that ends with an error."""
    with suppress(error), checkpoint(folder):
        yield
        raise error("ended")


def counted(calls, value):
    def make():
        calls.append(value)
        return value

    return make


def kept_files(folder: Path) -> list[Path]:
    return sorted((folder / UNFINISHED).iterdir())


def stopped(folder, *made_from, name="step", value=3):
    """Keep a step in a block that does not end well."""
    calls = []
    with ended_by(Killed, folder):
        Steps(*made_from).one(name, counted(calls, value))
    return calls


def resumed(folder, *made_from, name="step", form=None):
    """What the next block makes, and what it did for that."""
    calls = []
    with checkpoint(folder):
        found = Steps(*made_from).one(name, counted(calls, "anew"), form)
    return found, calls


def test_a_finished_step_is_not_done_again_and_nothing_is_left_afterwards(tmp_path):
    assert stopped(tmp_path, "table") == [3]
    assert len(kept_files(tmp_path)) == 1
    assert resumed(tmp_path, "table") == (3, [])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_not_there_is_gone_again(tmp_path):
    with checkpoint(tmp_path / "new"):
        Steps("table").one("step", lambda: 3)
        assert (tmp_path / "new").exists()
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("made_from", "name"),
    [(("another table",), "step"), (("table",), "another step"), (("table", "more"), "step")],
)
def test_steps_of_something_else_are_not_used(made_from, name, tmp_path):
    stopped(tmp_path, "table")
    assert resumed(tmp_path, *made_from, name=name) == ("anew", ["anew"])


def test_steps_of_another_version_are_not_used(tmp_path, monkeypatch):
    stopped(tmp_path, "table")
    monkeypatch.setattr("misfeat.machine.steps.SAME_BITS", ("another version",))
    assert resumed(tmp_path, "table") == ("anew", ["anew"])


def test_arrays_tell_tables_apart():
    arrays = [np.zeros(4), np.zeros((2, 2)), np.zeros(4, dtype=np.int64), np.ones(4)]
    assert len({fingerprint(array) for array in arrays}) == 4


@pytest.mark.parametrize("length", [0, 5, 32, 40, -1])
def test_a_file_that_was_cut_off_is_made_anew(length, tmp_path):
    stopped(tmp_path, "table")
    (file,) = kept_files(tmp_path)
    file.write_bytes(file.read_bytes()[:length])
    assert resumed(tmp_path, "table") == ("anew", ["anew"])


def test_a_changed_byte_is_noticed_wherever_it_is(tmp_path):
    stopped(tmp_path, "table")
    (file,) = kept_files(tmp_path)
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert resumed(tmp_path, "table") == ("anew", ["anew"])


def test_a_file_of_another_step_in_its_place_is_made_anew(tmp_path):
    stopped(tmp_path, "table", name="other", value=5)
    (other,) = kept_files(tmp_path)
    content = other.read_bytes()
    stopped(tmp_path, "table")
    (file,) = (one for one in kept_files(tmp_path) if one != other)
    file.write_bytes(content)
    assert resumed(tmp_path, "table") == ("anew", ["anew"])


@pytest.mark.parametrize("fits", [lambda found: found > 3, lambda found: found.shape == (2,)])
def test_a_forged_step_that_does_not_fit_is_made_anew(fits, tmp_path):
    stopped(tmp_path, "table")
    assert resumed(tmp_path, "table", form=Form(fits=fits)) == ("anew", ["anew"])


def test_steps_that_are_left_are_made_in_one_go_and_kept_one_by_one(tmp_path):
    stopped(tmp_path, "table", name="b", value=20)
    asked = []

    def make(left):
        asked.append(left)
        yield 1, 30
        yield 0, 10

    with ended_by(Killed, tmp_path):
        assert Steps("table").each("abc", make) == [10, 20, 30]
        assert len(kept_files(tmp_path)) == 3
    assert asked == [[0, 2]]


def test_an_error_of_ours_leaves_nothing_behind(tmp_path):
    with ended_by(MisfeatError, tmp_path):
        Steps("table").one("step", lambda: 3)
        assert len(kept_files(tmp_path)) == 1
    assert list(tmp_path.iterdir()) == []


def full(folder):
    """A block whose work is done, but for writing it."""
    with checkpoint(folder):
        Steps("table").one("step", lambda: 3)
        raise unwritable("answers", OSError(ENOSPC, "No space left on device"))


def test_work_stays_where_its_result_cannot_be_written(tmp_path):
    with pytest.raises(MisfeatError, match=r"No space left on device\. What was .* is kept in"):
        full(tmp_path)
    assert resumed(tmp_path, "table") == (3, [])


def test_nothing_is_kept_outside_of_a_block_nor_after_it(tmp_path):
    with checkpoint(tmp_path):
        steps = Steps("table")
    assert not steps.are_kept
    assert steps.one("step", lambda: 3) == 3
    assert not Steps("table").are_kept
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_plain_data_is_not_kept(tmp_path):
    with ended_by(Killed, tmp_path):
        assert Steps("table").one("step", lambda: KeyError) is KeyError
    assert list(tmp_path.iterdir()) == []


def test_what_a_stranger_put_there_stays(tmp_path):
    stopped(tmp_path, "table")
    (tmp_path / UNFINISHED / "notes.txt").write_text("mine")
    resumed(tmp_path, "table")
    assert [file.name for file in kept_files(tmp_path)] == ["notes.txt"]


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_link_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / UNFINISHED).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MisfeatError, match="not made by misfeat"), checkpoint(tmp_path):
        pass
