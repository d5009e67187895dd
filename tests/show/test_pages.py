from __future__ import annotations

from pathlib import Path

import pytest

from misfeat.exceptions import MisfeatError
from misfeat.show.pages import framed, policy_for, write_page


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
