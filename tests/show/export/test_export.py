import os
from pathlib import Path

import pandas as pd
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.show import export
from misfeat.show.export import _write_folder

QUICK = ["subgroups", "top", "columns"]


def names_in(folder):
    return {file.name for file in folder.iterdir()}


def test_a_slash_or_a_folder_that_is_there_stands_for_a_folder(fitted, tmp_path):
    fitted.export(f"{tmp_path}/run.v1/", QUICK)
    (tmp_path / "run.v1" / ".hidden").touch()
    fitted.export(tmp_path / "run.v1", ["top"])
    assert names_in(tmp_path / "run.v1") == {
        ".hidden",
        "about.csv",
        "in_words.csv",
        "best_sets.csv",
    }


def test_pandas_reads_numbers_as_numbers(fitted, tmp_path):
    fitted.export(tmp_path / "a.csv", "top")
    found, expected = pd.read_csv(tmp_path / "a.csv"), fitted.top_k()
    for name in ("score", "low", "high", "share", "rank"):
        assert found[name].tolist() == pytest.approx(expected[name].tolist(), rel=1e-15)
    assert found["features"].tolist() == [", ".join(one) for one in expected["features"]]


REFUSED = [
    ({"path": "a.xls"}, r"'a\.xls' ends in '\.xls'.*\.xlsx for an Excel workbook"),
    ({"path": "a.csv"}, r"holds the answer to one question; name it in questions"),
    ({"path": "a", "questions": ["tops"]}, r"'tops' is not a question; name some of 'answer', "),
    ({"path": "a", "questions": []}, r"No question; name some of"),
    ({"path": "a", "k": 0}, r"k=0; it must be an integer"),
    ({"path": "a", "size": 99}, r"size=99 is larger than the number of features"),
    ({"path": "a", "questions": "worth", "costs": {"nobody": 1}}, r"nobody"),
    ({"path": 3}, r"path=3; give the path of a file"),
    ({"path": "file/a.xlsx"}, r"'file/a\.xlsx' cannot be written: Not a directory"),
    ({"path": "file/"}, r"'file' cannot be written: Not a directory"),
    ({"path": "other"}, r"'other' holds 'thesis\.txt', which is not part of an export"),
    ({"path": "x" * 3000}, r"cannot be written: File name too long"),
]


def test_what_cannot_be_written_is_refused(fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("other").mkdir()
    Path("other/thesis.txt").touch()
    for asked, message in REFUSED:
        with pytest.raises(MisfeatError, match=message):
            fitted.export(**asked)
    assert names_in(Path()) == {"file", "other"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_nobody_may_write_to_is_named(fitted, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(MisfeatError, match="cannot be written: Permission denied"):
        fitted.export(tmp_path / "a.xlsx", QUICK)


def test_a_full_disk_leaves_the_older_file(fitted, tmp_path, monkeypatch):
    room = []

    def full(*_):
        if not room:
            raise OSError(28, "No space left on device")
        room.pop()

    (tmp_path / "a.xlsx").write_text("old")
    _write_folder(tmp_path / "folder", {"about.csv": b"old"})
    monkeypatch.setattr(os, "fsync", full)
    for name in ("a.xlsx", "folder"):
        room[:] = range(2 * (name == "folder"))  # two of its files find some
        with pytest.raises(MisfeatError, match="No space left on device"):
            fitted.export(tmp_path / name, QUICK)
    assert names_in(tmp_path) == {"a.xlsx", "folder"}
    assert (tmp_path / "a.xlsx").read_text() == "old"
    assert names_in(tmp_path / "folder") == {"about.csv"}
    assert (tmp_path / "folder" / "about.csv").read_text() == "old"


def test_without_libraries_the_way_to_them_is_named_and_csv_is_written(
    fitted, tmp_path, monkeypatch
):
    monkeypatch.setattr(export, "find_spec", lambda _: None)
    fitted.export(tmp_path / "folder", "top")
    with pytest.raises(MisfeatError, match=r"pip install 'misfeat\[excel\]'"):
        fitted.export(tmp_path / "a.xlsx", "top")
    assert names_in(tmp_path) == {"folder"}


@pytest.mark.slow
def test_what_takes_minutes_is_left_out_unless_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("misfeat.answers.subgroup_significance.MOST_RESAMPLED", 0)
    data = make_cohorts(2, 80, 4, random_state=0)
    selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    selector.export(f"{tmp_path}/all/")
    (note,) = (tmp_path / "all" / "stability.csv").read_text().splitlines()[1:]
    assert "questions=['stability']" in note
    selector.export(tmp_path / "one.csv", "stability")
    selector.export(f"{tmp_path}/all/")
    again = (tmp_path / "all" / "stability.csv").read_text()
    assert again == (tmp_path / "one.csv").read_text()
