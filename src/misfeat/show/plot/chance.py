"""What being faded says in a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.show.plot.canvas import shortened

if TYPE_CHECKING:
    from misfeat.selection.selection import Selection


def chance_words(selection: Selection) -> str:
    """What being faded says: not more than chance, or than what a feature tells anyway."""
    tests = selection.known_tests
    within = None if tests is None else tests.asked[2]
    beyond = "" if within is None else f" within {shortened(within, 16)}"
    return f"not more than chance{beyond}"
