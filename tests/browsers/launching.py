"""Chromium and Firefox as they are installed, started without a window and driven by Playwright.

Firefox is the stock one, spoken to by WebDriver BiDi. It cannot change its colours while it runs:
there is a process for light pages and, once one is asked for, another for dark pages.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright

EXECUTABLES = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
}
"""The browsers, each with the commands that packages give it."""

FIREFOX_COLOURS = {"dark": 0, "light": 1}
"""Values of Firefox's preference for the colours of pages."""
FIREFOX_PREFERENCES = {
    # Scroll bars take no width, as on phones and in Chromium without a window.
    "ui.useOverlayScrollbars": 1,
    # Playwright lets local pages read each other; readers' browsers do not.
    "security.fileuri.strict_origin_policy": True,
}
DOWNLOAD_TRIES, DOWNLOAD_PAUSE = 150, 100
"""How often and after how many milliseconds Firefox's folder is looked into."""
SIDES = ("top", "right", "bottom", "left")


class MissingBrowserError(Exception):
    """A browser is not installed."""


def executable(name: str) -> str:
    """The path of a browser."""
    found = next(filter(None, map(shutil.which, EXECUTABLES[name])), None)
    if found is None:
        raise MissingBrowserError(f"{name.capitalize()} is not installed.")
    return found


class Chromium:
    """One process; every page has its own colours."""

    name = "chromium"
    sheet: ClassVar = {"format": "A4", "margin": dict.fromkeys(SIDES, "1cm")}

    def __init__(self, driver: Playwright):
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        self._process = driver.chromium.launch(
            executable_path=executable(self.name), args=arguments
        )

    def new_context(self, colours: str, width: int, height: int) -> BrowserContext:
        viewport = {"width": width, "height": height}
        return self._process.new_context(color_scheme=colours, viewport=viewport)

    def downloaded(self, tab: Page, button: Locator) -> tuple[str, str]:
        """The name and the text of the file that a click gives."""
        with tab.expect_download() as waiting:
            button.click()
        name, path = waiting.value.suggested_filename, waiting.value.path()
        return name, Path(path).read_bytes().decode("utf-8")

    def close(self) -> None:
        self._process.close()


class Firefox:
    """A process for each colours."""

    name = "firefox"
    # Playwright hands numbers of inches on to Firefox, which takes them for centimetres.
    sheet: ClassVar = {"width": "21in", "height": "29.7in", "margin": dict.fromkeys(SIDES, "1in")}

    def __init__(self, driver: Playwright):
        self._driver = driver
        self._path = executable(self.name)
        self._processes: dict[str, Browser] = {}
        self._downloads = tempfile.TemporaryDirectory()

    def new_context(self, colours: str, width: int, height: int) -> BrowserContext:
        if colours not in self._processes:
            self._processes[colours] = self._launched(colours)
        return self._processes[colours].new_context(viewport={"width": width, "height": height})

    def _launched(self, colours: str) -> Browser:
        scheme = {"layout.css.prefers-color-scheme.content-override": FIREFOX_COLOURS[colours]}
        return self._driver.firefox.launch(
            channel="moz-firefox",  # the stock Firefox, not Playwright's own build
            executable_path=self._path,
            downloads_path=self._downloads.name,
            firefox_user_prefs={**FIREFOX_PREFERENCES, **scheme},
        )

    def downloaded(self, tab: Page, button: Locator) -> tuple[str, str]:
        """The name and the text of the file that a click gives.

        Playwright hears nothing of files that pages make themselves; they lie in Firefox's folder.
        """
        folder = Path(self._downloads.name)
        button.click()
        for _ in range(DOWNLOAD_TRIES):
            for path in folder.iterdir():
                if path.suffix != ".part" and (text := path.read_bytes().decode("utf-8")):
                    path.unlink()
                    return path.name, text
            tab.wait_for_timeout(DOWNLOAD_PAUSE)
        raise TimeoutError("Firefox has downloaded nothing.")

    def close(self) -> None:
        for process in self._processes.values():
            process.close()
        self._downloads.cleanup()


@contextmanager
def launched(name: str) -> Iterator[Chromium | Firefox]:
    """One of the browsers, for as many pages as are opened in it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = {"chromium": Chromium, "firefox": Firefox}[name](driver)
        try:
            yield browser
        finally:
            browser.close()
