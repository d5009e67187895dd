from __future__ import annotations

import pytest

from tests.show.report.browser import ARTEFACTS, Visit, launched

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser():
    with launched() as found:
        yield found


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_serious_is_in_the_way_of_any_reader(browser, comparison, tmp_path, width, colours):
    from axe_playwright_python.sync_playwright import Axe

    settings = {"viewport": {"width": width, "height": 844}, "color_scheme": colours}
    visit = Visit(browser, comparison.html(), tmp_path, bypass_csp=True, **settings)
    found = Axe().run(visit.page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert visit.page.evaluate(overflow) == 0
    ARTEFACTS.mkdir(exist_ok=True)
    visit.page.screenshot(path=ARTEFACTS / f"changes-{width}-{colours}.png", full_page=True)
    visit.context.close()


def test_hostile_names_run_nothing_and_the_policy_lets_the_style_in(browser, hostile, tmp_path):
    for width in (1280, 390):
        settings = {"viewport": {"width": width, "height": 844}}
        visit = Visit(browser, hostile.html(), tmp_path, **settings)
        padding = "getComputedStyle(document.querySelector('main')).maxWidth"
        assert visit.page.evaluate(padding) == "1216px"
        visit.was_quiet()
        visit.context.close()
