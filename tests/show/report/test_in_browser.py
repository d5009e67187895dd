"""The report as a reader meets it: in real browsers, by clicking."""

import re

import pytest

from misfeat import SubgroupSelector
from misfeat.answers.recording_gains import feature_worths
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


def values(visit, table, head):
    """The numbers behind the cells that a column shows."""
    shown = f"""[...document.querySelectorAll("{table} tbody tr:not([hidden])")]"""
    heads = f"""[...document.querySelectorAll("{table} thead th")]"""
    column = f"""{heads}.findIndex(one => one.textContent.trim() === "{head}")"""
    return visit.evaluate(f"{shown}.map(row => Number(row.cells[{column}].dataset.value))")


def choose(visit, *features):
    """Make these the explorer's set."""
    visit.page.get_by_role("button", name="Clear the set").click()
    for feature in features:
        visit.page.locator("#explorer-features").get_by_text(feature).click()


def pressed(visit):
    chips = visit.page.locator("#explorer-features [aria-pressed=true]")
    return [name.rstrip("*") for name in chips.all_inner_texts()]


def test_a_click_on_a_head_sorts_and_another_one_turns_the_order(visit, fitted):
    head = visit.page.locator("#worth-table").get_by_role("button", name="Gain", exact=True)
    head.click()
    falling = values(visit, "#worth-table", "Gain")
    assert len(falling) == len(feature_worths(fitted.selection_))
    assert falling == sorted(falling, reverse=True)
    head.click()
    assert values(visit, "#worth-table", "Gain") == falling[::-1]
    assert head.locator("xpath=..").get_attribute("aria-sort") == "ascending"
    visit.page.locator("#worth-table").get_by_role("button", name="Feature").click()
    shown = [row[1] for row in visit.shown_rows("#worth-table")]
    assert shown == sorted(shown)


def test_a_table_downloads_whole(visit, fitted):
    button = visit.page.locator("[data-csv=worth-table]")
    name, text = visit.downloaded(button)
    assert name == "worth-collecting.csv"
    head, *rows = text.removeprefix("\ufeff").splitlines()
    assert head.startswith("Subgroup,Feature,Gain,low,high,")
    assert len(rows) == len(feature_worths(fitted.selection_))


def test_the_switch_shows_the_page_of_one_subgroup_and_leads_back(visit, fitted):
    chosen = fitted.cohorts_.names[2]
    visit.page.locator("#subgroup").select_option(label=chosen)
    assert visit.page.locator("#subgroup-title").inner_text() == chosen
    assert visit.page.locator("#overview").is_hidden()
    assert visit.evaluate("location.hash") == "#subgroup-2"
    best = visit.page.locator("#made-best-sets-2 tbody tr")
    assert best.count() in (fitted.k, fitted.k + 1)  # the answer, where it is none of them
    assert visit.page.locator("#made-best-sets-2 tbody strong").count() == 1
    assert visit.page.locator("#explorer-subgroup option:checked").text_content() == chosen
    visit.page.get_by_role("link", name="All subgroups").click()
    assert visit.page.locator("#overview").is_visible()
    assert visit.page.locator("#one-subgroup").is_hidden()


def test_the_explorer_tells_the_score_of_every_picked_set(visit, fitted):
    cohort, (first, second, *_) = fitted.cohorts_.names[0], fitted.cohorts_.features
    for features in ((first,), (first, second)):
        choose(visit, *features)
        text = visit.page.locator("#explorer-answer").inner_text()
        shown = re.search(r"(\d+\.(\d+)) nats", text)
        assert shown[1] == f"{fitted.score_of(cohort, features):.{len(shown[2])}f}"


def test_the_explorer_shows_what_one_feature_less_and_more_tell_and_every_subgroup(visit, fitted):
    choose(visit, *fitted.cohorts_.features[:2])
    assert len(visit.shown_rows("#explorer-less")) == 2
    more = visit.shown_rows("#explorer-more")
    assert len(more) == 5
    shares = values(visit, "#explorer-more", "Share")
    assert shares == sorted(shares, reverse=True)
    assert all(row[2].startswith("+") for row in more)
    everywhere = visit.shown_rows("#explorer-forest")
    assert [row[0] for row in everywhere] == list(fitted.cohorts_.names)


def test_a_click_on_a_neighbour_goes_there_and_the_keyboard_goes_on_from_the_answer(visit, fitted):
    choose(visit, *fitted.cohorts_.features[:2])
    visit.page.locator("#explorer-less tbody button").first.click()
    assert len(pressed(visit)) == 1
    visit.page.locator("#explorer-forest tbody button").nth(2).click()
    chosen = visit.page.locator("#explorer-subgroup option:checked").inner_text()
    assert chosen == fitted.cohorts_.names[2]
    choose(visit)
    assert pressed(visit) == []
    visit.page.get_by_role("button", name="The answer here").click()
    assert pressed(visit) != []
    choose(visit, *fitted.cohorts_.features[:2])
    visit.page.locator("#explorer-less tbody button").first.focus()
    visit.press("Enter")
    assert visit.evaluate("document.activeElement.id") == "explorer-answer"


def test_no_more_features_can_be_picked_than_the_page_holds(visit, fitted):
    most = visit.evaluate("explorer.lattice.largest")
    first, *others = fitted.cohorts_.features[:most]
    choose(visit, first, *others)
    chips = visit.page.locator("#explorer-features")
    assert "Take one away to add another." in visit.page.locator("#explorer-limit").inner_text()
    assert chips.locator("button:disabled").count() == len(fitted.cohorts_.features) - most
    chips.get_by_text(first).click()
    assert chips.locator("button:disabled").count() == 0


def test_subgroups_and_sets_have_addresses_and_one_of_no_set_is_no_matter(
    open_page, report, fitted
):
    visit = open_page(report.html(), address="#subgroup-1")
    assert visit.page.locator("#subgroup-title").inner_text() == fitted.cohorts_.names[1]
    assert visit.page.locator("#subgroup option:checked").inner_text() == fitted.cohorts_.names[1]
    visit = open_page(report.html(), address="#explore-1-0.2")
    picked = [fitted.cohorts_.features[number] for number in (0, 2)]
    assert [name.rstrip("*") for name in pressed(visit)] == picked
    chosen = visit.page.locator("#explorer-subgroup option:checked").inner_text()
    assert chosen == fitted.cohorts_.names[1]
    choose(visit, fitted.cohorts_.features[1])
    assert visit.evaluate("location.hash") == "#explore-1-1"
    for address in ("#explore-99-0", "#explore-0-99", "#explore-0-x", "#explore-"):
        visit = open_page(report.html(), address=address)
        assert visit.page.locator("#overview").is_visible()
        assert pressed(visit)


def test_the_sets_of_a_subgroup_lead_to_the_explorer(open_page, report):
    visit = open_page(report.html(), address="#subgroup-1")
    shown = visit.page.locator("#made-best-sets-1 tbody tr a").last
    names = [name.rstrip("*") for name in shown.locator("bdi").all_inner_texts()]
    shown.click()
    assert visit.page.locator("#overview").is_visible()
    assert pressed(visit) == names


def test_filters_leave_what_holds_the_text(visit, fitted):
    feature = feature_worths(fitted.selection_)[0].feature
    visit.page.get_by_label("Filter columns").fill(feature.upper())
    assert [row[0] for row in visit.shown_rows("#columns-table")] == [feature]
    assert visit.page.locator("[data-shown=columns-table]").inner_text() == "1 of 9 rows"
    visit.page.get_by_label("Filter columns").fill("")
    assert len(visit.shown_rows("#columns-table")) == 9
    visit.page.get_by_label("Find a feature").fill("f3")
    chips = visit.page.locator("#explorer-features button:visible")
    assert [name.rstrip("*") for name in chips.all_inner_texts()] == ["f3"]


def test_paper_is_light_whatever_the_screen_is(open_page, report):
    visit = open_page(report.html(), colours="dark")
    assert visit.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 21, 27)"
    assert visit.paper_colour() == (255, 255, 255)


def test_without_scripts_every_table_can_still_be_read(open_page, report, fitted):
    visit = open_page(report.html(), scripts=False, quiet=False)
    assert len(visit.shown_rows("#worth-table")) == len(feature_worths(fitted.selection_))
    assert visit.page.get_by_text("This part needs scripts").is_visible()
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
    visit.page.locator("#subgroup").select_option(index=1)
    assert visit.faults("serious", "critical") == []
    assert visit.overflow() == 0
    keep_picture(visit, f"subgroup-{width}-{colours}")


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
    selector = SubgroupSelector(group, size=2, completer="interactions").fit(columns, target)
    return selector, selector.report(title=NAMES[0])


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_and_odd_names_are_text_and_run_nothing(open_page, keep_picture, hostile, width):
    selector, report = hostile
    visit = open_page(report.html(), width=width, height=844)
    for name in selector.cohorts_.names:
        visit.page.locator("#subgroup").select_option(label=name)
    visit.page.locator("#subgroup").select_option(label="all subgroups")
    choose(visit, *selector.cohorts_.features[:2])
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
    frame.get_by_role("button", name="Clear the set").click()
    frame.locator("#explorer-features button").first.click()
    assert "of the uncertainty" in frame.locator("#explorer-answer .large").inner_text()
    inner = visit.page.frames[1]
    reached = inner.evaluate("() => { try { return parent.document.title } catch { return null } }")
    assert reached is None


@pytest.fixture(scope="module")
def large():
    """A selector of thirty features and twenty subgroups, and its page."""
    data = make_cohorts(n_cohorts=20, n_features=30, n_rows=200, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=3, completer="interactions")
    selector.fit(data.columns, data.target)
    return selector, selector.report(validate=False).html()


def test_thirty_features_of_twenty_subgroups_stay_small_and_work(open_page, keep_picture, large):
    selector, html = large
    assert len(html.encode()) < LARGEST_PAGE
    visit = open_page(html)
    assert len(visit.shown_rows("#worth-table")) == 15
    visit.page.locator("[data-all=worth-table]").click()
    assert len(visit.shown_rows("#worth-table")) == len(feature_worths(selector.selection_))
    choose(visit, "f30")
    assert len(visit.shown_rows("#explorer-more")) == 29
    keep_picture(visit, "large")


def test_everything_is_unfolded_for_print(open_page, large):
    _, html = large
    visit = open_page(html)
    folded = "document.querySelectorAll('#overview tr[hidden], .answers > li[hidden]').length"
    assert visit.evaluate(folded) > 0
    visit.evaluate(f"addEventListener('beforeprint', () => {{ window.foldedInPrint = {folded} }})")
    visit.printed()
    assert visit.evaluate("window.foldedInPrint") == 0
    assert len(visit.shown_rows("#worth-table")) == 15
