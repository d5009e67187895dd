"""What the demonstration leaves behind: the fitted selector and its report, with its trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from misfeat.selector import SubgroupSelector


def write_results(selector: SubgroupSelector, place: Path, title: str, console: Console) -> None:
    """Say how far to trust the answers, write the run and the report, and say where they are."""
    place = place.resolve()
    run, page = place / "run", place / "report.html"
    report = selector.report(title=title)  # which validates, so that there is a sentence to say
    console.print(f"\n{selector.validation_}\n", highlight=False, markup=False)
    selector.save(run)
    say(console, f"Run:    {run}")
    report.write_html(page)
    say(console, f"Report: {page} (open it in a browser)")


def say(console: Console, text: str) -> None:
    """Print a line as it is: names may hold what would be markup, and paths are never broken."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)
