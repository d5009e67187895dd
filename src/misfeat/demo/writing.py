"""What the demonstration leaves behind: a saved run and its report, with its trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.cli.config import as_title
from misfeat.cli.folder import save_run
from misfeat.saving import REPORT

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from misfeat.selector import SubgroupSelector


def write_results(selector: SubgroupSelector, place: Path, title: str, console: Console) -> None:
    """Say how far to trust the answers, write the run and the report, and say where they are."""
    page = place / REPORT
    report = selector.report(title=title)  # which validates, so that there is a sentence to say
    save_run(selector, as_title(title), place)
    report.write_html(page)
    console.print(f"\n{selector.validation_}\n", highlight=False, markup=False)
    say(console, f"Run:    {place}")
    say(console, f"Report: {page} (open it in a browser)")


def say(console: Console, text: str) -> None:
    """Print a line as it is: names may hold what would be markup, and paths are never broken."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)
