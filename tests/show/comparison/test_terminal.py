from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from misfeat.show.comparison.terminal import comparison_as_json, print_comparison


def printed(found, width=200):
    console = Console(file=io.StringIO(), width=width)
    print_comparison(found, console)
    return console.file.getvalue()


def test_the_answer_comes_first_then_every_subgroup_then_what_changed(comparison):
    lines = printed(comparison, 1000).splitlines()
    assert lines[0] == comparison.summary()
    assert lines[1:4] == [one.sentence for one in comparison.subgroups]
    assert lines[4] == "site=b"
    assert lines[-1] == comparison.notes[-1]


def test_only_sets_that_changed_are_in_tables(comparison):
    lines = printed(comparison, 1000).splitlines()
    table = lines[lines.index("site=b") + 4 : -len(comparison.notes)]
    shown = [line.split("  ")[1].strip() for line in table if line.strip()]
    assert shown == [", ".join(one.features) for one in comparison.changed]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(comparison, width):
    assert max(map(len, printed(comparison, width).splitlines())) <= width


def test_hostile_names_command_no_terminal(hostile):
    shown = printed(hostile)
    assert "\x1b[31m" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[31mred" in shown
    assert "[bold]b[/bold]" in shown


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
