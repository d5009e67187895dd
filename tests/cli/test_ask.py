"""Questions to a saved run, and its answers as files: `ask` and `export`."""

from pathlib import Path

import openpyxl
import pytest

from misfeat.show.question_output import QUESTIONS
from tests.cli.commands import done, json_lines, refused, run

ABOUT_A_SET = ("--subgroup", "site=a", "--feature", "x", "--feature", "z")


def about(question):
    return ABOUT_A_SET if QUESTIONS[question].of_a_set else ()


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_is_answered_in_words_and_as_json(saved, question):
    shown = done("ask", saved, question, *about(question)).stdout
    assert shown.startswith(QUESTIONS[question].words)
    found = json_lines("ask", saved, question, *about(question))
    assert {line["question"] for line in found} <= {question}
    assert found or QUESTIONS[question].empty in shown


def test_answers_are_those_of_the_library(saved):
    from misfeat import SubgroupSelector

    line = json_lines("ask", saved, "significance")[0]
    expected = SubgroupSelector.load(saved).significance().iloc[0]
    assert line["p_value"] == expected["p_value"]
    assert tuple(line["features"]) == tuple(expected["features"])


def test_one_subgroup_can_be_asked_about(saved):
    found = json_lines("ask", saved, "enough", "--subgroup", "site=a")
    assert {one["subgroup"] for one in found[:-1]} == {"site=a"}
    assert found[-1]["sentence"].startswith("site=a: x and z explain")


def test_a_set_that_is_not_named_is_the_recommended_one(saved):
    named = run("ask", saved, "why", *ABOUT_A_SET)
    assert run("ask", saved, "why", "--subgroup", "a").stdout == named.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing",), "'nothing' is not a question; ask for 'answer', 'top'"),
        (("why",), "'why' is about one set; name its subgroup with --subgroup, and with"),
        (("why", "--subgroup", "site=q", "--feature", "x"), "There is no subgroup 'site=q'; did"),
        (("significance", "--subgroup", "site=a"), "'significance' takes no --subgroup"),
        (("top", "--size", "0"), "size"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(saved, words, message):
    assert message in refused("ask", saved, *words)


def test_where_the_target_never_varies_that_is_why_there_is_nothing_to_show(tmp_path):
    rows = [f"a,{x},{x}" for x in (0, 1) * 30] + [f"b,{x},1" for x in (0, 1) * 30]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["group,x,y", *rows]) + "\n")
    options = ("--target", "y", "--by", "group", "--size", "1", "--quiet")
    folder = str(tmp_path / "run")
    done("run", str(table), *options, "--out", folder)
    found = run("ask", folder, "top", "--subgroup", "b")
    assert found.stdout.endswith("There is nothing to show: 'y' has a single value in 'group=b'.\n")


def test_a_saved_run_becomes_a_workbook_and_says_where(saved, tmp_path):
    place = tmp_path / "answers.XLSX"
    result = done("export", saved, str(place), "--question", "top", "--question", "worth")
    assert f"Answers: {place}" in result.stderr
    book = openpyxl.load_workbook(place)
    assert book.sheetnames == ["about", "in words", "best sets", "worth collecting"]
    heads, line = book["worth collecting"].iter_rows(values_only=True)
    assert line[heads.index("cost")] == 4, "the costs of the run are known"


def test_all_questions_go_into_a_folder(saved, tmp_path):
    assert done("export", saved, str(tmp_path / "answers"), "-q").stderr == ""
    names = [file.stem.replace("_", " ") for file in (tmp_path / "answers").iterdir()]
    page = (Path(__file__).parents[2] / "docs" / "how_to" / "export.md").read_text(encoding="utf-8")
    assert [f"| `{name}` |" in page for name in names] == [True] * 17


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
    assert message in refused("export", saved, *words)
    assert list(tmp_path.iterdir()) == []
