from __future__ import annotations

import base64
import hashlib
import io
import json
import re

import pytest
from rich.console import Console

import misfeat
from misfeat.exceptions import MisfeatError
from misfeat.show.comparison import comparison_as_json, print_comparison
from tests.show.comparison.conftest import HOSTILE
from tests.show.elements import Elements


def test_estimators_selections_and_folders_give_the_same_answer(runs, comparison, tmp_path):
    for name, run in zip(("last", "this"), runs, strict=True):
        run.save(tmp_path / name)
    found = misfeat.compare(str(tmp_path / "last"), tmp_path / "this")
    assert found.changes == comparison.changes
    assert found.names == ("last", "this")
    assert misfeat.compare(*(run.selection_ for run in runs)).sentences() == comparison.sentences()


def test_runs_are_named_and_what_is_not_a_run_is_refused(runs):
    assert misfeat.compare(*runs).names == ("first", "second")
    assert misfeat.compare(*runs, names=["2024", "2025"]).names == ("2024", "2025")
    with pytest.raises(MisfeatError, match="give two names"):
        misfeat.compare(*runs, names="2024")
    for other in (misfeat.SubgroupSelector(), None, {"a": [1]}):
        with pytest.raises(MisfeatError, match=r"second.* is neither a fitted SubgroupSelector"):
            misfeat.compare(runs[0], other)


def test_the_page_can_be_written_and_shown_in_a_notebook(comparison, tmp_path):
    comparison.write_html(tmp_path / "changes.html")
    assert (tmp_path / "changes.html").read_text() == comparison.html()
    assert comparison._repr_html_().startswith("<iframe")


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


def test_the_page_says_the_answer_first_and_lists_what_changed(comparison):
    html = comparison.html()
    assert html.lstrip().startswith("<!doctype html>")
    said = "".join(Elements(html).text)
    assert said.index(comparison.summary()) < said.index("Subgroup by subgroup")
    for one in comparison.subgroups:
        assert one.sentence in said
    for note in comparison.notes:
        assert note in said
    rows = [held for tag, held in Elements(html).found if held.get("scope") == "row"]
    assert len(rows) == len(comparison.changed) + len(comparison.subgroups)


def test_nothing_is_run_or_fetched(comparison):
    html = comparison.html()
    assert "<script" not in html
    assert not re.search(r"(src|href)=\"(?!#)", html)
    style = re.search(r"<style>(.*)</style>", html, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy.replace("&#39;", "'").startswith(
        f"default-src 'none'; style-src 'sha256-{digest}'"
    )
    # The policy would forbid an element a style of its own.
    assert not [tag for tag, held in Elements(html).found if "style" in held]


def test_hostile_names_are_text_in_a_terminal_and_on_the_page(hostile):
    shown = printed(hostile)
    assert "\x1b[31m" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[31mred" in shown
    assert "[bold]b[/bold]" in shown
    page = Elements(hostile.html())
    assert not [tag for tag, _ in page.found if tag == "script"]
    assert not [held for _, held in page.found if any(name.startswith("on") for name in held)]
    said = "".join(page.text)
    assert HOSTILE[0] in said
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\\u202eabc" in said
    names = [held["id"] for _, held in page.found if "id" in held]
    assert len(names) == len(set(names))
    links = [held["href"][1:] for tag, held in page.found if tag == "a"]
    assert set(links) <= set(names)
    assert len(links) == sum(bool(one.changed) for one in hostile.subgroups)
