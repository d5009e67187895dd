"""What every demonstration does: answer, write a run and its report, and say the answer."""

from __future__ import annotations

import sys
from shlex import quote
from typing import TYPE_CHECKING

import tomli_w

from misfeat.demo.chance import mostly_chance
from misfeat.machine.progress import progress_shown
from misfeat.restoring import save_selector
from misfeat.selection.folders import REPORT, SETTINGS
from misfeat.show.console import new_console, plain_text, print_lines
from misfeat.show.first_screen import first_screen
from misfeat.show.forecast import Ahead, work_ahead
from misfeat.show.sentences import print_sentences

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console

    from misfeat.selector import SubgroupSelector
    from misfeat.show.first_screen import FirstScreen


def answered(
    fitted: Callable[[int], SubgroupSelector],
    place: Path,
    title: str,
    introduction: str,
    console: Console | None = None,
) -> SubgroupSelector:
    """Fit, write a run and its report to a folder, and print the answer in sentences.

    `fitted` is told how much of its progress to show. The introduction says what the table is, with
    fields for the numbers of ``rows`` and ``features``.
    """
    console = console or new_console()
    verbose = sys.stderr.isatty()
    ahead = Ahead(tested=True, validated=True, redrawn=True)
    with progress_shown(verbose, whole=True), work_ahead(ahead):
        selector = fitted(int(verbose))
        screen = first_screen(selector.selection_)
        # Before anything is printed, which nobody may read to its end.
        _write(selector, place, title)
    print_answer(selector, screen, introduction, console)
    return selector


def print_answer(
    selector: SubgroupSelector, screen: FirstScreen, introduction: str, console: Console
) -> None:
    """Print what the table is, and the answer in sentences."""
    selection = selector.selection_
    text = introduction.format(
        rows=selection.cohorts.weights.sum(), features=len(selection.feature_names)
    )
    print_lines(console, plain_text(text, style="italic"))
    console.print()
    print_sentences(
        screen, console, validation=selection.validation, further=mostly_chance(selection)
    )


def _write(selector: SubgroupSelector, place: Path, title: str) -> None:
    # A report validates the answers, so that the sentences then say how far to trust them.
    report = selector.report(title=title)
    settings = "# misfeat report reads this.\n" + tomli_w.dumps({"title": title})
    beside = {SETTINGS: settings.encode(), REPORT: report.html().encode()}
    save_selector(selector, place, beside)


def say_where(place: Path, console: Console | None = None) -> None:
    """Say where the answers are, and how to ask more; paths are never broken."""
    console = console or new_console()
    for line in (
        "",
        f"Run:    {place}",
        f"Report: {place / REPORT} (open it in a browser)",
        f"More:   misfeat ask {quote(str(place))} QUESTION, such as top, enough or features.",
    ):
        console.print(plain_text(line), soft_wrap=True)
