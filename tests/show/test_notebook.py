from __future__ import annotations

import re
from html import unescape

import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.show.first_screen import first_screen


@pytest.fixture(scope="module")
def selector():
    data = make_cohorts(3, 300, 4, hide=0.3, random_state=0)
    return SubgroupSelector(data.groups, size=1).fit(data.columns, data.target)


def test_a_fitted_selector_shows_its_subgroups_and_what_they_lack(selector):
    assert "never recorded" not in SubgroupSelector("cohort")._repr_html_()
    html = selector._repr_html_()
    assert "never recorded" in html
    assert html.count("<tr><td>cohort=") == 3
    assert "never recorded" in selector._repr_mimebundle_()["text/html"]


def test_a_selection_shows_its_first_screen(selector):
    selection = selector.selection_
    html, screen = selection._repr_html_(), first_screen(selection)
    text = unescape(re.sub(r"<style>.*?</style>|<[^>]*>", "", html, flags=re.DOTALL))
    text = text.replace("\u00a0", " ")
    assert screen.sentence in text
    for one in (*(answer.sentence for answer in screen.subgroups), *screen.recording):
        assert one in text
    assert html.count("<td") == 12
    assert len(re.findall('class="never', html)) == selection.missing.sum() > 0


def test_names_are_shown_as_text_and_many_subgroups_are_counted():
    name = "<img src=x onerror=alert(1)>"
    groups = ["<script>alert(1)</script>", "</div>", *(f"g{i}" for i in range(23))]
    table = {name: [0, 1, 1, 0] * 25, "g": groups * 4, "y": [0, 1] * 50}
    selector = SubgroupSelector("g", size=1, k=1).fit(table, "y")
    for html in (selector._html_repr(), selector.selection_._repr_html_()):
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)" in html
        assert "<img" not in html
        assert html.count("<div") == html.count("</div")
        assert "and 5 more" in html
