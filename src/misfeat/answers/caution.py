"""A caution: something that may mislead in an answer, in the words of its kind."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from misfeat.messages import Message, Setting, listed
from misfeat.number_formatting import joined

Severity = Literal["overturns", "weakens", "note"]

SUSPECTS = "suspects"  # Stands for all features that may give the target away
SEVERITIES = ("overturns", "weakens", "note")
"""Worst first: the answer may be wrong altogether, less sure than it looks, or is to be read so."""
MOST_NAMED = 5  # columns, pairs or subgroups; the rest is counted
MOST_ALIKE = 3  # cautions of a kind that have a line each
_KINDS = tomllib.loads(Path(__file__).with_name("cautions.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Caution:
    """Something that may mislead in an answer; `Selection.cautions` says what its parts are."""

    kind: str
    columns: tuple[str, ...]
    subgroups: tuple[str, ...]
    sentence: Message
    remedy: Message
    severity: Severity

    @classmethod
    def of(
        cls,
        kind: str,
        sentence: str = "",
        remedy: str = "",
        *,
        columns: Iterable[str] = (),
        subgroups: Iterable[str] = (),
        severity: Severity | None = None,
        **about: Any,
    ) -> "Caution":
        """A caution from templates; what is not given is that of its kind (cautions.toml)."""
        columns, subgroups = tuple(columns), tuple(subgroups)
        where = listed(subgroups, MOST_NAMED)
        about = {"column": columns[:1] and columns[0], "where": where} | about
        words = _KINDS[kind]
        told = Message(sentence or words["sentence"], **about)
        advice = Message(remedy or words.get("remedy", ""), **about)
        return cls(kind, columns, subgroups, told, advice, severity or words["severity"])

    @property
    def words(self) -> Message:
        """The sentence and the remedy, one after the other."""
        if not self.remedy:
            return self.sentence
        return Message("{sentence} {remedy}", sentence=self.sentence, remedy=self.remedy)


def together(cautions: Iterable[Caution]) -> list[Caution]:
    """The same, with one for all of a kind where there are more than a few."""
    by_kind: dict[str, list[Caution]] = {}
    for one in cautions:
        by_kind.setdefault(one.kind, []).append(one)
    found: list[Caution] = []
    for kind, own in by_kind.items():
        if len(own) <= _KINDS[kind].get("alone", MOST_ALIKE) or "together" not in _KINDS[kind]:
            found += own
            continue
        names = ["/".join(map(repr, one.columns)) for one in own]
        missing = own[0].remedy.about.get("missing")
        if missing is not None and missing.has_value:
            given = (listed(one.remedy.about["missing"].value) for one in own)
            names = [f"{name} ({values})" for name, values in zip(names, given, strict=True)]
        which = "them" if len(own[0].columns) == 1 else "one of each pair"
        remedy, setting = f"Leave {which} out: {{setting}}.", Setting("exclude")
        if missing is not None:
            remedy, setting = "Where it stands for missing, say so, as in {setting}.", missing
        elif own[0].severity != "note":
            remedy = "Unless known before the target is, leave them out: {setting}."
            setting = Setting("exclude", SUSPECTS)
        grouped = Caution.of(
            kind,
            f"{len(own):,} {_KINDS[kind]['together']}: {{names}}.",
            remedy,
            columns=dict.fromkeys(name for one in own for name in one.columns),
            subgroups=dict.fromkeys(name for one in own for name in one.subgroups),
            severity=own[0].severity,
            names=joined(names, MOST_NAMED),
            setting=setting,
        )
        found.append(grouped)
    return found
