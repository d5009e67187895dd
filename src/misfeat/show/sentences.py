"""The first screen in a terminal: the answer in sentences, and what may overturn it."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from misfeat.answers.collecting import feature_worths
from misfeat.exceptions import InPython, Message
from misfeat.show.console import new_console, plain_text, print_lines
from misfeat.show.first_screen import first_screen
from misfeat.show.first_screen.answering import CHANCE, MAY_BE_CHANCE, NOTHING, TOLD, UNTESTED
from misfeat.show.first_screen.wording import collecting_sentences, with_weights
from misfeat.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Console

    from misfeat.selection import Selection
    from misfeat.show.first_screen import FirstScreen
    from misfeat.show.first_screen.answering import SubgroupAnswer

    Spell = Callable[[str], str]

MOST_SENTENCES = 20
"""Sentences under one heading; of more subgroups the most telling ones are shown."""
_ORDER = (TOLD, UNTESTED, MAY_BE_CHANCE, CHANCE, NOTHING)
"""Verdicts, the most telling first."""
COLLECTING = "Worth recording"
TRUST = "How far to trust it"


def print_sentences(
    screen: FirstScreen,
    console: Console | None = None,
    *,
    spell: Spell = str,
    collecting: bool = True,
    validation: str | None = None,
    further: Iterable[str] = (),
) -> None:
    """Print the answer: first what may overturn it, last how far to trust it.

    `validation` is what leaving parts of the table out has shown, None where that was not asked
    for; `further` says more of how far to trust the answer.
    """
    console = console or new_console()
    for caution in screen.overturning:
        _print(console, spell(caution.words), "Caution: ", style="bold red")
    if screen.overturning:
        console.print()
    print_lines(console, plain_text(spell(screen.whole), style="bold"))
    if len(screen.subgroups) > 1:
        _print_subgroups(console, screen.subgroups, spell)
    if collecting:
        _print_headed(console, COLLECTING, [spell(one) for one in screen.collecting])
    trust = [*([] if validation is None else [validation]), *further]
    trust += [one.words for one in screen.other_cautions]
    _print_headed(console, TRUST, [spell(one) for one in trust])


def screen_of(
    selection: Selection, size: int | None = None, subgroup: str | None = None
) -> FirstScreen:
    """The first screen of a selection, or what of it is about one subgroup."""
    screen = first_screen(selection, size)
    if subgroup is None:
        return screen
    subgroup = selection.cohorts.full_name(subgroup)
    (own,) = (one for one in screen.subgroups if one.subgroup == subgroup)
    whole = float(selection.set_scores.measure.whole[selection.cohorts.position(subgroup)])
    worths = feature_worths(selection, subgroup, size)
    return replace(
        screen,
        whole=with_weights(own.sentence, selection.cohorts, subgroup),
        subgroups=(own,),
        collecting=tuple(collecting_sentences(worths, {subgroup: whole}, selection.confidence)),
        cautions=tuple(
            one for one in screen.cautions if not one.subgroups or subgroup in one.subgroups
        ),
    )


def most_telling(answers: Sequence[SubgroupAnswer], most: int) -> list[SubgroupAnswer]:
    """The subgroups in which most is told, in the table's order."""

    def place(one: SubgroupAnswer) -> tuple[int, float]:
        return _ORDER.index(one.verdict), 0.0 if isnan(one.share) else -one.share

    kept = {id(one) for one in sorted(answers, key=place)[:most]}
    return [one for one in answers if id(one) in kept]


def _print_subgroups(console: Console, answers: Sequence[SubgroupAnswer], spell: Spell) -> None:
    console.print()
    shown = most_telling(answers, MOST_SENTENCES)
    for one in shown:
        _print(console, spell(one.sentence), "• ", bold=visible(one.subgroup))
    if len(shown) < len(answers):
        more = Message(
            "and {number:,} more subgroups, in which less is told; {ask} tells about one.",
            number=len(answers) - len(shown),
            ask=InPython("show(subgroup=...)", "'misfeat ask DIR enough --subgroup NAME'"),
        )
        _print(console, spell(more), "• ")


def _print_headed(console: Console, heading: str, sentences: Sequence[str]) -> None:
    """Sentences under a heading; nothing where there are none."""
    if not sentences:
        return
    console.print()
    console.print(plain_text(heading, style="bold"))
    for sentence in sentences[:MOST_SENTENCES]:
        _print(console, sentence, "• ")
    if len(sentences) > MOST_SENTENCES:
        _print(console, f"and {len(sentences) - MOST_SENTENCES:,} more.", "• ")


def _print(
    console: Console, sentence: str, before: str, style: str = "", bold: str | None = None
) -> None:
    """A sentence behind a mark, further lines below its first word."""
    text = plain_text(sentence)
    if style:
        text = plain_text(before + sentence)
        text.stylize(style, 0, len(before))
        print_lines(console, text)
        return
    if bold is not None and text.plain.startswith(bold):
        text.stylize("bold", 0, len(bold))
    print_lines(console, text, before, " " * len(before))
