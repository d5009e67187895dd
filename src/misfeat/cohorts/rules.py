"""The choices that make cohorts of a table, checked once, and the notes taken on the way."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

from misfeat.cohorts.binning import BinRules
from misfeat.cohorts.coding import Coding
from misfeat.cohorts.groups import GroupRule, parse_groups
from misfeat.cohorts.values import MissingCodes
from misfeat.cohorts.weighing import WeightRules
from misfeat.exceptions import Message, warn
from misfeat.parameters import check_parameters

_log = logging.getLogger("misfeat")


@dataclass(frozen=True)
class CohortRules:
    """By what rules a table becomes cohorts, parsed and checked once.

    Attributes
    ----------
    groups : tuple of GroupRule
        What tells the subgroups apart.
    bins : BinRules
        Where ordered columns are cut.
    codes : MissingCodes
        Values that mean missing.
    coding : Coding
        All other settings, as users give them.
    weights : WeightRules
        How much rows count.
    """

    groups: tuple[GroupRule, ...]
    bins: BinRules
    codes: MissingCodes
    coding: Coding
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
        return cls(
            groups=parse_groups(groups),
            bins=BinRules.parse(coding.bins, coding.binning),
            codes=MissingCodes.parse(coding.missing_values),
            coding=coding,
            weights=WeightRules() if weights is None else weights,
        )

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
        text = Message(template, **about)
        self.texts.append(text)
        _log.info(text)

    def warn(self, template: str, **about: Any) -> None:
        """Note something that the user should look at."""
        text = Message(template, **about)
        self.texts.append(text)
        warn(text)
