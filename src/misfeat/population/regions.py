"""Cohorts that lie in regions: what a region tells stands between its cohorts and the whole.

The tables of a region's cohorts are added up and shrunk as the pool is. Tables of what a cohort did
not record are carried over from cohorts of all regions, and count less. The same posterior that
draws cohorts towards the pool draws regions towards the pool of all, as far as regions do not
differ; cohorts are then drawn towards their own region. So a small hospital borrows from its region
first, and where regions are alike, or a region has few rows, from all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.model import NO_PARENT
from misfeat.information.shannon import entropy
from misfeat.population.posterior import Evidence, InRegions
from misfeat.population.variance import null_variance

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.completion.transfer.model import CompletedTables
    from misfeat.population.posterior import Posterior

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

CARRIED_WEIGHT = 0.25
"""What a table that was carried over from all regions weighs; a counted one weighs 1."""
NO_LESS = 1e-9
"""Keeps shares defined: of what there is to tell, in nats, and of rows."""


def added_up(values: Floats, parents: Integers) -> Floats:
    """Sums over the cohorts of every region.

    Cohorts of none have `NO_PARENT`.
    """
    return np.array([values[parents == region].sum(axis=0) for region in range(parents.max() + 1)])


def tables_of_regions(stretch: CompletedTables, parents: Integers) -> Floats:
    """The tables of regions, of shape (n_regions, n_lines, n_classes)."""
    n_lines = np.diff(stretch.starts, append=stretch.tables.shape[1])
    weight = _weight(~np.isnan(stretch.above_chance))
    return added_up(stretch.tables * np.repeat(weight, n_lines, axis=1)[:, :, None], parents)


def _weight(carried: NDArray[np.bool_]) -> Floats:
    """What the tables of cohorts weigh in those of their region."""
    return np.where(carried, CARRIED_WEIGHT, 1.0)


def evidence_of_regions(
    scores: Floats, by_class: Floats, parents: Integers, n_cells: Integers, cohorts: Evidence
) -> InRegions:
    """What is known of regions, from the scores of their tables and what is known of cohorts."""
    counts = added_up(by_class, parents)
    carried = cohorts.predicted | ~cohorts.usable
    rows = added_up(_weight(carried) * cohorts.n_rows[:, None], parents)
    of_regions = replace(
        cohorts,
        scores=scores,
        null=null_variance(np.ones(1), n_cells, counts.shape[1]) / rows**2,
        n_rows=rows.mean(axis=1),
        predicted=added_up((~carried).astype(np.float64), parents) == 0,
        whole=np.array([entropy(own) for own in counts]),
        lacking=None,
    )
    return InRegions(of_regions, parents)


def within_regions(
    evidence: Evidence, mixed: Floats | None, posterior: Callable[[Evidence], Posterior]
) -> Evidence:
    """Evidence whose pool is, for every cohort, what its region leads one to expect.

    Cohorts of no region are compared with what regions have in common. `mixed` is what
    `mixed_spread` gives, None while it is not known; `posterior` draws regions towards the pool of
    all.
    """
    assert evidence.regions is not None  # noqa: S101  (asked for where there are regions)
    regions, parents = evidence.regions
    found = posterior(replace(regions, mixed=mixed))
    told = (parents != NO_PARENT)[:, None]
    whole = evidence.whole
    if whole is not None and regions.whole is not None:
        there = np.where(told[:, 0], regions.whole[parents], regions.whole.mean())
        whole = whole / np.maximum(there, NO_LESS)
    return replace(
        evidence,
        elsewhere=found.spread,
        pooled=np.where(told, found.mean[parents], found.expected.mean(axis=0)),
        pooled_variance=np.where(told, found.variance[parents], found.variance.mean(axis=0)),
        whole=whole,
        regions=None,
    )


def mixed_spread(evidence: Evidence, spread: float) -> Floats:
    """The spread that scores of regions have because their cohorts differ.

    It is that of cohorts within regions times the sum of the squared shares that cohorts have of
    the rows of their region. A cohort differs less from its region than from what would be expected
    of others in it, since its own rows are part of that: about by the same sum.
    """
    assert evidence.regions is not None  # noqa: S101  (asked for where there are regions)
    parents = evidence.regions.parents
    part = added_up(evidence.n_rows**2, parents) / added_up(evidence.n_rows, parents) ** 2
    return part * spread / max(1.0 - float(part.mean()), NO_LESS)
