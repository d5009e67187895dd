"""A real browser for tests, and what a page did in it."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

ARTEFACTS = Path(__file__).parents[3] / "test-artefacts"
"""Screenshots, kept to be looked at."""

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def launched():
    """Headless Chromium from the system's packages; skipped without it, an error in CI."""
    playwright = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        explain = pytest.fail if os.environ.get("CI") else pytest.skip
        explain("Chromium is not installed")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


class Visit:
    """A page in a context of its own, and everything it said or asked for."""

    def __init__(self, browser, html, folder, **settings):
        self.path = Path(folder) / "report.html"
        self.path.write_text(html, encoding="utf-8")
        settings = {"viewport": {"width": 1280, "height": 900}, **settings}
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", self._on_dialog)
        self.page.goto(self.path.as_uri())

    def _on_dialog(self, dialog):
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def shown_rows(self, table):
        """The texts of the rows that can be seen."""
        rows = self.page.locator(f"{table} tbody tr:visible")
        return [row.split("\t") for row in rows.all_inner_texts()]

    def was_quiet(self):
        """Nothing was said on the console, and nothing but the page itself was asked for."""
        assert self.said == []
        assert self.asked == [self.path.as_uri()]
