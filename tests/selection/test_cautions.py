from __future__ import annotations

from misfeat import SubgroupSelector
from misfeat.selection.cautions import cautions
from tests.cli.commands import run


def notes(path, *arguments: str) -> list[str]:
    result = run("run", str(path), *arguments, "--top", "1")
    assert result.exit_code == 0, result.stderr
    return [line.removeprefix("note: ") for line in result.stderr.splitlines()]


def test_a_value_that_may_stand_for_missing_is_pointed_out(heart_path):
    asked = ("--target", "num", "--by", "site", "--size", "2")
    (found,) = [note for note in notes(heart_path, *asked) if "chol" in note]
    assert found.startswith("Feature 'chol' has a single value in 'site=switzerland'")
    coded = notes(heart_path, *asked, "--missing", "chol=0")
    assert not [note for note in coded if "chol" in note]


def test_a_single_value_in_a_handful_of_rows_is_no_surprise(heart_path):
    found = notes(heart_path, "--target", "num", "--by", "age", "--size", "1")
    assert not [note for note in found if "has a single value in 'age=28'" in note]


def test_few_rows_for_many_combinations_are_pointed_out(heart_path):
    asked = ("--target", "num", "--by", "site", "--size")
    assert [n for n in notes(heart_path, *asked, "3") if n.startswith("Few rows in 'site=clevel")]
    assert not [n for n in notes(heart_path, *asked, "1") if n.startswith("Few rows")]


def test_sets_that_tell_nothing_are_pointed_out(tmp_path):
    path = tmp_path / "t.csv"
    rows = [(site, x, y) for site in "ab" for x in (0, 1) for y in (0, 1)] * 5
    path.write_text("site,x,y\n" + "".join(f"{s},{x},{x if s == 'a' else y}\n" for s, x, y in rows))
    asked = ("--target", "y", "--by", "site", "--size", "1")
    (found,) = notes(path, *asked)
    assert found == (
        "No set tells more than 2 % of the target 'y' in 'site=b'; the order of sets there may be "
        "chance."
    )
    assert len(notes(path, *asked, "--measure", "r2")) == 1


def test_an_identifier_is_left_out_with_a_remedy_for_the_command_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x,y\n" + "".join(f"{n * 7},{n % 2},{n % 2}\n" for n in range(200)))
    (found,) = notes(path, "--target", "y", "--size", "1")
    assert "Column 'id' is left out as an identifier" in found
    assert "pass --bins 'id=5'; else drop the column" in found
    assert notes(path, "--target", "y", "--size", "1", "--bins", "id=5") == []


def test_few_cases_are_pointed_out_where_there_are_two_classes():
    table = {"a": [0, 1] * 100, "b": [0, 0, 1, 1] * 50}
    rare, common, many = [1] * 20 + [0] * 180, [0, 1] * 100, [0, 1, 2, 2] * 50

    def said(y):
        found = cautions(SubgroupSelector(size=1).fit(table, y))
        return [one for one in found if one.startswith("Few rows of the rarer class")]

    assert said(common) == said(many) == []
    (found,) = said(rare)
    assert "20 at the fewest, in 'all rows'; take" in found
