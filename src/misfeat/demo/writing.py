"""What the demonstration leaves behind: a saved run and its report, with its trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tomli_w

from misfeat.restoring import save_selector
from misfeat.selection.folders import REPORT, SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from misfeat.selector import SubgroupSelector


def write_results(selector: SubgroupSelector, place: Path, title: str) -> None:
    """Write the run and the report, before anything is printed that nobody may read to its end."""
    # A report validates the answers, so that the tables then say how far to trust them.
    report = selector.report(title=title)
    settings = "# misfeat report reads this.\n" + tomli_w.dumps({"title": title})
    beside = {SETTINGS: settings.encode(), REPORT: report.html().encode()}
    save_selector(selector, place, beside)


def say_where(place: Path, console: Console) -> None:
    """Say where the answers are."""
    say(console, f"\nRun:    {place}")
    say(console, f"Report: {place / REPORT} (open it in a browser)")


def say(console: Console, text: str) -> None:
    """Print a line as it is: names may hold what would be markup, and paths are never broken."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)
