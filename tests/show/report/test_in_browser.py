"""The report as a reader meets it: in real browsers, by clicking."""

from __future__ import annotations

import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts

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


@pytest.fixture
def visit(open_page, report):
    return open_page(report.html())


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
    visit.press("Enter")
    assert visit.evaluate("document.activeElement.id") == "explorer-answer"


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
    folded = "document.querySelectorAll('details.subgroup:not([open])').length"
    visit.evaluate(f"addEventListener('beforeprint', () => {{ window.foldedInPrint = {folded} }})")
    visit.printed()
    assert visit.evaluate("window.foldedInPrint") == 0
    assert visit.evaluate(folded) == 3


def test_paper_is_light_whatever_the_screen_is(open_page, report):
    visit = open_page(report.html(), colours="dark")
    assert visit.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 21, 27)"
    assert visit.printed().ground() == (255, 255, 255)


def test_without_scripts_every_table_can_still_be_read(open_page, report, fitted):
    visit = open_page(report.html(), scripts=False, quiet=False)
    assert len(visit.shown_rows("#worth-table")) == len(fitted.worths())
    assert visit.page.get_by_text("The explorer needs scripts").is_visible()
    assert visit.page.get_by_label("Filter columns").is_hidden()


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_serious_is_in_the_way_of_any_reader(
    open_page, keep_picture, report, width, colours
):
    visit = open_page(report.html(), width=width, height=844, colours=colours)
    choose(visit, "f1", "f2")
    assert visit.faults("serious", "critical") == []
    assert visit.overflow() == 0
    visit.evaluate("window.scrollTo(0, 0)")
    keep_picture(visit, f"report-{width}-{colours}")


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


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_and_odd_names_are_text_and_run_nothing(open_page, keep_picture, hostile, width):
    selector, report = hostile
    visit = open_page(report.html(), width=width, height=844)
    for name in selector.cohorts_.names:
        visit.page.locator("#subgroup").select_option(label=name)
    for feature in selector.cohorts_.features[:2]:
        choose(visit, feature)
    text = visit.page.locator("body").text_content()
    for name in (*selector.cohorts_.names, *selector.cohorts_.features):
        assert name in text
    assert visit.page.locator("h1").inner_text() == NAMES[0]
    assert visit.page.locator("img").count() == 0
    assert visit.overflow() == 0
    keep_picture(visit, f"odd-names-{width}")


def test_a_snippet_lives_in_a_frame_that_cannot_reach_the_page_around_it(open_page, report):
    page = f"<!doctype html><title>A notebook</title><p>around</p>{report.html_snippet()}"
    visit = open_page(page)
    frame = visit.page.frame_locator("iframe")
    frame.locator("#explorer-features button").first.click()
    assert "nats" in frame.locator("#explorer-answer .large").inner_text()
    inner = visit.page.frames[1]
    reached = inner.evaluate("() => { try { return parent.document.title } catch { return null } }")
    assert reached is None


@pytest.fixture(scope="module")
def large():
    """A selector of thirty features and twenty subgroups, and its page."""
    data = make_cohorts(n_cohorts=20, n_features=30, n_rows=200, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=3, completer="gain")
    selector.fit(data.columns, data.target)
    return selector, selector.report(validate=False).html()


def test_thirty_features_of_twenty_subgroups_stay_small_and_work(open_page, keep_picture, large):
    selector, html = large
    assert len(html.encode()) < LARGEST_PAGE
    visit = open_page(html)
    assert len(visit.shown_rows("#worth-table")) == 15
    visit.page.get_by_role("button", name="Show all").first.click()
    assert len(visit.shown_rows("#worth-table")) == len(selector.worths())
    choose(visit, "f30")
    assert len(visit.shown_rows("#explorer-children")) == 29
    keep_picture(visit, "large")
