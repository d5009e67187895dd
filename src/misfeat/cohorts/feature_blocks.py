"""Blocks: features that enter sets together, joined into one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from misfeat.cohorts.cohort_data import NOT_RECORDED, Cohorts, distinct_columns
from misfeat.cohorts.feature_removal import are_names, features_at, not_a_feature
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting, shortened
from misfeat.reading.coders import code_dtype
from misfeat.reading.values import check_text


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
        if not are_names(members) or len(members) == 0:
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
        left, place = features_at(cohorts, kept), kept.index(first)
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
