"""Features: why a column is none, what is left out, and those that enter sets together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeGuard

import numpy as np

from misfeat.cohorts.coding import NEVER_RECORDED
from misfeat.cohorts.cohort_data import NOT_RECORDED, Cohorts, as_left_out, distinct_columns
from misfeat.cohorts.column_profiles import IDENTIFIER
from misfeat.cohorts.product_sums import ProductSums
from misfeat.exceptions import MisfeatError, Setting, no_such_column, shortened
from misfeat.reading.coders import code_dtype
from misfeat.reading.values import check_text
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


def _selected(cohorts: Cohorts, kept: Sequence[int]) -> Cohorts:
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
    left = _selected(cohorts, [p for p, name in enumerate(cohorts.features) if name not in names])
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
    if not _are_names(names):
        raise MisfeatError(f"{Setting(what, names)}; it must be a list of names of features.")
    return tuple(dict.fromkeys(map(str, names)))


def _are_names(names: object) -> TypeGuard[Collection[str]]:
    if isinstance(names, Mapping | str) or not isinstance(names, Collection):
        return False
    return all(isinstance(name, str) for name in names)


def check_blocks(blocks: object) -> dict[str, tuple[str, ...]]:
    """Blocks as users give them, checked: a mapping of names to members."""
    if blocks is None:
        return {}
    if not isinstance(blocks, Mapping):
        raise MisfeatError(f"{Setting('blocks', blocks)}; it must map names to lists of features.")
    refused = partial(MisfeatError, parameter="blocks")
    owner: dict[str, str] = {}
    for name, members in blocks.items():
        if not isinstance(name, str):
            raise refused(f"A block is named {name!r}; names must be text.")
        check_text([name], Setting("blocks"))
        if not _are_names(members) or len(members) == 0:
            problem = f"The block {name!r} is {shortened(members)}; give a list of features."
            raise refused(problem)
        for member in members:
            if member in owner:
                problem = f"Blocks name {member!r} twice, in {owner[member]!r} and {name!r}; "
                raise refused(f"{problem}name it once.", column=member)
            owner[member] = name
    return {name: tuple(map(str, members)) for name, members in blocks.items()}


def joined_blocks(cohorts: Cohorts, blocks: Mapping[str, Sequence[str]]) -> Cohorts:
    """Cohorts in which each block is one feature, recorded where every member is."""
    # It has a code for every combination that occurs, and takes the place of its first member.
    for name, members in blocks.items():
        for member in members:
            if member not in cohorts.features:
                role = f"a member of the block {name!r}"
                raise not_a_feature(member, role, cohorts, cohorts.features)
        if name not in members and any(audit.column == name for audit in cohorts.columns):
            problem = f"The block {name!r} has the name of a column; give it another."
            raise MisfeatError(problem, parameter="blocks")
        positions = [cohorts.features.index(member) for member in members]
        lines = cohorts.codes[positions]
        whole = (lines >= 0).all(axis=0)
        at, numbers = distinct_columns(lines[:, whole])
        combinations = lines[:, whole][:, at]
        labels, gaps = [], []
        for number, combination in enumerate(combinations.T):
            pairs = list(zip(positions, combination, strict=True))
            values = (f"{cohorts.features[p]}={cohorts.categories[p][code]}" for p, code in pairs)
            labels.append(", ".join(values))
            if any(code in cohorts.gap_codes[p] for p, code in pairs):
                gaps.append(number)
        first = min(positions)
        kept = [p for p in range(len(cohorts.features)) if p == first or p not in positions]
        left, place = _selected(cohorts, kept), kept.index(first)
        dtype = np.promote_types(left.codes.dtype, code_dtype([len(labels) + 1]))
        codes, missing = left.codes.astype(dtype), left.missing.copy()
        codes[place] = NOT_RECORDED
        codes[place, whole] = numbers
        missing[:, place] = cohorts.missing[:, positions].any(axis=1)
        if left.joint_effects is not None and cohorts.joint_effects is not None:
            of_members = cohorts.joint_effects[..., list(positions)]
            left.joint_effects[..., place] = of_members.max(axis=-1)  # careful: the largest
        before, after = slice(place), slice(place + 1, None)
        cohorts = replace(
            left,
            features=(*left.features[before], name, *left.features[after]),
            codes=codes,
            missing=missing,
            categories=(*left.categories[before], tuple(labels), *left.categories[after]),
            gap_codes=(*left.gap_codes[before], tuple(gaps), *left.gap_codes[after]),
        )
    return cohorts
