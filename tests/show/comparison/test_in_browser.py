from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_serious_is_in_the_way_of_any_reader(
    open_page, keep_picture, comparison, width, colours
):
    visit = open_page(comparison.html(), width=width, height=844, colours=colours)
    assert visit.faults("serious", "critical") == []
    assert visit.overflow() == 0
    keep_picture(visit, f"changes-{width}-{colours}")


def test_hostile_names_run_nothing_and_the_policy_lets_the_style_in(open_page, hostile):
    for width in (1280, 390):
        visit = open_page(hostile.html(), width=width, height=844)
        widest = "getComputedStyle(document.querySelector('main')).maxWidth"
        assert visit.evaluate(widest) == "1216px"
