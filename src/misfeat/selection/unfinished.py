"""Unfinished: what an answer lacks because the time was up."""

from __future__ import annotations

from dataclasses import dataclass, field

from misfeat.exceptions import Message, Setting
from misfeat.machine.deadline import minutes_allowed
from misfeat.selection.caution import OVERTURNS, WEAKENS, Caution

SIZE, TESTS, VALIDATION, DRAWS = "size", "tests", "validation", "draws"
WITHOUT_THESE_UNSURE = {SIZE, TESTS}
"""Without these, other sets may be best, or what looks best may be chance."""


@dataclass
class Unfinished:
    """What was left out of an answer; copies of a selection share it.

    Attributes
    ----------
    minutes : float or None
        How long the work was allowed to take; None where it was done in time.
    parts : dict of str to str
        What was left out, in words, by its kind.

    Examples
    --------
    >>> left_out = Unfinished(5.0, {"tests": "nothing was tested against chance"})
    >>> print(left_out.sentence)
    Stopped after 5 minutes: nothing was tested against chance.
    """

    minutes: float | None = None
    parts: dict[str, str] = field(default_factory=dict)

    def note(self, kind: str, words: str) -> None:
        """Note what is left out."""
        self.minutes = minutes_allowed()
        self.parts[kind] = words

    @property
    def sentence(self) -> Message:
        """What was left out, in a sentence; empty where nothing was."""
        if not self.parts:
            return Message("")
        minutes = self.minutes or 0.0
        return Message(
            "Stopped after {minutes:.4g} minute{s}: {parts}.",
            minutes=minutes,
            s=Message("" if minutes == 1 else "s"),
            parts=Message("; ".join(self.parts.values())),
        )

    @property
    def caution(self) -> Caution | None:
        """The same as a caution; None where nothing was left out."""
        if not self.parts:
            return None
        remedy = Message("Allow for more time with {limit}.", limit=Setting("max_minutes"))
        unsure = WITHOUT_THESE_UNSURE & set(self.parts)
        return Caution("time", self.sentence, remedy, severity=OVERTURNS if unsure else WEAKENS)
