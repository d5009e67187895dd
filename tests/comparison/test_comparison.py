import io
import json

import pytest
from rich.console import Console

import misfeat
from misfeat.comparison import comparison_as_json, print_comparison
from misfeat.exceptions import MisfeatError


def test_estimators_selections_and_folders_give_the_same_answer(runs, comparison, tmp_path):
    for name, run in zip(("last", "this"), runs, strict=True):
        run.save(tmp_path / name)
    found = misfeat.compare(str(tmp_path / "last"), tmp_path / "this")
    assert found.changes == comparison.changes
    assert found.names == ("last", "this")
    assert misfeat.compare(*(run.selection_ for run in runs)).sentences() == comparison.sentences()


def test_runs_are_named_and_what_is_not_a_run_is_refused(runs):
    assert misfeat.compare(*runs).names == ("first", "second")
    assert misfeat.compare(*runs, names=("2024", "2025")).names == ("2024", "2025")
    for other in (misfeat.SubgroupSelector(), None, {"a": [1]}):
        with pytest.raises(MisfeatError, match=r"second.* is neither a fitted SubgroupSelector"):
            misfeat.compare(runs[0], other)


def printed(found, width=200):
    console = Console(file=io.StringIO(), width=width)
    print_comparison(found, console)
    return console.file.getvalue()


def test_the_answer_comes_first_in_lines_that_fit_the_terminal(comparison):
    lines = printed(comparison, 1000).splitlines()
    assert lines[0] == comparison.summary()
    assert lines[1:4] == [one.sentence for one in comparison.subgroups]
    assert lines[4] == "site=b"
    assert lines[-1] == comparison.notes[-1]
    for width in (40, 80, 120):
        assert max(map(len, printed(comparison, width).splitlines())) <= width


def test_json_has_every_line(comparison):
    lines = [json.loads(line) for line in comparison_as_json(comparison)]
    kinds = [line["kind"] for line in lines]
    assert kinds.count("comparison") == 1
    assert kinds.count("subgroup") == len(comparison.subgroups)
    assert kinds.count("change") == len(comparison.changes)
    assert kinds.count("note") == len(comparison.notes)
    assert lines[0]["sentence"] == comparison.summary()
    (line,) = [
        one
        for one in lines
        if one["kind"] == "change" and one["subgroup"] == "site=b" and one["features"] == ["x"]
    ]
    assert line["changed"] is True


def test_hostile_names_are_text_in_a_terminal(hostile):
    shown = printed(hostile)
    assert "\x1b[31m" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[31mred" in shown
    assert "[bold]b[/bold]" in shown
