"""The report: one self-contained HTML page of what a fitted selector found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from misfeat.safe_text import visible, visible_json
from misfeat.show.pages import HtmlPage, framed
from misfeat.show.report.data import report_data
from misfeat.show.report.page import report_page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.exceptions import Spelling
    from misfeat.selection import Selection

__all__ = ["Report"]


class Report(HtmlPage):
    """One self-contained page of what a fitted selector found; `SubgroupSelector.report` makes it.

    Nothing in it is fetched from anywhere, and a Content-Security-Policy forbids that it ever is.

    `spell` says how parameters are spelled in advice: in Python's words by default.
    """

    page_name = "report"

    def __init__(
        self,
        selection: Selection,
        title: str | None = None,
        *,
        size: int | None = None,
        k: int | None = None,
        costs: Mapping[str, float] | None = None,
        validate: bool = True,
        spell: Spelling = str,
    ) -> None:
        self._data = report_data(
            selection, title, size=size, k=k, costs=costs, validate=validate, spell=spell
        )
        self._html: str | None = None

    def html(self) -> str:
        """The whole page."""
        if self._html is None:
            self._html = report_page(self._data)
        return self._html

    def html_snippet(self) -> str:
        """The page as a frame that another page or a notebook can hold.

        The frame is sandboxed: names from the table cannot reach the page around it.
        """
        title = self._data.contents["title"]
        return framed(self.html(), title, "allow-scripts allow-downloads")

    def json(self) -> str:
        """Everything the page shows, for programs."""
        return visible_json(json.dumps(self._data.contents, ensure_ascii=False, allow_nan=False))

    def _repr_html_(self) -> str:
        return self.html_snippet()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html_snippet()}

    def __repr__(self) -> str:
        title = visible(self._data.contents["title"])
        return f"<Report: {title}. Use .open() or .write_html('report.html').>"
