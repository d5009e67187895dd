import re
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from misfeat import SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.datasets import make_cohorts
from misfeat.show.report.page import SCRIPTS, STYLE

pytestmark = pytest.mark.usefixtures("few_resamples")

HOSTILE = "<script>alert(1)</script>"


class Elements(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

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


def test_nothing_is_fetched_and_only_this_style_and_these_scripts_may_run(report):
    elements = Elements(report.html())
    for tag, held in elements.found:
        assert "src" not in held, tag
        assert "style" not in held, tag
        if "href" in held:
            assert held["href"].startswith("#")
    html = report.html().replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert not re.search(r"url\(|@import|https?:", html)
    metas = Elements(report.html()).named("meta")
    policy = next(m["content"] for m in metas if m.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    static = files("misfeat.show.report") / "static"
    assert {file.name for file in static.iterdir()} == {*SCRIPTS, STYLE}
    for name in (*SCRIPTS, STYLE):
        assert (static / name).read_text(encoding="utf-8") in report.html()


def test_sections_come_in_the_order_of_what_readers_ask(report):
    ids = [held["id"] for held in Elements(report.html()).named("section")]
    assert " ".join(ids) == "answer sets plan worth explorer trust recorded columns glossary"


def test_predicted_sets_are_told_apart_and_starred(report, fitted):
    predicted = [s for s in best_sets(fitted.selection_, k=1) if s.source == "predicted"]
    assert predicted
    table = report.html().split('<table id="sets-table"')[1].split("</table>")[0]
    assert table.count('<span class="source predicted">') == len(predicted)
    assert f'{predicted[0].missing[0]}<span class="star"' in report.html()


def test_sets_that_the_budget_did_not_reach_are_called_so(report):
    data = make_cohorts(n_cohorts=2, n_rows=200, n_features=5, random_state=0)
    selector = SubgroupSelector(
        data.groups, size=2, budget=0.3, random_state=0, completer="interactions", estimate="sample"
    )
    html = selector.fit(data.columns, data.target).report(validate=False).html()
    assert "A predicted set without a star was not computed within the budget" in html
    assert "but the budget did not reach this set" in html


def test_a_row_missing_in_a_thousand_is_not_called_none():
    table = {"a": [0, 1] * 500, "b": [None] + [0, 1] * 499 + [1], "y": [0, 1] * 500}
    html = SubgroupSelector(size=1).fit(table, "y").report().html()
    assert '<td class="part">&gt;99</td>' in html


def test_every_term_that_is_marked_is_explained(report):
    elements = Elements(report.html())
    marked = {held["href"] for held in elements.named("a") if "title" in held}
    explained = {f"#{held['id']}" for held in elements.named("div") if "id" in held}
    assert marked
    assert marked <= explained


@pytest.mark.parametrize("measure", ["mutual_info", "r2"])
def test_words_are_explained_for_the_measure_at_hand(measure):
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    table = {"x": x, "z": rng.normal(size=100), "y": x + rng.normal(size=100)}
    selector = SubgroupSelector(size=1, measure=measure).fit(table, "y")
    html = selector.report(validate=False).html()
    words = html.split('<dl class="glossary">')[1].split("</dl>")[0]
    assert ("nats" in words) == (measure == "mutual_info")
    assert ("variance" in words) == (measure == "r2")


def test_cells_that_are_no_more_than_chance_are_pale():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    table = {"tells": np.where(rng.random(600) < 0.8, y, 1 - y), "noise": rng.integers(0, 2, 600)}
    html = SubgroupSelector(size=1).fit(table, y).report(validate=False).html()
    cells = html.split('<table class="map heat"')[1].split("</tbody>")[0]
    assert re.findall(r'<td class="(\w+)"', cells) == ["shade9", "faded"]


def test_a_snippet_is_a_sandboxed_frame_of_the_page(report):
    snippet = report.html_snippet()
    assert 'sandbox="allow-scripts allow-downloads"' in snippet
    assert unescape(re.search(r'srcdoc="([^"]*)"', snippet)[1]) == report.html()
    assert report._repr_html_() == snippet
    assert re.fullmatch(r"<Report: A report\. .*write_html.*>", repr(report))
    with pytest.raises(NotFittedError):
        SubgroupSelector().report()
