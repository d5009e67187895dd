from __future__ import annotations

import re
from html import unescape

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.show.first_screen import first_screen


def test_a_fitted_selector_shows_its_subgroups_and_what_they_lack():
    data = make_cohorts(2, 50, 3, hide=0.4, random_state=0)
    selector = SubgroupSelector(data.groups, size=1)
    assert "never recorded" not in selector._repr_html_()
    html = selector.fit(data.columns, data.target)._repr_html_()
    assert "never recorded" in html
    assert "cohort=c2" in html
    assert html.count("<tr><td>cohort=") == 2
    assert "never recorded" in selector._repr_mimebundle_()["text/html"]


def test_names_are_shown_as_text_and_many_subgroups_are_counted():
    names = ["<script>alert(1)</script>", *(f"g{i}" for i in range(24))]
    table = {"site": names * 4, "a": [0, 1] * 50, "b": [0, 0, 1, 1] * 25, "y": [0, 1] * 50}
    html = SubgroupSelector("site", size=1, k=1).fit(table, "y")._html_repr()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "and 5 more" in html


def test_a_selection_shows_its_first_screen():
    data = make_cohorts(3, 300, 4, hide=0.3, random_state=0)
    selection = SubgroupSelector(data.groups, size=1).fit(data.columns, data.target).selection_
    html, screen = selection._repr_html_(), first_screen(selection)
    text = unescape(re.sub(r"<style>.*?</style>|<[^>]*>", "", html, flags=re.DOTALL))
    text = text.replace("\u00a0", " ")
    assert screen.whole in text
    for one in (*(answer.sentence for answer in screen.subgroups), *screen.collecting):
        assert one in text
    assert html.count("<td") == 12
    assert html.count("never") - html.count("never {") >= selection.missing.sum()


def test_names_in_the_first_screen_are_text():
    name = "<img src=x onerror=alert(1)>"
    table = {name: [0, 1, 1, 0] * 25, "g": ["<b>", "</div>"] * 50, "y": [0, 1, 0, 1, 1] * 20}
    html = SubgroupSelector("g", size=1).fit(table, "y").selection_._repr_html_()
    assert "<img" not in html
    assert "<b>" not in html
    assert html.count("<div") == html.count("</div")
