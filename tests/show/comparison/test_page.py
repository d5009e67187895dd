from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from misfeat.show.comparison.page import MARGIN, MOST_TICKS, MOST_UNCHANGED, WIDTH, Forest, Scale
from tests.show.comparison.conftest import HOSTILE


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, html):
        super().__init__()
        self.found, self.text = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_says_the_answer_first(comparison):
    html = comparison.html()
    assert html.lstrip().startswith("<!doctype html>")
    said = "".join(Elements(html).text)
    assert said.index(comparison.summary()) < said.index("Subgroup by subgroup")
    for one in comparison.subgroups:
        assert one.sentence in said
    for note in comparison.notes:
        assert note in said


def test_only_what_changed_has_a_forest_plot(comparison):
    html = comparison.html()
    assert html.count('<table class="forest">') == 1
    pictures = [a for tag, a in Elements(html).found if tag == "svg" and a.get("role") == "img"]
    assert len(pictures) == 2 * len(comparison.changed)
    assert any("x tells" in one["aria-label"] for one in pictures)


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


def test_no_element_has_a_style_of_its_own_which_the_policy_would_forbid(comparison):
    assert not [tag for tag, held in Elements(comparison.html()).found if "style" in held]


def test_hostile_names_are_text(hostile):
    page = Elements(hostile.html())
    assert not [tag for tag, _ in page.found if tag == "script"]
    assert not [held for _, held in page.found if any(name.startswith("on") for name in held)]
    said = "".join(page.text)
    assert HOSTILE[0] in said
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\\u202eabc" in said


def test_links_lead_to_what_changed(hostile):
    page = Elements(hostile.html())
    names = [held["id"] for _, held in page.found if "id" in held]
    assert len(names) == len(set(names))
    links = [held["href"][1:] for tag, held in page.found if tag == "a"]
    assert set(links) <= set(names)
    assert len(links) == sum(bool(one.changed) for one in hostile.subgroups)


def test_sets_that_did_not_change_are_counted_where_there_are_many(comparison):
    html = comparison.html()
    assert f"The {MOST_UNCHANGED} largest" not in html
    assert html.count("<details>") == 3


@pytest.mark.parametrize(
    "ends", [(0.0, 0.17), (-0.4, -0.1), (-0.002, 0.07), (0.0, 1.0), (0.0, 0.0)]
)
def test_a_scale_holds_its_shares_and_zero_within_the_picture(ends):
    scale = Scale.over(ends)
    places = [scale.at(one) for one in (*ends, 0.0)]
    assert min(places) >= MARGIN
    assert max(places) <= WIDTH - MARGIN
    assert "0" in [words for _, words in scale.ticks]
    assert 2 <= len(scale.ticks) <= MOST_TICKS + 2


def test_numbers_on_a_scale_are_in_per_cent_and_in_order():
    ticks = Scale.over([-0.1, 0.3]).ticks
    assert [words for _, words in ticks] == ["-10", "0", "10", "20", "30"]
    assert [at for at, _ in ticks] == sorted(at for at, _ in ticks)


def test_all_lines_share_their_scales(comparison):
    forest = Forest.of(comparison.changed)
    assert len(forest.rows) == len(comparison.changed)
    zero = forest.differences.at(0.0)
    for row in forest.rows:
        assert row.first.low <= row.first.at <= row.first.high
        assert (row.difference.high < zero) == (row.change.high < 0)
        assert row.second.at - row.first.at == pytest.approx(
            forest.shares.at(row.change.second) - forest.shares.at(row.change.first)
        )
