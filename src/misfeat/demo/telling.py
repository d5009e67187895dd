"""What every demonstration does: answer, write a run and its report, and say the answer."""

from __future__ import annotations

import sys
from math import comb
from shlex import quote
from typing import TYPE_CHECKING

import tomli_w

from misfeat.answers.top import best_sets
from misfeat.exceptions import Message
from misfeat.runtime.progress import progress_shown
from misfeat.saved_selector import save_selector
from misfeat.saving.run_folder import REPORT, SETTINGS
from misfeat.show.console import new_console, plain_text, print_lines
from misfeat.show.first_screen import FirstScreen, first_screen
from misfeat.show.sentences import print_sentences
from misfeat.words.names import joined
from misfeat.words.numbers import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rich.console import Console

    from misfeat.answers.top import ScoredSet
    from misfeat.selection import Selection
    from misfeat.selector import SubgroupSelector


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
    with progress_shown(verbose):
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


def mostly_chance(selection: Selection) -> Iterator[Message]:
    """Of the sets that look best in a subgroup's own rows, the one that falls furthest.

    Nothing is said where at least half of what it seems to tell holds.
    """
    every = comb(len(selection.feature_names), selection.size)
    fallen: list[ScoredSet] = []
    for name in selection.subgroup_names():
        sets = best_sets(selection, k=every, subgroup=name)
        seen = [one for one in sets if one.source == "recorded"]
        if seen:
            fallen.append(max(seen, key=lambda one: one.observed or 0.0))
    furthest = max(fallen, key=lambda one: one.rank or 0, default=None)
    if furthest is not None and 0 < furthest.score < (furthest.observed or 0.0) / 2:
        yield _fall(furthest, every)


def _fall(one: ScoredSet, every: int) -> Message:
    """One sentence.

    Examples
    --------
    >>> from misfeat.answers.top import ScoredSet
    >>> score, seen = (0.01, 0.0, 0.02, 0.1), (0.05, None)
    >>> seen = ScoredSet("site=b", 7, ("age", "sex"), *score, *seen, "recorded", (), "own rows")
    >>> _fall(seen, 28)
    'site=b: by its own rows alone, age and sex would look best, with 50 % of what there is to tell. Little of that is expected to hold in the population: 10 %, number 7 of 28 sets.'
    """  # noqa: E501
    observed, whole = one.observed or 0.0, one.score / one.share
    between = one.low / whole, one.high / whole
    return Message(
        "{subgroup}: by its own rows alone, {names} would look best, with {seen} of what there is "
        "to tell. Little of that is expected to hold in the population: {share}, number "
        "{rank:,} of {every:,} sets.",
        subgroup=one.subgroup,
        names=joined(one.features),
        seen=Message(percent(observed / whole, *between)),
        share=Message(percent(one.share, *between)),
        rank=one.rank,
        every=every,
    )
