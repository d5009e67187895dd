"""A page that is open in a browser, and everything it said or asked for."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Dialog, Frame, Locator, Page

    from tests.browsers.launching import Chromium, Firefox

WITHOUT_SCRIPTS = """<!doctype html><title>Without scripts</title>
<iframe sandbox="allow-same-origin" width="{width}" height="{height}" src="{address}"></iframe>"""
"""Both browsers run no script in such a frame and show what pages say to readers without."""

BY_THE_DRIVER = base64.b64encode(hashlib.sha256(b"body {}").digest()).decode()
"""The hash of a style that Playwright adds for a moment to take a picture, as Firefox names it when
the page's policy keeps it out."""

PATIENCE = 15_000
"""Milliseconds for which something to click on or to read is waited for."""

SETTLED = "new Promise(done => setTimeout(done, 50))"
"""Breaches of the policy are told a moment after they happen."""

FAULTS = """axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
    violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0].html })))"""


class Visit:
    """A page in a context of its own, at an address such as ``"#explorer"``.

    `page` is what tests look at, click and type into: Playwright's page, or its frame without
    scripts. `said` holds messages on the console, errors, breaches of the page's policy and
    dialogs, `asked` the addresses that were asked for beside the page itself (Firefox does not tell
    of local files, Chromium does).
    """

    def __init__(
        self,
        browser: Chromium | Firefox,
        path: Path,
        *,
        address: str = "",
        width: int = 1280,
        height: int = 900,
        colours: str = "light",
        scripts: bool = True,
    ):
        self.browser = browser
        self.said: list[str] = []
        self.asked: list[str] = []
        self._own = path.as_uri()
        self._context = browser.new_context(colours, width, height)
        self._context.set_default_timeout(PATIENCE)
        self._context.set_default_navigation_timeout(4 * PATIENCE)
        self._tab = self._context.new_page()
        self._listen()
        if scripts:
            self._tab.goto(self._own + address)
            self.page: Page | Frame = self._tab
        else:
            framed = WITHOUT_SCRIPTS.format(
                width=width - 40, height=height - 40, address=self._own + address
            )
            around = path.with_suffix(".framed.html")
            around.write_text(framed, encoding="utf-8")
            self._tab.goto(around.as_uri())
            self.page = self._tab.frames[1]

    def _listen(self) -> None:
        self._tab.on("console", lambda message: self._on_word(message.text))
        self._tab.on("pageerror", lambda error: self._on_word(str(error)))
        self._tab.on("dialog", self._on_dialog)
        self._tab.on("request", lambda request: self._on_request(request.url))

    def _on_word(self, word: str) -> None:
        if BY_THE_DRIVER not in word:
            self.said.append(word)

    def _on_dialog(self, dialog: Dialog) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _on_request(self, address: str) -> None:
        # A blob is what the page made itself, to be downloaded.
        if address.partition("#")[0] != self._own and not address.startswith("blob:"):
            self.asked.append(address)

    def evaluate(self, script: str) -> Any:
        """What an expression of JavaScript gives in the page."""
        return self.page.evaluate(script)

    def press(self, *keys: str) -> None:
        """Press keys, by their names in JavaScript: "Enter", "Tab", "ArrowDown"."""
        for key in keys:
            self._tab.keyboard.press(key)

    def downloaded(self, button: Locator) -> tuple[str, str]:
        """The name and the text of the file that a click on a button gives."""
        return self.browser.downloaded(self._tab, button)

    def shown_rows(self, table: str) -> list[list[str]]:
        """The texts of a table's cells, for the rows that can be seen."""
        rows = self.page.locator(f"{table} tbody tr:visible")
        return [row.split("\t") for row in rows.all_inner_texts()]

    def overflow(self) -> int:
        """How many pixels the page is wider than the window."""
        root = "document.documentElement"
        return self.evaluate(f"{root}.scrollWidth - {root}.clientWidth")

    def faults(self, *impacts: str) -> list[tuple[str, str]]:
        """What axe-core finds in readers' way: the rules, and the first element that breaks each.

        Impacts are "critical", "serious", "moderate" and "minor".
        """
        from axe_playwright_python.base import AXE_SCRIPT

        # The driver's own way into the page, which the page's policy leaves open.
        self.evaluate(AXE_SCRIPT)
        found = self.evaluate(FAULTS)
        return [(one["id"], one["html"]) for one in found if one["impact"] in impacts]

    def picture(self, path: Path) -> None:
        """Write a PNG of the whole page."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # To hide the caret, Playwright would add a style to the page.
        self._tab.screenshot(path=path, full_page=True, caret="initial")

    def printed(self) -> bytes:
        """The page as a PDF, on A4 paper with margins of 1 cm, in its colours."""
        return self._tab.pdf(print_background=True, **self.browser.sheet)

    def paper_colour(self) -> tuple[int, ...]:
        """The colour that most of the first printed sheet has."""
        import pypdfium2

        pixels = pypdfium2.PdfDocument(self.printed())[0].render().to_pil().convert("RGB").tobytes()
        colours = Counter(zip(pixels[::3], pixels[1::3], pixels[2::3], strict=True))
        return colours.most_common(1)[0][0]

    def was_quiet(self) -> None:
        """Nothing was said, and nothing but the page itself was asked for."""
        self._tab.evaluate(SETTLED)
        heard = f"the page said {self.said} and asked for {self.asked}"
        assert not self.said + self.asked, heard

    def close(self) -> None:
        self._context.close()
