from __future__ import annotations

import openpyxl
import pytest

from tests.cli.commands import run


def test_a_saved_run_becomes_a_workbook_and_says_where(saved, tmp_path):
    place = tmp_path / "answers.xlsx"
    result = run("export", saved, str(place), "--question", "top", "--question", "worth")
    assert result.exit_code == 0, result.stderr
    assert f"Answers: {place}" in result.stderr
    book = openpyxl.load_workbook(place)
    assert book.sheetnames == ["about", "in words", "best sets", "worth collecting"]
    heads, line = book["worth collecting"].iter_rows(values_only=True)
    assert line[heads.index("cost")] == 4, "the costs of the run are known"


def test_all_questions_go_into_a_folder(saved, tmp_path):
    result = run("export", saved, str(tmp_path / "answers"), "-q")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert len(list((tmp_path / "answers").iterdir())) == 16


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.pdf",), "ends in '.pdf', which is not a format of answers"),
        (("a.csv",), "name it in --question, or give a folder"),
        (("a", "--question", "tops"), "'tops' is not a question"),
        (("a", "--top", "0"), "--top 0"),
        (("a", "--size", "9"), "--size 9 is larger than the number of features"),
    ],
)
def test_what_cannot_be_exported_is_said_in_one_line(saved, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    result = run("export", saved, *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
