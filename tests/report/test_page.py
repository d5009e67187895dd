from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from misfeat import SubgroupSelector
from misfeat.report.page import SCRIPTS, STYLES

HOSTILE = "<script>alert(1)</script>"


class Elements(HTMLParser):
    """Counts elements, and keeps their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def named(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def hostile():
    table = {HOSTILE: [0, 0, 1, 1], '"><img src=x onerror=alert(1)>': [0, 1, 0, 1]}
    table |= {"</style>": ["</script>"] * 4, "y": [0, 0, 1, 1]}
    return SubgroupSelector("</style>", size=1).fit(table, "y").report(title=HOSTILE).html()


def test_names_from_the_table_make_no_element(hostile, report):
    harmless = Elements(report.html())
    found = Elements(hostile)
    assert len(found.named("script")) == len(harmless.named("script")) == 2
    assert found.named("img") == []
    assert not any(name.startswith("on") for _, held in found.found for name in held)


def test_nothing_is_fetched_from_anywhere(report):
    elements = Elements(report.html())
    for tag, held in elements.found:
        assert "src" not in held, tag
        assert "style" not in held, tag
        if "href" in held:
            assert held["href"].startswith("#")
    assert not re.search(r"url\(|@import|https?:", report.html())


def test_only_this_style_and_this_script_may_run(report):
    metas = Elements(report.html()).named("meta")
    policy = next(m["content"] for m in metas if m.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_every_script_and_style_file_is_in_the_page(report):
    assert "class Explorer" in report.html()
    assert "class Lattice" in report.html()
    assert ".shade9" in report.html()
    assert len(SCRIPTS) == 4
    assert len(STYLES) == 1


def test_sections_come_in_the_order_of_what_readers_ask(report):
    ids = [held["id"] for held in Elements(report.html()).named("section")]
    assert ids == ["worth", "sets", "recorded", "trust", "differences", "explorer", "columns"]


def test_predicted_sets_are_told_apart_and_starred(report, fitted):
    predicted = [s for s in fitted.best_sets() if s.source == "predicted"]
    assert predicted
    assert report.html().count('<tr class="predicted">') == len(predicted)
    assert f'{predicted[0].missing[0]}<span class="star"' in report.html()
