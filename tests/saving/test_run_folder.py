import errno
import os

import pytest

from misfeat import DamagedFileError, MisfeatError, SubgroupSelector
from misfeat.runtime import file_system
from misfeat.runtime.file_system import STAGED, FileLock
from misfeat.saving import run_folder
from misfeat.saving.run_folder import (
    ARRAYS,
    COMMITTED,
    MANIFEST,
    PARTS,
    REPORT,
    SETTINGS,
    add_part,
    check_folder,
    make_folder,
    read_parts,
    write_parts,
)

OLD = {MANIFEST: b"old", ARRAYS: b"old arrays", REPORT: b"old report"}
NEW = {MANIFEST: b"new", ARRAYS: b"new arrays", SETTINGS: b"new settings"}


def test_a_selection_is_replaced_and_nothing_else_is(selector, tmp_path):
    selector.save(tmp_path / "run")
    selector.save(str(tmp_path / "run"))
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("years of work")
    with pytest.raises(MisfeatError, match=r"holds 'thesis.txt', which is no part of a selection"):
        selector.save(tmp_path / "other")
    with pytest.raises(MisfeatError, match=r"thesis.txt' is a file; give a folder"):
        selector.save(tmp_path / "other" / "thesis.txt")
    with pytest.raises(MisfeatError, match="cannot be written"):
        selector.save(tmp_path / "other" / "thesis.txt" / "run")
    assert (tmp_path / "other" / "thesis.txt").read_text() == "years of work"


def test_files_that_others_put_beside_a_selection_are_not_lost(selector, tmp_path):
    selector.save(tmp_path / "run")
    (tmp_path / "run" / "report.html").write_text("of the old selection")
    selector.save(tmp_path / "run")
    assert not (tmp_path / "run" / "report.html").exists()
    (tmp_path / "alone").mkdir()
    for place in (tmp_path / "run" / "thesis.txt", tmp_path / "alone" / "report.html"):
        place.write_text("years of work")
        with pytest.raises(MisfeatError, match=f"holds '{place.name}'"):
            selector.save(place.parent)
        assert place.read_text() == "years of work"


def test_a_link_is_followed_to_the_folder_it_points_to(selector, tmp_path):
    (tmp_path / "disk").mkdir()
    link = tmp_path / "run"
    link.symlink_to(tmp_path / "disk", target_is_directory=True)
    for _ in range(2):  # into an empty folder, then over what is there
        selector.save(link)
        assert link.is_symlink()
        assert sorted(path.name for path in (tmp_path / "disk").iterdir()) == [ARRAYS, MANIFEST]
    assert SubgroupSelector.load(link).top_k().equals(selector.top_k())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "run"]


def test_a_folder_is_checked_before_the_work_and_left_as_it_was(tmp_path):
    new = tmp_path / "new"
    assert check_folder(str(new)) == new.resolve()
    assert not new.exists()
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(MisfeatError, match="is no part of a saved run"):
        check_folder(str(tmp_path))
    with pytest.raises(MisfeatError, match="is a file; give a folder") as refused:
        make_folder(str(tmp_path / "thesis.txt"))
    assert refused.value.parameter == "out"
    with pytest.raises(MisfeatError, match="give the path of a folder"):
        make_folder("")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "run"
    write_parts(place, OLD)
    return place


def in_place(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def wait(folder, files):
    """Leave files as a save that is killed after its decision leaves them."""
    (folder / COMMITTED).mkdir()
    for name, content in files.items():
        (folder / COMMITTED / name).write_bytes(content)


def test_the_parts_of_a_run_replace_all_parts_of_an_older_one(folder):
    assert read_parts(folder, PARTS) == in_place(folder) == OLD
    write_parts(folder, NEW)
    assert read_parts(folder, PARTS) == in_place(folder) == NEW


def test_what_was_decided_is_read_before_it_is_in_its_place(folder):
    wait(folder, NEW)
    assert read_parts(folder, PARTS) == NEW
    os.replace(folder / COMMITTED / MANIFEST, folder / MANIFEST)  # noqa: PTH105
    (folder / REPORT).unlink()
    assert read_parts(folder, PARTS) == NEW


def test_the_next_save_puts_away_what_was_left(folder):
    (folder / f"{STAGED}1").mkdir()
    (folder / f"{STAGED}1" / MANIFEST).write_bytes(b"half")
    (folder / f"{STAGED}2").write_bytes(b"half a report")
    wait(folder, NEW)
    add_part(folder, REPORT, b"new report", NEW[MANIFEST])
    assert in_place(folder) == {**NEW, REPORT: b"new report"}
    wait(folder, OLD)
    write_parts(folder, NEW)
    assert in_place(folder) == NEW


@pytest.mark.parametrize("call", ["fsync", "mkdir", "rename"])
def test_a_disk_that_is_full_leaves_the_old_run(folder, monkeypatch, call):
    def full(*_args, **_settings):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, full)
        with pytest.raises(MisfeatError, match="cannot be written: No space left"):
            write_parts(folder, NEW)
        if call == "fsync":
            with pytest.raises(MisfeatError, match="cannot be written: No space left"):
                write_parts(folder.with_name("another"), NEW)
    assert in_place(folder) == OLD
    assert [entry.name for entry in folder.parent.iterdir()] == ["run"]


def test_a_part_is_added_to_the_run_that_it_belongs_to_alone(folder):
    with pytest.raises(MisfeatError, match="was saved anew in the meantime"):
        add_part(folder, REPORT, b"of another run", NEW[MANIFEST])
    assert in_place(folder) == OLD
    add_part(folder, REPORT, b"again", OLD[MANIFEST])
    assert in_place(folder) == {**OLD, REPORT: b"again"}


def test_a_link_is_replaced_and_never_written_through(folder, tmp_path):
    letter = tmp_path / "letter.txt"
    letter.write_text("dear")
    for write in (
        lambda: add_part(folder, REPORT, b"page", OLD[MANIFEST]),
        lambda: write_parts(folder, {**OLD, REPORT: b"page"}),
    ):
        (folder / REPORT).unlink()
        (folder / REPORT).symlink_to(letter)
        assert read_parts(folder, [REPORT]) == {REPORT: b"dear"}  # reading may follow it
        write()
        assert not (folder / REPORT).is_symlink()
        assert (folder / REPORT).read_bytes() == b"page"
    assert letter.read_text() == "dear"


def test_a_hidden_folder_of_strangers_is_refused_and_left_alone(folder, tmp_path):
    letters = tmp_path / "letters"
    letters.mkdir()
    (letters / MANIFEST).write_text("dear")
    (folder / COMMITTED).symlink_to(letters, target_is_directory=True)
    for act in (lambda: read_parts(folder, PARTS), lambda: write_parts(folder, NEW)):
        with pytest.raises(DamagedFileError, match="was not written by misfeat"):
            act()
    (folder / COMMITTED).unlink()
    wait(folder, {"thesis.txt": b"years of work"})
    with pytest.raises(DamagedFileError, match=r"thesis.txt' was not written by misfeat"):
        write_parts(folder, NEW)
    assert (letters / MANIFEST).read_text() == "dear"
    (folder / COMMITTED / "thesis.txt").unlink()
    (folder / f"{STAGED}1").symlink_to(letters, target_is_directory=True)
    write_parts(folder, NEW)
    assert in_place(folder) == NEW
    assert (letters / MANIFEST).read_text() == "dear"


def test_only_plain_files_are_read(folder):
    (folder / MANIFEST).unlink()
    os.mkfifo(folder / MANIFEST)
    with pytest.raises(DamagedFileError, match="is no plain file"):
        read_parts(folder, [MANIFEST])


def test_a_run_that_is_saved_while_it_is_read_is_read_again(folder, monkeypatch):
    read, turns = run_folder._read, []

    def slowly(file):
        if not turns:
            turns.append(file)
            found = read(file)
            write_parts(folder, NEW)
            return found
        return read(file)

    monkeypatch.setattr(run_folder, "_read", slowly)
    assert read_parts(folder, PARTS) == NEW


def test_a_folder_that_never_rests_is_told(folder, monkeypatch):
    monkeypatch.setattr(file_system, "TRIES", 3)
    monkeypatch.setattr(run_folder, "_stamp", lambda _: object())
    with pytest.raises(MisfeatError, match="is being written all the time"):
        read_parts(folder, PARTS)


def test_a_folder_that_another_one_keeps_locked_is_told(folder, monkeypatch):
    lock = FileLock(folder)
    assert lock.acquire()
    monkeypatch.setattr(file_system, "FileLock", lambda path: FileLock(path, patience=0.05))
    with pytest.raises(MisfeatError, match="is being written; try again later"):
        write_parts(folder, NEW)
    lock.release()
    write_parts(folder, NEW)
    assert in_place(folder) == NEW
