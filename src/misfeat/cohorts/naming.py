"""Why a name is not a feature, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.cohorts.columns import NEVER_RECORDED
from misfeat.cohorts.looks import IDENTIFIER
from misfeat.exceptions import Message, MisfeatError, Setting, no_such_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from misfeat.cohorts.model import Cohorts, ColumnAudit

EXCLUDED = "excluded"
"""The treatment of a column that the user left out."""
NOT_ON_SHORTLIST = "not on the shortlist"
"""The treatment of a feature that a search through very many sets did not keep."""


def not_a_feature(
    name: object,
    role: str | Setting,
    cohorts: Cohorts,
    features: Sequence[str],
    blocks: Mapping[str, Sequence[str]] | None = None,
) -> MisfeatError:
    """The error for a name that is none of the features of a table, with the reason.

    `role` is what it was asked for as, and `blocks` are features that enter sets together.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> cohorts = build_cohorts({"a": [0, 1], "b": [1, 1], "y": [0, 1]}, "y")
    >>> not_a_feature("b", "a feature", cohorts, ["a"]).args[0]
    "'b' was asked for as a feature, but it was left out: constant."
    """
    for block, members in (blocks or {}).items():
        if name in members:
            why = Message("is a member of the block {block!r}; name the block", block=block)
            return _refused(name, role, why)
    audit = next((audit for audit in cohorts.columns if audit.column == name), None)
    if audit is None:
        return no_such_column(name, features, role)
    return _refused(name, role, _reason(audit))


def _refused(name: object, role: str | Setting, reason: str) -> MisfeatError:
    return MisfeatError(
        "{column!r} was asked for as {role}, but it {reason}.",
        column=name,
        role=role,
        reason=reason,
    )


def _reason(audit: ColumnAudit) -> str:
    match audit.role, audit.treatment:
        case "target", _:
            return "is the target; take it out"
        case "group", _:
            return "tells the subgroups apart and is not a feature; take it out"
        case "weight" | "design", words:
            return f"holds the {words} of the rows and is not a feature; take it out"
        case "left out", treatment if treatment == EXCLUDED:
            return Message(
                "is in {exclude}; take it out of one of the two", exclude=Setting("exclude")
            )
        case "left out", treatment if treatment == NOT_ON_SHORTLIST:
            return Message(
                "was left out, for it explains nothing by itself or in a pair; use {include}, so "
                "that every set holds it, or keep all features with {max_sets}",
                max_sets=Setting("max_sets", None),
                include=Setting("include", [audit.column]),
            )
        case "left out", treatment if treatment == IDENTIFIER:
            return Message(
                "was left out as an identifier; if it measures something, keep it with {bins}",
                bins=Setting("bins", 5, column=audit.column),
            )
        case "left out", treatment if treatment == NEVER_RECORDED:
            return Message(
                "was left out, because no subgroup recorded it; check {codes} and {threshold}",
                codes=Setting("missing_values"),
                threshold=Setting("missing_threshold"),
            )
        case "left out", treatment:
            return f"was left out: {treatment}"
    return Message(
        "has no numbers that {measure} could use; take it out", measure=Setting("measure", "r2")
    )
