"""What a page does wrong is seen in every browser."""

import pytest

pytestmark = pytest.mark.browser

POLICY = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'">"""
NOWHERE = "http://127.0.0.1:59999/"
"""An address at which nothing answers."""


def page(body: str, head: str = "") -> str:
    """A page without faults of its own."""
    head = f"<head><title>A page</title>{head}</head>"
    return f'<!doctype html><html lang="en">{head}<main><h1>A page</h1>{body}</main></html>'


def test_what_a_page_says_is_heard(open_page):
    scripts = ("console.log('a message')", "throw new Error('an error')", "alert('a dialog')")
    body = "".join(f"<script>{script}</script>" for script in scripts)
    visit = open_page(page(body), quiet=False)
    for heard in ("a message", "an error", "dialog: a dialog"):
        with pytest.raises(AssertionError, match=heard):
            visit.was_quiet()


def test_what_a_page_asks_for_and_what_its_policy_keeps_out_is_heard(open_page):
    script, style = "<script>document.title = 'x'</script>", '<p style="color: red">text</p>'
    visit = open_page(page(f'{script}{style}<img alt="" src="{NOWHERE}">', POLICY), quiet=False)
    for heard in ("script-src", "style-src", "img-src"):
        with pytest.raises(AssertionError, match=heard):
            visit.was_quiet()
    visit = open_page(page(f'<img alt="" src="{NOWHERE}">'), quiet=False)
    with pytest.raises(AssertionError, match=NOWHERE):
        visit.was_quiet()
    assert visit.asked == [NOWHERE]


def test_what_is_too_wide_is_measured(open_page):
    visit = open_page(page('<p style="width: 1500px; margin: 0">text</p>'), width=390)
    assert visit.overflow() > 1100


def test_faults_are_found_despite_the_policy_of_the_page(open_page):
    visit = open_page(page("<button></button>", POLICY))
    assert visit.faults("critical") == [("button-name", "<button></button>")]
