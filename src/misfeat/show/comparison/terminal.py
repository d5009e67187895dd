"""Two runs side by side in a terminal: sentences, then tables of what changed; or JSON lines."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.markup import escape

from misfeat.answers.comparison_words import points_in_words, share_in_words
from misfeat.show.answer_columns import Shown, fitting_table, names, text
from misfeat.show.answers import as_json
from misfeat.show.console import new_console, plain_text
from misfeat.visible import visible
from misfeat.words.numbers import p_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from misfeat.answers.comparison import Comparison


def print_comparison(
    found: Comparison, console: Console | None = None, spell: Callable[[str], str] = str
) -> None:
    """Print what changed: one sentence for the whole, one a subgroup, then tables and notes."""
    console = console or new_console()
    summary = spell(found.summary())
    console.print(plain_text(summary, style="bold"))
    for one in found.subgroups:
        if one.sentence != summary:
            console.print(visible(spell(one.sentence)), highlight=False, markup=False)
    for one in found.subgroups:
        lines = [asdict(line) for line in found.changed if line.subgroup == one.subgroup]
        if lines:
            console.print(plain_text(one.subgroup, style="bold"))
            console.print(fitting_table(lines, _columns(found), console))
    for note in found.notes:
        console.print(visible(spell(note)), style="dim", highlight=False, markup=False)


def _columns(found: Comparison) -> tuple[Shown, ...]:
    return (
        names("features", "set"),
        Shown(_head(found.names[0]), lambda line: _told(line, "first"), spare=2),
        Shown(_head(found.names[1]), lambda line: _told(line, "second"), spare=1),
        Shown(
            "difference",
            lambda line: points_in_words(line["difference"], line["low"], line["high"]),
        ),
        Shown("", lambda line: p_words(line["p_value"]), spare=3),
        text("asked", "looked at as", spare=4),
        Shown(
            "",
            lambda line: "predicted" if line["source"] == "predicted" else "",
            number=False,
            spare=1,
        ),
    )


def _head(name: str) -> str:
    """A name as the head of a column, which is read as markup."""
    return escape(visible(name))


def _told(line: dict[str, float], run: str) -> str:
    return share_in_words(line[run], line[f"{run}_low"], line[f"{run}_high"])


def comparison_as_json(found: Comparison) -> Iterator[str]:
    """What changed as lines of JSON, each with its ``"kind"``.

    One line for the whole (``"comparison"``), one a subgroup (``"subgroup"``), one a set
    (``"change"``) and one a note (``"note"``).
    """
    whole = {
        "names": found.names,
        "targets": found.targets,
        "unit": found.unit,
        "size": found.size,
        "confidence": found.confidence,
        "only_in": found.only_in,
        "sentence": found.summary(),
    }
    yield as_json("comparison", whole)
    for subgroup in found.subgroups:
        yield as_json("subgroup", asdict(subgroup))
    for change in found.changes:
        yield as_json("change", asdict(change))
    for note in found.notes:
        yield as_json("note", {"sentence": note})
