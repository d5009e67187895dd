"""Features that are left out or hidden, and why a column is none."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from misfeat.cohorts.cohort_data import NOT_RECORDED, Cohorts, as_left_out
from misfeat.cohorts.column_coding import NEVER_RECORDED
from misfeat.cohorts.column_profiles import IDENTIFIER
from misfeat.cohorts.product_sums import ProductSums
from misfeat.exceptions import MisfeatError, no_such_column
from misfeat.messages import Setting
from misfeat.runtime.array_types import Flags

EXCLUDED = "excluded"  # The treatment of a column that the user left out
SUSPECT = "may give the target away"  # That of one which was left out for it
NOT_ON_SHORTLIST = "not on the shortlist"  # The treatment of what a search did not keep


def not_a_feature(
    name: object,
    role: str | Setting,
    cohorts: Cohorts,
    features: Sequence[str],
    blocks: Mapping[str, Sequence[str]] | None = None,
) -> MisfeatError:
    """The error for a name that is none of the features; `role` is what it was asked for as."""
    audit = next((audit for audit in cohorts.columns if audit.column == name), None)
    block = next((block for block, members in (blocks or {}).items() if name in members), None)
    if block is not None:
        reason = f"is a member of the block {block!r}; name the block"
    elif audit is None:
        return no_such_column(name, features, role)
    else:
        column, treatment = audit.column, audit.treatment
        by_role = {
            "target": "is the target; take it out",
            "group": "tells the subgroups apart and is not a feature; take it out",
            "weight": f"holds the {treatment} of the rows and is not a feature; take it out",
            "design": f"holds the {treatment} of the rows and is not a feature; take it out",
            "feature": f"has no numbers that {Setting('measure', 'r2')} could use; take it out",
        }
        by_treatment = {
            EXCLUDED: f"is in {Setting('exclude')}; take it out of one of the two",
            NOT_ON_SHORTLIST: "was left out, for it explains nothing by itself or in a pair; use "
            f"{Setting('include', [column])}, so that every set holds it",
            IDENTIFIER: "was left out as an identifier; if it measures something, keep it with "
            f"{Setting('bins', 5, column=column)}",
            NEVER_RECORDED: "was left out, because no subgroup recorded it; check "
            f"{Setting('missing_values')} and {Setting('missing_threshold')}",
        }
        known = by_treatment.get(treatment) if audit.role == "left out" else by_role.get(audit.role)
        reason = known or f"was left out: {treatment}"
    return MisfeatError(f"{name!r} was asked for as {role}, but it {reason}.", column=name)


def features_at(cohorts: Cohorts, kept: Sequence[int]) -> Cohorts:
    """Cohorts with some of their features, by position."""
    effects = cohorts.joint_effects
    return replace(
        cohorts,
        features=tuple(cohorts.features[p] for p in kept),
        codes=cohorts.codes[kept],
        missing=cohorts.missing[:, kept],
        categories=tuple(cohorts.categories[p] for p in kept),
        gap_codes=tuple(cohorts.gap_codes[p] for p in kept),
        joint_effects=None if effects is None else effects[..., [*kept, -1]],
    )


def without_features(cohorts: Cohorts, names: Sequence[str], treatment: str = EXCLUDED) -> Cohorts:
    """Cohorts without some features, which are reported as left out, with a treatment in words."""
    left = features_at(cohorts, [p for p, name in enumerate(cohorts.features) if name not in names])
    columns = tuple(
        as_left_out(audit, treatment)
        if audit.column in names and audit.role == "feature"
        else audit
        for audit in cohorts.columns
    )
    noted = ((note, getattr(note, "about", {}).get("column")) for note in cohorts.notes)
    notes = tuple(note for note, column in noted if column not in names)
    return replace(left, columns=columns, notes=notes)


def product_sums_without(sums: ProductSums, names: Sequence[str]) -> ProductSums:
    """Sums of products without some features."""
    kept = [position for position, name in enumerate(sums.features) if name not in names]
    lines = [*kept, len(sums.features)]  # the target comes last
    return replace(
        sums,
        features=tuple(sums.features[position] for position in kept),
        products=sums.products[:, lines][:, :, lines],
        missing=sums.missing[:, kept],
        permuted=sums.permuted[:, :, lines],
    )


def hide_features(cohorts: Cohorts, mask: Flags) -> Cohorts:
    """Cohorts that never recorded the features that a mask of (cohort, feature) marks."""
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    codes = np.where(mask[cohort_of].T, np.array(NOT_RECORDED, cohorts.codes.dtype), cohorts.codes)
    return replace(cohorts, codes=codes, missing=cohorts.missing | mask)


def check_names(names: object, what: str) -> tuple[str, ...]:
    """Names of features as users give them: None, one, or a list, an array or an index."""
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    if not are_names(names):
        raise MisfeatError(f"{Setting(what, names)}; it must be a list of names of features.")
    return tuple(dict.fromkeys(map(str, names)))


def are_names(names: object) -> TypeGuard[Collection[str]]:
    """Whether something is a collection of names."""
    if isinstance(names, Mapping | str) or not isinstance(names, Collection):
        return False
    return all(isinstance(name, str) for name in names)
