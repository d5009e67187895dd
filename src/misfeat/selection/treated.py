"""What became of columns, subgroups and sets on the way that a reader of answers should know."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from misfeat.cohorts.coding import AS_IT_IS, OF_CODEBOOK
from misfeat.cohorts.profiles import DATE, FREE_TEXT, IDENTIFIER
from misfeat.cohorts.targets import CLASSES, NUMBER
from misfeat.exceptions import Message, Setting, listed
from misfeat.selection.caution import MOST_NAMED, NOTE, WEAKENS, Caution
from misfeat.words.numbers import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from misfeat.cohorts import Cohorts
    from misfeat.cohorts.model import ColumnAudit
    from misfeat.estimation.shortlist import Shortlist
    from misfeat.selection.ranking import ScoredSet

BINNED_TARGET, NUMBER_TARGET, MERGED = "binned target", "number as target", "merged"
CODE_FOR_MISSING = "code for missing"
_WHAT_IT_TELLS = {
    IDENTIFIER: "looks like an identifier and was coded as a feature ({treatment}): what it tells "
    "may be the order of the rows, and holds for no other table.",
    DATE: "holds dates and was coded as a feature ({treatment}): what it tells may be when rows "
    "were recorded, and later dates were never seen.",
    FREE_TEXT: "looks like free text and was coded as a feature ({treatment}): most of what it "
    "says is lost.",
}
_REMEDIES = {
    IDENTIFIER: "Leave it out: {exclude}.",
    DATE: "Make a duration or a season of it, or leave it out: {exclude}.",
    FREE_TEXT: "Make categories of it, or leave it out: {exclude}.",
}
_SEVERITIES = {IDENTIFIER: WEAKENS, DATE: NOTE, FREE_TEXT: NOTE}
SHORTLIST = "shortlist"
SAYS_LITTLE = 0.5
"""A bound above this share of what there is to tell says next to nothing."""
_SIZES = {1: "features", 2: "pairs", 3: "triples"}


def odd_columns(cohorts: Cohorts) -> Iterator[Caution]:
    """Identifiers, dates and free text that were coded as features."""
    for audit in cohorts.columns:
        if audit.role != "feature" or audit.looks_like not in _WHAT_IT_TELLS:
            continue
        yield Caution(
            audit.looks_like,
            Message(
                f"Column {{column!r}} {_WHAT_IT_TELLS[audit.looks_like]}",
                column=audit.column,
                treatment=audit.treatment,
            ),
            Message(_REMEDIES[audit.looks_like], exclude=Setting("exclude", [audit.column])),
            columns=(audit.column,),
            severity=_SEVERITIES[audit.looks_like],
        )


def codes_for_missing(cohorts: Cohorts) -> Iterator[Caution]:
    """Numbers that look like codes for missing values, and were taken as they are."""
    for audit in cohorts.columns:
        if audit.role not in ("feature", "target") or not audit.suspects:
            continue
        yield Caution(
            CODE_FOR_MISSING,
            Message(
                "{what} {column!r} is {why}: that looks like a code for missing values.",
                what="Feature" if audit.role == "feature" else "The target",
                column=audit.column,
                why=audit.why_suspect,
            ),
            Message(
                "If it is one, say so: {missing}.",
                missing=Setting("missing_values", list(audit.suspects), column=audit.column),
            ),
            columns=(audit.column,),
            severity=WEAKENS,
        )


def cut_target(cohorts: Cohorts, best: Sequence[ScoredSet], measure: str) -> Iterator[Caution]:
    """A continuous target that was cut into bins: into those of several grids, or of one.

    R² reads the numbers themselves.
    """
    for audit in cohorts.columns:
        if audit.role != "target" or audit.treatment == AS_IT_IS or measure == "r2":
            continue
        yield _number(cohorts, best) if cohorts.is_number else _binned(audit)


def _number(cohorts: Cohorts, best: Sequence[ScoredSet]) -> Caution:
    classes, linear = Setting("target", CLASSES), Setting("measure", "r2")
    return Caution(
        NUMBER_TARGET,
        Message(
            "The target {column!r} is taken as a number: scores are means over {grids} grids of "
            "its values{apart}.",
            column=cohorts.target,
            grids=len(cohorts.grids),
            apart=_apart(best),
        ),
        Message(
            "To take it in {n} classes use {classes}, for its linear part {linear}.",
            n=len(cohorts.classes),
            classes=classes,
            linear=linear,
        ),
        columns=(cohorts.target,),
        severity=NOTE,
    )


def _apart(best: Sequence[ScoredSet]) -> Message:
    """How far grids differ in what the best sets tell; nothing where none tells anything."""
    shares = [one.spread / one.score for one in best if one.spread is not None and one.score > 0]
    if not shares:
        return Message("")
    return Message(
        ", which differ by {apart} of what a best set tells",
        apart=Message(percent(median(shares), 0, 1)),
    )


def _binned(audit: ColumnAudit) -> Caution:
    return Caution(
        BINNED_TARGET,
        Message(
            "The target {column!r} has many values and was cut ({treatment}): scores tell in "
            "which bin a row falls, not where in it.",
            column=audit.column,
            treatment=audit.treatment,
        ),
        Message("Agree on cut points that matter in the proposals of the sites.")
        if audit.treatment == OF_CODEBOOK
        else Message(
            "Give cut points that matter, {bins}, or use {number} or {measure}.",
            bins=Setting("bins", column=audit.column),
            number=Setting("target", NUMBER),
            measure=Setting("measure", "r2"),
        ),
        columns=(audit.column,),
        severity=NOTE,
    )


def joined_subgroups(cohorts: Cohorts) -> Iterator[Caution]:
    """Merged subgroups of which some recorded a feature and others did not."""
    for subgroup in dict.fromkeys(name for name, _ in cohorts.joined):
        features = [f for name, f in cohorts.joined if name == subgroup and f in cohorts.features]
        if not features:
            continue
        yield Caution(
            MERGED,
            Message(
                "Subgroup {subgroup!r} is made of parts of which some recorded {features} and "
                "others never did: that a value is missing there tells which part a row is of.",
                subgroup=subgroup,
                features=listed(features, MOST_NAMED),
            ),
            Message(
                "Merge parts that recorded the same, or leave small ones out: {drop}.",
                drop=Setting("small_groups", "drop"),
            ),
            columns=tuple(features),
            subgroups=(subgroup,),
            severity=WEAKENS,
        )


def left_out(shortlist: Shortlist | None, cohorts: Cohorts) -> Iterator[Caution]:
    """Features of a wide table that were left out, and by what."""
    if shortlist is None:
        return
    n_left, n_kept = len(shortlist.left_out), len(cohorts.features)
    yield Caution(
        SHORTLIST,
        Message(
            "{left} of {every} features were left out: those kept explain most by themselves or in "
            "one of {pairs} pairs, in {rows} rows.{more} Three features that explain something "
            "only together are missed.",
            left=f"{n_left:,}",
            every=f"{n_left + n_kept:,}",
            pairs=f"{shortlist.pairs:,}",
            rows=f"{shortlist.rows:,}",
            more=Message(_outstanding(shortlist.outstanding)),
        ),
        Message(
            "Leave out what cannot matter ({exclude}), and include what must be kept ({include}). "
            "P-values are of the other rows, and hold; what stability and validation say is about "
            "the features that were kept.",
            exclude=Setting("exclude"),
            include=Setting("include"),
        ),
        severity=WEAKENS,
    )


def _outstanding(count: int | None) -> str:
    """Whether something was left out that explains more than chance would."""
    if count is None:
        return ""
    if not count:
        return " No other explains more than chance would, alone or in a pair."
    return f" {count:,} more would have explained something."
