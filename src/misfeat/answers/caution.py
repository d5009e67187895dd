"""Caution: one thing that may mislead in an answer, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from misfeat.exceptions import Message

if TYPE_CHECKING:
    from collections.abc import Iterable

OVERTURNS, WEAKENS, NOTE = "overturns", "weakens", "note"
SEVERITIES = (OVERTURNS, WEAKENS, NOTE)
"""Worst first: the answer may be wrong altogether, less sure than it looks, or is to be read so."""
MOST_NAMED = 5
"""So many columns, pairs or subgroups are named; the rest is counted."""


@dataclass(frozen=True)
class Caution:
    """Something that may mislead in an answer; `Selection.cautions` says what its parts are."""

    kind: str
    sentence: Message
    remedy: Message = field(default_factory=lambda: Message(""))
    columns: tuple[str, ...] = ()
    subgroups: tuple[str, ...] = ()
    severity: str = WEAKENS

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "kind", "columns", "subgroups", "sentence", "remedy", "severity",
    )  # fmt: skip

    @classmethod
    def of(
        cls,
        kind: str,
        sentence: str,
        remedy: str = "",
        *,
        columns: Iterable[str] = (),
        subgroups: Iterable[str] = (),
        severity: str = WEAKENS,
        **about: Any,
    ) -> Caution:
        """A caution, its sentence and remedy from templates and what they are about."""
        messages = Message(sentence, **about), Message(remedy, **about)
        return cls(kind, *messages, tuple(columns), tuple(subgroups), severity)

    @property
    def words(self) -> Message:
        """The sentence and the remedy, one after the other."""
        if not self.remedy:
            return self.sentence
        return Message("{sentence} {remedy}", sentence=self.sentence, remedy=self.remedy)
