"""From a comparison of two runs to its page, which holds no script and fetches nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.exceptions import Message
from misfeat.selection.changed import change_in_words, points_in_words, share_in_words
from misfeat.show.comparison.forest import WIDTH, Forest
from misfeat.show.pages import policy_for, static_file, templates_of
from misfeat.words.numbers import p_words

if TYPE_CHECKING:
    from misfeat.selection.comparison import Comparison

PACKAGE = "misfeat.show.comparison"
MOST_UNCHANGED = 50
"""Sets of one subgroup that did not change and are listed; the frame has all."""


def page(found: Comparison) -> str:
    """The whole page; every name from the tables is text in it, whatever it holds.

    Parameters
    ----------
    found : Comparison
        Two runs, side by side.
    """
    style = static_file(PACKAGE, "comparison.css")
    templates = templates_of(PACKAGE)
    html: str = templates.get_template("comparison.html").render(
        found=found,
        title=_title(found),
        style=style,
        policy=policy_for(style),
        width=WIDTH,
        forests={
            one.subgroup: Forest.of([c for c in found.changed if c.subgroup == one.subgroup])
            for one in found.subgroups
            if one.changed
        },
        unchanged={
            one.subgroup: [c for c in found.changes if c.subgroup == one.subgroup and not c.changed]
            for one in found.subgroups
        },
        most_unchanged=MOST_UNCHANGED,
        share=share_in_words,
        points=points_in_words,
        p_words=p_words,
        words=lambda change: change_in_words(change, found.targets),
    )
    return html


def _title(found: Comparison) -> Message:
    if not found.same_target:
        return Message(
            "What tells about {first}, and what about {second}",
            first=found.targets[0],
            second=found.targets[1],
        )
    first, second = found.names
    if (first, second) == ("first", "second"):
        return Message("What changed from the first run to the second")
    return Message("What changed from {first} to {second}", first=first, second=second)
