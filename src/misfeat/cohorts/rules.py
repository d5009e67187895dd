"""The choices that make cohorts of a table, checked once, and the notes taken on the way."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from misfeat.cohorts.binning import BinRules
from misfeat.cohorts.coding import Coding
from misfeat.cohorts.groups import AUTO, GroupRule, parse_groups, read_as_text
from misfeat.cohorts.values import MissingCodes
from misfeat.cohorts.weighing import WeightRules
from misfeat.cohorts.written import TEXT, parse_ways
from misfeat.exceptions import Message, warn
from misfeat.parameters.declaring import check_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

_log = logging.getLogger("misfeat")


@dataclass(frozen=True)
class CohortRules:
    """By what rules a table becomes cohorts, parsed and checked once."""

    groups: tuple[GroupRule, ...]
    bins: BinRules
    codes: MissingCodes
    ways: Mapping[str, str]
    """How columns of text are to be read, where the user says so."""
    coding: Coding
    """All other settings, as users give them."""
    auto: bool = False
    """Whether columns that tell subgroups apart are chosen by what is missing where."""
    weights: WeightRules = field(default_factory=WeightRules)

    @classmethod
    def parse(
        cls,
        groups: object,
        coding: Coding | None = None,
        weights: WeightRules | None = None,
    ) -> CohortRules:
        """Read and check the parameters as users write them."""
        coding = Coding() if coding is None else coding
        check_parameters(coding)
        auto = isinstance(groups, str | list | tuple) and groups in (AUTO, [AUTO], (AUTO,))
        return cls(
            groups=() if auto else parse_groups(groups),
            bins=BinRules.parse(coding.bins, coding.binning),
            codes=MissingCodes.parse(coding.missing_values),
            ways=parse_ways(coding.read),
            coding=coding,
            auto=auto,
            weights=WeightRules() if weights is None else weights,
        )

    def way(self, column: str) -> str | None:
        """How a column is to be read; subgroups are told apart by its texts as they stand."""
        by_text = any(read_as_text(rule, column) for rule in self.groups)
        return self.ways.get(column, TEXT if by_text else None)

    def is_kept(self, column: str) -> bool:
        """Whether the user asks for the texts of a column, whatever they look like."""
        return self.ways.get(column) == TEXT

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns that tell the subgroups apart, each once."""
        return tuple(dict.fromkeys(column for rule in self.groups for column in rule.columns))


@dataclass
class Notes:
    """Collects what happened to rows and columns, and says it in the log or as a warning."""

    texts: list[str] = field(default_factory=list)

    def add(self, template: str, **about: Any) -> None:
        """Note something that was expected; the words are those of `Message`."""
        self.say(Message(template, **about))

    def say(self, text: Message) -> None:
        """Note what is in words already."""
        self.texts.append(text)
        _log.info(text)

    def warn(self, template: str, **about: Any) -> None:
        """Note something that the user should look at."""
        text = Message(template, **about)
        self.texts.append(text)
        warn(text)
