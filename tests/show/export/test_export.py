from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import openpyxl
import pytest

from misfeat import MisfeatError
from misfeat.show.export.tables import TITLES

QUICK = ["subgroups", "top", "columns"]


def test_a_workbook_begins_with_what_it_is_about(fitted, tmp_path):
    fitted.export(tmp_path / "a.XLSX", QUICK)
    book = openpyxl.load_workbook(tmp_path / "a.XLSX")
    assert book.sheetnames == ["about", "in words", "subgroups", "best sets", "columns"]


def test_all_questions_are_answered_where_none_is_named(fitted, tmp_path):
    fitted.export(tmp_path / "answers")
    names = {f"{title.replace(' ', '_')}.csv" for title in ("about", "in words", *TITLES.values())}
    assert {file.name for file in (tmp_path / "answers").iterdir()} == names


def test_a_slash_or_a_folder_that_is_there_stands_for_a_folder(fitted, tmp_path):
    fitted.export(f"{tmp_path}/run.v1/", QUICK)
    fitted.export(tmp_path / "run.v1", ["top"])
    names = {file.name for file in (tmp_path / "run.v1").iterdir()}
    assert names == {"about.csv", "in_words.csv", "best_sets.csv"}


def test_an_archive_and_a_single_file_hold_the_same_table(fitted, tmp_path):
    fitted.export(tmp_path / "a.zip", QUICK)
    fitted.export(tmp_path / "a.csv", "top")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.read("best_sets.csv") == (tmp_path / "a.csv").read_bytes()


def test_sizes_and_numbers_of_sets_can_be_other_than_at_fit(fitted, tmp_path):
    fitted.export(tmp_path / "a.csv", "top", size=1, k=1)
    _, *lines = (tmp_path / "a.csv").read_text().splitlines()
    assert len(lines) == len(fitted.subgroups_)
    assert fitted.selection_.k == 3


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"path": "a.xls"}, r"'a\.xls' ends in '\.xls'.*\.xlsx for an Excel workbook"),
        ({"path": "a.csv"}, r"holds the answer to one question; name it in questions"),
        ({"path": "a", "questions": ["tops"]}, r"'tops' is no question; name some of 'subgroups'"),
        ({"path": "a", "questions": []}, r"No question; name some of"),
        ({"path": "a", "k": 0}, r"k=0; it must be an integer"),
        ({"path": "a", "size": 99}, r"size=99 is larger than the number of features"),
        ({"path": "a", "costs": {"nobody": 1}}, r"nobody"),
        ({"path": 3}, r"path=3; give the path of a file"),
        (
            {"path": "file/a.xlsx", "costs": {"nobody": 1}},
            r"'file/a\.xlsx' cannot be written: Not a directory",
        ),
        ({"path": "file/"}, r"'file' cannot be written: Not a directory"),
        ({"path": "other"}, r"'other' holds 'thesis\.txt'"),
        ({"path": "x" * 3000}, r"cannot be written: File name too long"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_written_is_refused(fitted, tmp_path, monkeypatch, asked, message):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("other").mkdir()
    Path("other/thesis.txt").touch()
    with pytest.raises(MisfeatError, match=message):
        fitted.export(**asked)
    assert sorted(one.name for one in Path().iterdir()) == ["file", "other"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_nobody_may_write_to_is_named(fitted, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(MisfeatError, match="cannot be written: Permission denied"):
        fitted.export(tmp_path / "a.zip", QUICK)


def test_a_full_disk_leaves_the_older_file(fitted, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "a.zip").write_text("old")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(MisfeatError, match="No space left on device"):
        fitted.export(tmp_path / "a.zip", QUICK)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_without_openpyxl_the_way_to_it_is_named_and_csv_is_written(tmp_path):
    code = f"""
import sys
sys.modules["openpyxl"] = None
from misfeat import MisfeatError, SubgroupSelector
table = {{"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}}
selector = SubgroupSelector(size=1).fit(table, "y")
selector.export({str(tmp_path / "folder")!r}, "top")
try:
    selector.export({str(tmp_path / "a.xlsx")!r}, "top")
except MisfeatError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'misfeat[excel]'" in ran.stdout
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_a_workbook_can_be_sent_into_a_pipe(fitted, tmp_path):
    os.mkfifo(tmp_path / "a.xlsx")
    reader = subprocess.Popen(["cat", str(tmp_path / "a.xlsx")], stdout=subprocess.PIPE)
    fitted.export(tmp_path / "a.xlsx", ["subgroups"])
    sent, _ = reader.communicate(timeout=300)
    assert "subgroups" in openpyxl.load_workbook(io.BytesIO(sent)).sheetnames
