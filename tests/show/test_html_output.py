import os
import re
import webbrowser
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.exceptions import MisfeatError
from misfeat.messages import Message, Setting
from misfeat.number_formatting import joined
from misfeat.show.html_output import as_html, framed
from misfeat.show.report import Report


class Page(Report):
    def __init__(self):
        super().__init__({}, {}, {})

    def html(self):
        return "<!doctype html>new"


def test_a_page_is_written_whole_and_replaces_an_older_one(tmp_path):
    path = tmp_path / "deep" / "page.html"
    Page().write_html(path)
    path.write_text("<!doctype html>old")
    Page().write_html(str(path))
    assert path.read_text() == "<!doctype html>new"
    assert [one.name for one in path.parent.iterdir()] == ["page.html"]


def test_what_is_not_a_page_is_not_replaced(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,b")
    with pytest.raises(MisfeatError, match="exists and is not a page; give another name"):
        Page().write_html(table)
    assert table.read_text() == "a,b"
    table.write_text("")
    Page().write_html(table)
    assert table.read_text() == "<!doctype html>new"


def test_a_path_that_cannot_be_written_is_named_and_nothing_is_left(tmp_path, monkeypatch):
    with pytest.raises(MisfeatError, match="is a folder; give the name of a file"):
        Page().write_html(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(MisfeatError, match=r"page\.html' cannot be written"):
        Page().write_html(tmp_path / "file" / "page.html")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(MisfeatError, match="cannot be written: No space left on device"):
        Page().write_html(tmp_path / "page.html")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_links_are_followed_and_pipes_and_devices_are_written_to(tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    Page().write_html(tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "page.html").read_text() == Page().html()
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit((tmp_path / "pipe").read_text, encoding="utf-8")
        Page().write_html(tmp_path / "pipe")
        assert read.result(timeout=300) == Page().html()
    assert (tmp_path / "pipe").is_fifo()
    Page().write_html("/dev/null")
    assert not Path("/dev/null").is_file()


def test_the_browser_opens_a_file_which_is_named_where_there_is_none(monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    Page().open()
    assert re.match(r"file:///.*/report\.html$", opened[0])
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    with pytest.raises(MisfeatError, match=r"No browser could be opened; the report is '.*html'"):
        Page().open()


def test_a_frame_runs_nothing_and_its_title_ends_no_attribute():
    frame = framed("<p>\"'</p>", '"><script>')
    assert 'sandbox=""' in frame
    assert "<script>" not in frame
    assert "<p>" not in frame


@settings(max_examples=50)
@given(st.text(), st.text())
def test_no_name_makes_an_element(first, second):
    html = as_html(Message("In {where}, {names}.", where=first, names=joined([first, second])))
    without = html.replace('<bdi class="name">', "").replace("</bdi>", "")
    assert "<" not in without
    assert ">" not in without


def test_parameters_are_spelled_as_asked_and_numbers_keep_their_units():
    message = Message("Use {setting}.", setting=Setting("k", 3))
    assert as_html(message) == as_html(Message(f"Use {Setting('k', 3)}."))
    assert as_html(message) == "Use <code>k=3</code>."
    assert as_html(message, lambda one: f"--top {one.value}") == "Use <code>--top 3</code>."
    assert (
        as_html(Message("{share} of {n:,}", share=Message("12 %"), n=1200)) == "12\u00a0% of 1,200"
    )
