from __future__ import annotations

import html
import re

import pytest

from misfeat import SubgroupSelector


def test_a_snippet_is_a_sandboxed_frame_of_the_page(report):
    snippet = report.html_snippet()
    assert 'sandbox="allow-scripts allow-downloads"' in snippet
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', snippet)[1]) == report.html()
    assert report._repr_html_() == snippet
    assert report._repr_mimebundle_()["text/html"] == snippet


def test_the_repr_says_what_to_do(report):
    assert "A report" in repr(report)
    assert "write_html" in repr(report)


def test_an_unfitted_selector_has_no_report():
    with pytest.raises(Exception, match="not fitted"):
        SubgroupSelector().report()
