from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.show.report.page import SCRIPTS, STYLES

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


def test_sets_that_the_budget_did_not_reach_are_called_so(report):
    data = make_cohorts(n_cohorts=2, n_rows=300, n_features=6, random_state=0)
    selector = SubgroupSelector(data.groups, size=2, budget=0.3, random_state=0, completer="gain")
    html = selector.fit(data.columns, data.target).report(validate=False).html()
    assert "A predicted set without a star was not computed within the budget" in html
    assert "but the budget did not reach this set" in html
    assert ">not computed<" in html
    assert ">not computed<" not in report.html()


def test_a_feature_that_is_worth_nothing_is_not_advised():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    table = {"g": np.arange(400) % 4, "a": a, "noise": rng.integers(0, 2, 400).astype(float)}
    table["noise"] = np.where(table["g"] == 0, np.nan, table["noise"])
    html = SubgroupSelector("g", size=1).fit(table, a).report(validate=False).html()
    assert "No unrecorded feature is expected to raise the best score" in html
    assert ", record " not in html


def test_a_row_missing_in_a_thousand_is_not_called_none():
    table = {"a": [0, 1] * 500, "b": [None] + [0, 1] * 499 + [1], "y": [0, 1] * 500}
    html = SubgroupSelector(size=1).fit(table, "y").report().html()
    assert '<td class="part">&gt;99</td>' in html
