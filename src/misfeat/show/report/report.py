"""Report: what a fitted selector found, as HTML and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from misfeat.show.pages import framed, open_page, write_page
from misfeat.visible import visible, visible_json

if TYPE_CHECKING:
    from pathlib import Path

    from misfeat.exceptions import Spelling
    from misfeat.show.report.gather import Findings


class Report:
    """One self-contained page of what a fitted selector found; `SubgroupSelector.report` makes it.

    Nothing in it is fetched from anywhere, and a Content-Security-Policy forbids that it ever is.

    Parameters
    ----------
    findings : Findings
        What was found.
    title : str, default=None
        The heading of the page.
    spell : callable, default=str
        How parameters are spelled in advice; in Python's words by default.

    Examples
    --------
    >>> import json
    >>> from misfeat import SubgroupSelector
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    >>> report = SubgroupSelector(size=1).fit(table, "y").report(title="Four rows")
    >>> "<h1>Four rows</h1>" in report.html()
    True
    >>> report.html_snippet()[:7]
    '<iframe'
    >>> json.loads(report.json())["subgroups"][0]["best_sets"][0]["features"]
    ['a']
    >>> report.open()  # doctest: +SKIP
    """

    def __init__(self, findings: Findings, title: str | None = None, spell: Spelling = str) -> None:
        from misfeat.show.report.contents import contents
        from misfeat.show.report.page import sentences_as_html

        self._contents = contents(findings, title, spell)
        self._told, self._cells = sentences_as_html(findings, spell), findings.cells
        self._html: str | None = None

    def html(self) -> str:
        """The whole page."""
        if self._html is None:
            from misfeat.show.report.page import page

            self._html = page(self._contents, self._told, self._cells)
        return self._html

    def html_snippet(self) -> str:
        """The page as a frame that another page or a notebook can hold.

        The frame is sandboxed: names from the table cannot reach the page around it.
        """
        return framed(self.html(), self._contents["title"], "allow-scripts allow-downloads")

    def json(self) -> str:
        """Everything the page shows, for programs."""
        return visible_json(json.dumps(self._contents, ensure_ascii=False, allow_nan=False))

    def write_html(self, path: str | Path) -> None:
        """Write the page to a file, at once or not at all.

        Parameters
        ----------
        path : str or Path
            Where to; an older file is replaced, a link is followed.
        """
        write_page(path, self.html())

    def open(self) -> None:
        """Show the page in the browser, from a file in the folder for temporary ones."""
        open_page(self.html(), "report")

    def _repr_html_(self) -> str:
        return self.html_snippet()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html_snippet()}

    def __repr__(self) -> str:
        title = visible(self._contents["title"])
        return f"<Report: {title}. Use .open() or .write_html('report.html').>"
