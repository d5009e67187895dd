"""The choices that make cohorts of a table, checked once, and the notes taken on the way."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from misfeat.cohorts.binning import BinRules
from misfeat.cohorts.groups import GroupRule, parse_groups
from misfeat.cohorts.values import MissingCodes
from misfeat.exceptions import MisfeatError, check_count, warn

_log = logging.getLogger("misfeat")

_CHOICES = {
    "sporadic": ("category", "available"),
    "small_groups": ("merge", "drop"),
    "missing_groups": ("own", "drop"),
}


@dataclass(frozen=True)
class CohortRules:
    """What `build_cohorts` takes as parameters, parsed and checked."""

    groups: tuple[GroupRule, ...] = ()
    bins: BinRules = field(default_factory=BinRules)
    codes: MissingCodes = field(default_factory=MissingCodes)
    max_categories: int = 9
    missing_threshold: float = 0.95
    sporadic: str = "category"
    min_rows: int = 1
    small_groups: str = "merge"
    missing_groups: str = "own"

    @classmethod
    def parse(
        cls, *, groups: object, bins: object, binning: str, missing_values: object, **choices: Any
    ) -> CohortRules:
        """Read the parameters as users write them."""
        return cls(
            groups=parse_groups(groups),
            bins=BinRules.parse(bins, binning),
            codes=MissingCodes.parse(missing_values),
            **choices,
        )

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                choice = " or ".join(map(repr, allowed))
                raise MisfeatError(f"{name}={getattr(self, name)!r} is unknown; use {choice}.")
        threshold = self.missing_threshold
        if not isinstance(threshold, int | float | np.number) or not 0 < threshold <= 1:
            raise MisfeatError(
                f"missing_threshold={self.missing_threshold!r}; it must be above 0 and at most 1."
            )
        check_count(self.max_categories, "max_categories", least=2)
        check_count(self.min_rows, "min_rows")


@dataclass
class Notes:
    """Collects what happened to rows and columns; says it in the log or warns, unless silent."""

    texts: list[str] = field(default_factory=list)
    silent: bool = False

    def add(self, text: str) -> None:
        """Note something that was expected."""
        self.texts.append(text)
        if not self.silent:
            _log.info(text)

    def warn(self, text: str) -> None:
        """Note something that the user should look at."""
        self.texts.append(text)
        if not self.silent:
            warn(text)
