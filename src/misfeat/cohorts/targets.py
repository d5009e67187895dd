"""The target: which columns can be one, and how its values become classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.cohorts.coders import Kind
from misfeat.cohorts.columns import AS_IT_IS, as_it_is, audit_of, binned
from misfeat.cohorts.profiles import DISTINCT_LIMIT
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from misfeat.cohorts.binning import BinRules
    from misfeat.cohorts.coders import Coder
    from misfeat.cohorts.model import ColumnAudit
    from misfeat.cohorts.profiles import Profile
    from misfeat.cohorts.table import Table

MAX_CLASSES = 20
"""A numeric target with more distinct values than this is binned."""
MOST_CLASSES = 100
"""A target with more classes is refused: hardly any class would have rows enough to tell."""


def check_target(profile: Profile, rules: BinRules) -> None:
    """Raise for a target that cannot be scored, before anything else is looked at."""
    column = profile.column
    if profile.kind is Kind.UNSUPPORTED:
        raise MisfeatError(
            "The target {column!r} has a type that cannot be scored; convert it to numbers, text "
            "or flags.",
            column=column,
        )
    if profile.distinct == 0:
        raise MisfeatError(
            "The target {column!r} is missing in every row; choose another target, or check "
            "{codes}.",
            column=column,
            codes=Setting("missing_values"),
        )
    cut = _is_binned(profile, rules)
    if not cut and profile.is_identifier:
        raise MisfeatError(
            "The target {column!r} has a different value in nearly every row; choose another "
            "target, or group its values first.",
            column=column,
        )
    if _n_classes(profile, rules) > MOST_CLASSES:
        raise _too_many_classes(profile, rules)


def _too_many_classes(profile: Profile, rules: BinRules) -> MisfeatError:
    many = _n_classes(profile, rules)
    problem = "The target {column!r} has {many} classes; at most {most} can be told apart."
    said = f"more than {DISTINCT_LIMIT:,}" if many > DISTINCT_LIMIT else f"{many:,}"
    about = {"column": profile.column, "many": said, "most": MOST_CLASSES}
    if _is_binned(profile, rules):
        bins = Setting("bins", 5, column=profile.column)
        return MisfeatError(problem, remedy="Ask for fewer bins: {bins}.", bins=bins, **about)
    remedy = "Merge classes, or use a numeric target, which is cut into bins."
    return MisfeatError(problem, remedy=remedy, **about)


def _is_binned(profile: Profile, rules: BinRules) -> bool:
    chosen = profile.column in rules.by_column
    return profile.kind.ordered and (chosen or profile.distinct > MAX_CLASSES)


def _n_classes(profile: Profile, rules: BinRules) -> int:
    """How many classes there are; of bins, how many there are at most."""
    if not _is_binned(profile, rules):
        return profile.distinct
    rule = rules.by_column.get(profile.column, rules.bins)
    bins = len(rule) + 1 if isinstance(rule, tuple) else rule
    return min(bins, profile.distinct)


def target_coder(table: Table, profile: Profile, rules: BinRules) -> tuple[Coder, ColumnAudit]:
    """Decide how the target is coded: classes as they are, numbers with many values binned."""
    check_target(profile, rules)
    if _is_binned(profile, rules):
        coder, treatment = binned(table, profile, rules)
        return coder, audit_of(profile, coder, "target", treatment)
    coder = as_it_is(profile)
    return coder, audit_of(profile, coder, "target", AS_IT_IS)
