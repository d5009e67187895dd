from __future__ import annotations

import html
import re
import webbrowser

import pytest

from misfeat import MisfeatError, SubgroupSelector


def test_a_snippet_is_a_sandboxed_frame_of_the_page(report):
    snippet = report.html_snippet()
    assert 'sandbox="allow-scripts"' in snippet
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', snippet)[1]) == report.html()
    assert report._repr_html_() == snippet
    assert report._repr_mimebundle_()["text/html"] == snippet


def test_a_file_is_written_whole_and_replaces_an_older_one(report, tmp_path):
    place = tmp_path / "new folder" / "report.html"
    report.write_html(place)
    place.write_text("old")
    report.write_html(str(place))
    assert place.read_text(encoding="utf-8") == report.html()
    assert [path.name for path in place.parent.iterdir()] == ["report.html"]


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
