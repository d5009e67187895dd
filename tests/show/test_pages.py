from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.exceptions import InPython, Message, MisfeatError, Setting
from misfeat.show.pages import as_html, framed, policy_for, write_page
from misfeat.words.names import joined


def test_a_page_is_written_whole_and_replaces_an_older_one(tmp_path):
    place = tmp_path / "deep" / "page.html"
    assert write_page(place, "<!doctype html>one") == place
    write_page(str(place), "<!doctype html>two")
    assert place.read_text() == "<!doctype html>two"
    assert [one.name for one in place.parent.iterdir()] == ["page.html"]


def test_what_is_no_page_is_not_replaced(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,b")
    with pytest.raises(MisfeatError, match="exists and is no page; give another name"):
        write_page(table, "<!doctype html>one")
    assert table.read_text() == "a,b"
    table.write_text("")
    write_page(table, "<!doctype html>one")
    assert table.read_text() == "<!doctype html>one"


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(MisfeatError, match="is a folder; give the name of a file"):
        write_page(tmp_path, "one")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MisfeatError, match="cannot be written"):
        write_page(tmp_path / "file" / "page.html", "one")


def test_a_pipe_or_device_is_written_to_as_it_is():
    write_page("/dev/null", "one")
    assert not Path("/dev/null").is_file()


def test_another_style_has_another_policy():
    assert policy_for("a") != policy_for("b")
    assert "script" not in policy_for("a")


def test_a_frame_runs_nothing_and_its_title_ends_no_attribute():
    frame = framed("<p>\"'</p>", '"><script>')
    assert 'sandbox=""' in frame
    assert "<script>" not in frame
    assert "<p>" not in frame


@given(st.text(), st.text())
def test_no_name_makes_an_element(first, second):
    html = as_html(Message("In {where}, {names}.", where=first, names=joined([first, second])))
    without = html.replace('<bdi class="name">', "").replace("</bdi>", "")
    assert "<" not in without
    assert ">" not in without


def test_names_within_names_are_isolated_one_by_one():
    html = as_html(joined(["a", "b"]))
    assert html == '<bdi class="name">a</bdi> and <bdi class="name">b</bdi>'


def test_parameters_are_spelled_as_asked():
    message = Message("Use {setting}{python}.", setting=Setting("k", 3), python=InPython(" here"))
    assert as_html(message) == "Use <code>k=3</code> here."
    assert as_html(message, lambda one: f"--top {one.value}") == "Use <code>--top 3</code>."


def test_numbers_keep_their_units():
    assert (
        as_html(Message("{share} of {n:,}", share=Message("12 %"), n=1200)) == "12\u00a0% of 1,200"
    )


def test_text_without_parts_is_escaped():
    assert as_html("a < b") == "a &lt; b"


def test_what_turns_text_is_shown():
    assert "\u202e" not in as_html(Message("{name}", name="\u202eabc"))
