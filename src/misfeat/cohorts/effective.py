"""How many rows of equal weight, drawn one by one, every cohort is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.assemble import effective_of
from misfeat.cohorts.columns import as_it_is
from misfeat.cohorts.design import (
    DrawnRows,
    effective_by_design,
    lonely_strata,
    single_clusters,
)
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.coded import CodedTable
    from misfeat.cohorts.coders import CodedRows, Coder
    from misfeat.cohorts.profiling import ProfiledTable
    from misfeat.cohorts.rules import Notes
    from misfeat.cohorts.runs import Runs
    from misfeat.cohorts.weighing import WeightRules


def design_coders(profiled: ProfiledTable) -> list[Coder]:
    """What codes the strata and the clusters of a design, which must be there in every row."""
    found = []
    for column in (profiled.rules.weights.strata, profiled.rules.weights.cluster):
        if column is None:
            continue
        profile = profiled.profiles[column]
        if profile.missing:
            raise MisfeatError(
                "Column {column!r} of the design is missing in {rows:,} rows; leave these rows "
                "out, or say where they were drawn.",
                column=column,
                rows=profile.missing,
            )
        found.append(as_it_is(profile))
    return found


def effective_of_cohorts(
    profiled: ProfiledTable, coded: CodedTable, rows: CodedRows, runs: Runs, n_cohorts: int
) -> NDArray[np.float64] | None:
    """The effective size of every cohort, where weights or a design make one."""
    weighing, drawn = profiled.weighing, coded.drawn
    sizes = runs.sizes(n_cohorts)
    found = sizes.astype(np.float64)
    if weighing is not None and not weighing.frequency:
        found = effective_of(rows, runs, n_cohorts, weighing)
    elif drawn is None:
        return None
    if drawn is None:
        return found
    n_groupings, n_classes = len(profiled.groupings), len(coded.target.classes)
    codes, *units = drawn.codes[n_groupings:]
    present = codes < len(coded.target.coder.labels)
    rules, squares = profiled.rules.weights, drawn.weights.astype(np.float64)
    if weighing is not None and drawn.squares is not None:
        squares = drawn.squares.astype(np.float64) * (weighing.scale**2 / weighing.square_scale)
    as_drawn = DrawnRows(
        cohort=runs.cohort_of(drawn.codes[:n_groupings]),
        target=np.where(present, coded.target.classes_of(np.where(present, codes, 0)), -1),
        stratum=np.zeros_like(codes) if rules.strata is None else units[0],
        cluster=None if rules.cluster is None else units[-1],
        masses=drawn.weights if drawn.masses is None else drawn.masses,
        squares=squares,
        rows=drawn.weights,
    )
    single = single_clusters(as_drawn, len(sizes))
    if single.any():
        _say_single(int(single.sum()), len(sizes), rules, coded.notes)
    alone = 0 if single.all() else lonely_strata(as_drawn)
    if alone:
        coded.notes.warn(
            "{count:,} strata{of} have a single cluster, which is held against the mean of all "
            "clusters; intervals are then rather too wide. Join such strata to be exact.",
            count=alone,
            of="" if rules.strata is None else f" of {rules.strata!r}",
        )
    return effective_by_design(as_drawn, sizes, found, n_classes)


def _say_single(count: int, of: int, rules: WeightRules, notes: Notes) -> None:
    """Tell of subgroups that are a single cluster; refuse where all of them are."""
    if count == of:
        raise MisfeatError(
            "Every subgroup is a single cluster of {column!r}, so that nothing tells how clusters "
            "differ.",
            remedy="Name smaller clusters, larger subgroups, or leave the design out.",
            column=rules.cluster,
        )
    notes.warn(
        "{count:,} of {of:,} subgroups are a single cluster of {column!r} each, so that nothing "
        "tells how clusters differ in them; they are taken to be as uncertain as the worst of the "
        "others.",
        count=count,
        of=of,
        column=rules.cluster,
    )
