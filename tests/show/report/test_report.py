from __future__ import annotations

import html
import os
import re
import webbrowser
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from misfeat import MisfeatError, SubgroupSelector


def test_a_snippet_is_a_sandboxed_frame_of_the_page(report):
    snippet = report.html_snippet()
    assert 'sandbox="allow-scripts allow-downloads"' in snippet
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', snippet)[1]) == report.html()
    assert report._repr_html_() == snippet
    assert report._repr_mimebundle_()["text/html"] == snippet


def test_a_file_is_written_whole_and_replaces_an_older_one(report, tmp_path):
    place = tmp_path / "new folder" / "report.html"
    report.write_html(place)
    place.write_text("<!doctype html>old")
    report.write_html(str(place))
    assert place.read_text(encoding="utf-8") == report.html()
    assert [path.name for path in place.parent.iterdir()] == ["report.html"]


def test_links_are_followed_and_pipes_are_written_to(report, tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    report.write_html(tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == report.html()
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit((tmp_path / "pipe").read_text, encoding="utf-8")
        report.write_html(tmp_path / "pipe")
        assert read.result(timeout=300) == report.html()
    assert (tmp_path / "pipe").is_fifo()


def test_a_file_that_cannot_be_finished_leaves_nothing_behind(report, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(MisfeatError, match="cannot be written: No space left on device"):
        report.write_html(tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_refused(report, tmp_path):
    with pytest.raises(MisfeatError, match="is a folder; give the name of a file"):
        report.write_html(tmp_path)


def test_a_file_in_the_way_of_a_folder_is_named(report, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MisfeatError, match=r"report\.html' cannot be written"):
        report.write_html(tmp_path / "file" / "report.html")


def test_the_browser_opens_a_file(report, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda place: opened.append(place) or True)
    report.open()
    assert re.match(r"file:///.*/report\.html$", opened[0])


def test_without_a_browser_the_file_is_named(report, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    with pytest.raises(MisfeatError, match=r"No browser could be opened; the report is '.*html'"):
        report.open()


def test_the_repr_says_what_to_do(report):
    assert "A report" in repr(report)
    assert "write_html" in repr(report)


def test_an_unfitted_selector_has_no_report():
    with pytest.raises(Exception, match="not fitted"):
        SubgroupSelector().report()
