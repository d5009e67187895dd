"""Fixtures for tests in browsers: every test that opens a page runs in each of them."""

import itertools
import os
from pathlib import Path

import pytest

from tests.browsers.launching import EXECUTABLES, MissingBrowserError, launched
from tests.browsers.visit import Visit

ARTEFACTS = Path(__file__).parents[2] / "test-artefacts"
"""Screenshots, kept to be looked at."""


# Where tests run side by side, those in one browser run in one process.
IN_TURN = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in EXECUTABLES]


@pytest.fixture(scope="session", params=IN_TURN)
def browser(request):
    """Each browser in turn, started once; skipped where it is not installed, an error in CI."""
    pytest.importorskip("playwright")
    try:
        with launched(request.param) as browser:
            yield browser
    except MissingBrowserError as error:
        explain = pytest.fail if os.environ.get("CI") else pytest.skip
        explain(str(error))


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens pages (`Visit` has the settings), each of which must be quiet in the end.

    A page for which ``quiet=False`` is given may say and ask for what it likes.
    """
    visits, quiet_ones, numbers = [], [], itertools.count(1)

    def opened(html: str, *, quiet: bool = True, **settings) -> Visit:
        path = tmp_path / f"page-{next(numbers)}.html"
        path.write_text(html, encoding="utf-8")
        visit = Visit(browser, path, **settings)
        visits.append(visit)
        quiet_ones.extend([visit] if quiet else [])
        return visit

    yield opened
    try:
        for visit in quiet_ones:
            visit.was_quiet()
    finally:
        for visit in visits:
            visit.close()


@pytest.fixture
def keep_picture(browser):
    """Keeps a picture of a page to be looked at, under a name and the browser's."""

    def kept(visit: Visit, name: str) -> None:
        visit.picture(ARTEFACTS / f"{name}-{browser.name}.png")

    return kept
