"""The report as a reader meets it: in a real browser, by clicking."""

from __future__ import annotations

import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from tests.show.report.browser import ARTEFACTS, Visit, launched

pytestmark = pytest.mark.browser

LARGEST_PAGE = 5_000_000
"""Bytes of a report of 30 features and 20 cohorts, at most."""

NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</script></style><svg onload=alert(3)>",
    "{{ 7 * 7 }} {% raw %}",
    "🩺 heart 💓",
    "ضغط الدم",
    "‮reversed",
    "x" * 300,
)


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture
def visit(browser, report, tmp_path):
    visit = Visit(browser, report.html(), tmp_path)
    yield visit
    visit.was_quiet()
    visit.context.close()


def test_a_click_on_a_head_sorts_and_another_one_turns_the_order(visit, fitted):
    gains = [f"{worth.gain:.4f}" for worth in fitted.worths()]
    head = visit.page.get_by_role("button", name="Gain", exact=True)
    head.click()
    assert [row[2] for row in visit.shown_rows("#worth-table")] == sorted(gains, reverse=True)
    head.click()
    assert [row[2] for row in visit.shown_rows("#worth-table")] == sorted(gains)
    assert head.locator("xpath=..").get_attribute("aria-sort") == "ascending"


def test_text_sorts_from_a(visit):
    visit.page.locator("#worth-table").get_by_role("button", name="Feature").click()
    shown = [row[1] for row in visit.shown_rows("#worth-table")]
    assert shown == sorted(shown)


def test_a_filter_leaves_the_rows_that_hold_the_text(visit, fitted):
    feature = fitted.worths()[0].feature
    visit.page.get_by_label("Filter columns").fill(feature.upper())
    assert [row[0] for row in visit.shown_rows("#columns-table")] == [feature]
    assert visit.page.locator("[data-shown=columns-table]").inner_text() == "1 of 9 rows"
    visit.page.get_by_label("Filter columns").fill("")
    assert len(visit.shown_rows("#columns-table")) == 9


def test_the_switch_shows_one_cohort_everywhere(visit, fitted):
    chosen = next(worth.subgroup for worth in fitted.worths())
    visit.page.get_by_label("Subgroup").first.select_option(label=chosen)
    assert {row[0] for row in visit.shown_rows("#worth-table")} == {chosen}
    sentences = visit.page.locator(".rises li:visible").all_inner_texts()
    assert all(chosen in sentence for sentence in sentences)
    assert visit.page.locator("details.subgroup:visible h3").all_inner_texts() == [chosen]
    assert visit.page.locator("details.subgroup:visible tbody tr:visible").count() == fitted.k
    assert visit.page.locator("#explorer-subgroup option:checked").inner_text() == chosen
    visit.page.get_by_label("Subgroup").first.select_option(label="all subgroups")
    assert visit.page.locator("details.subgroup:visible").count() == len(fitted.cohorts_)


def test_cohorts_unfold_by_a_click(visit):
    second = visit.page.locator("details.subgroup").nth(1)
    assert second.locator("table").is_hidden()
    second.locator("summary").click()
    assert second.locator("table").is_visible()


def choose(visit, *features):
    for feature in features:
        chips = visit.page.locator("#explorer-features")
        chips.get_by_text(feature).click()


def test_the_explorer_tells_the_score_of_every_picked_set(visit, fitted):
    cohort, (first, second, *_) = fitted.cohorts_.names[0], fitted.cohorts_.features
    for features in ((first,), (first, second)):
        choose(visit, features[-1])
        shown = visit.page.locator("#explorer-answer .large").inner_text()
        assert shown == f"{fitted.score_of(cohort, features):.4f} nats"


def test_the_explorer_shows_parents_children_and_other_cohorts(visit, fitted):
    features = fitted.cohorts_.features[:2]
    choose(visit, *features)
    assert len(visit.shown_rows("#explorer-parents")) == 2
    children = visit.shown_rows("#explorer-children")
    assert len(children) == 5
    scores = [float(row[1]) for row in children]
    assert scores == sorted(scores, reverse=True)
    assert all(row[2].startswith("+") for row in children)
    elsewhere = visit.shown_rows("#explorer-subgroups")
    assert [row[0] for row in elsewhere] == list(fitted.cohorts_.names)
    expected = [f"{fitted.score_of(name, features):.4f}" for name in fitted.cohorts_.names]
    assert [row[1] for row in elsewhere] == expected


def test_a_click_on_a_neighbour_goes_there(visit, fitted):
    first, second = fitted.cohorts_.features[:2]
    choose(visit, first, second)
    visit.page.locator("#explorer-parents button").first.click()
    pressed = visit.page.locator("#explorer-features [aria-pressed=true]")
    assert pressed.count() == 1
    visit.page.locator("#explorer-subgroups button").nth(2).click()
    chosen = visit.page.locator("#explorer-subgroup option:checked").inner_text()
    assert chosen == fitted.cohorts_.names[2]
    visit.page.get_by_role("button", name="Clear the set").click()
    assert pressed.count() == 0


def test_the_keyboard_goes_on_from_the_answer(visit, fitted):
    choose(visit, *fitted.cohorts_.features[:2])
    visit.page.locator("#explorer-parents button").first.focus()
    visit.page.keyboard.press("Enter")
    assert visit.page.evaluate("document.activeElement.id") == "explorer-answer"


def test_the_best_sets_that_hold_a_feature_are_found(visit, fitted):
    cohort, feature = fitted.cohorts_.names[0], fitted.cohorts_.features[3]
    choose(visit, feature)
    rows = visit.shown_rows("#explorer-holding")
    holding = [s for s in fitted.best_sets(k=1000, subgroup=cohort) if feature in s.features]
    assert [row[1] for row in rows] == [f"{s.score:.4f}" for s in holding[:10]]


def test_features_are_found_by_a_part_of_their_name(visit, fitted):
    visit.page.get_by_label("Find a feature").fill("f3")
    chips = visit.page.locator("#explorer-features button:visible")
    assert [name.rstrip("*") for name in chips.all_inner_texts()] == ["f3"]


def test_everything_is_unfolded_for_print(visit):
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert visit.page.locator("details.subgroup:not([open])").count() == 0
    visit.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert visit.page.locator("details.subgroup:not([open])").count() == 3


def test_paper_is_light_whatever_the_screen_is(browser, report, tmp_path):
    visit = Visit(browser, report.html(), tmp_path, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert visit.page.evaluate(ground) == "rgb(16, 21, 27)"
    visit.page.emulate_media(media="print", color_scheme="dark")
    assert visit.page.evaluate(ground) == "rgb(255, 255, 255)"
    visit.context.close()


def test_without_scripts_every_table_can_still_be_read(browser, report, fitted, tmp_path):
    visit = Visit(browser, report.html(), tmp_path, java_script_enabled=False)
    assert len(visit.shown_rows("#worth-table")) == len(fitted.worths())
    assert visit.page.get_by_text("The explorer needs scripts").is_visible()
    assert visit.page.get_by_label("Filter columns").is_hidden()
    visit.context.close()


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_serious_is_in_the_way_of_any_reader(browser, report, tmp_path, width, colours):
    from axe_playwright_python.sync_playwright import Axe

    settings = {"viewport": {"width": width, "height": 844}, "color_scheme": colours}
    # The policy keeps the scanner's own script out as well, so that it is lifted here.
    visit = Visit(browser, report.html(), tmp_path, bypass_csp=True, **settings)
    choose(visit, "f1", "f2")
    found = Axe().run(visit.page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert visit.page.evaluate(overflow) == 0
    visit.page.evaluate("window.scrollTo(0, 0)")
    ARTEFACTS.mkdir(exist_ok=True)
    visit.page.screenshot(path=ARTEFACTS / f"report-{width}-{colours}.png", full_page=True)
    visit.was_quiet()
    visit.context.close()


@pytest.fixture(scope="module")
def hostile():
    """A report in which every name from the table is hostile or odd."""
    data = make_cohorts(n_cohorts=3, n_features=5, n_rows=300, hide=0.3, random_state=0)
    names = dict(zip(data.columns, NAMES[:7], strict=True))
    columns = {names[column]: values for column, values in data.columns.items()}
    group, target = names["cohort"], names[data.target]
    values = dict(zip(sorted(set(columns[group])), NAMES[1:], strict=False))
    columns[group] = [values[value] for value in columns[group]]
    columns[NAMES[7]] = [i % 2 for i in range(len(columns[group]))]
    selector = SubgroupSelector(group, size=2, completer="gain").fit(columns, target)
    return selector, selector.report(title=NAMES[0])


def test_hostile_and_odd_names_are_text_and_run_nothing(browser, hostile, tmp_path):
    selector, report = hostile
    for width in (1280, 390):
        visit = Visit(browser, report.html(), tmp_path, viewport={"width": width, "height": 844})
        for name in selector.cohorts_.names:
            visit.page.locator("#subgroup").select_option(label=name)
        for feature in selector.cohorts_.features[:2]:
            choose(visit, feature)
        text = visit.page.locator("body").text_content()
        for name in (*selector.cohorts_.names, *selector.cohorts_.features):
            assert name in text
        assert visit.page.locator("h1").inner_text() == NAMES[0]
        assert visit.page.locator("img").count() == 0
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert visit.page.evaluate(overflow) == 0
        visit.was_quiet()
        ARTEFACTS.mkdir(exist_ok=True)
        visit.page.screenshot(path=ARTEFACTS / f"odd-names-{width}.png", full_page=True)
        visit.context.close()


def test_a_snippet_lives_in_a_frame_that_cannot_reach_the_page_around_it(browser, report, tmp_path):
    page = f"<!doctype html><title>A notebook</title><p>around</p>{report.html_snippet()}"
    visit = Visit(browser, page, tmp_path)
    frame = visit.page.frame_locator("iframe")
    frame.locator("#explorer-features button").first.click()
    assert "nats" in frame.locator("#explorer-answer .large").inner_text()
    inner = visit.page.frames[1]
    reached = inner.evaluate("() => { try { return parent.document.title } catch { return null } }")
    assert reached is None
    assert visit.said == []
    visit.context.close()


def test_thirty_features_of_twenty_cohorts_stay_small_and_work(browser, tmp_path):
    data = make_cohorts(n_cohorts=20, n_features=30, n_rows=200, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=3, completer="gain")
    html = selector.fit(data.columns, data.target).report(validate=False).html()
    assert len(html.encode()) < LARGEST_PAGE
    visit = Visit(browser, html, tmp_path)
    assert len(visit.shown_rows("#worth-table")) == 15
    visit.page.get_by_role("button", name="Show all").first.click()
    assert len(visit.shown_rows("#worth-table")) == len(selector.worths())
    choose(visit, "f30")
    assert len(visit.shown_rows("#explorer-children")) == 29
    visit.was_quiet()
    visit.page.screenshot(path=ARTEFACTS / "large.png", full_page=True)
    visit.context.close()
