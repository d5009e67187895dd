"""What may mislead in an answer: what a reader should know before showing it around."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from misfeat.exceptions import listed
from misfeat.information import target_entropy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.cohorts import Cohorts
    from misfeat.selection.ranking import ScoredSet
    from misfeat.selector import SubgroupSelector

LITTLE = 0.02
"""A best set that tells less than this share of the target tells next to nothing."""
MOST_NAMED = 5
FEW_CASES = 50
"""Rows of the rarer class below which the order of sets is easily chance."""
ENOUGH_ROWS = 30
"""In a subgroup with fewer rows a feature may well have a single value by chance."""


def cautions(selector: SubgroupSelector, size: int | None = None) -> list[str]:
    """What may mislead in the answer of a fitted selector, a sentence each.

    Parameters
    ----------
    selector : SubgroupSelector
        Fitted.
    size : int, default=None
        Features in a set; the selector's where None.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> table = {"a": [0, 1] * 20, "y": [0, 0, 1, 1] * 10}
    >>> cautions(SubgroupSelector(size=1).fit(table, "y"))
    ["No set tells more than 2 % of the target 'y' in 'all rows'; the order of sets there may be chance."]
    """  # noqa: E501
    best = selector.best_sets(size, k=1)
    return [
        *_single_values(selector.cohorts_),
        *_few_rows(selector, best),
        *_few_cases(selector.cohorts_),
        *_next_to_nothing(selector, best),
    ]


def _single_values(cohorts: Cohorts) -> Iterator[str]:
    """Features with one value in a subgroup, and several elsewhere: a code for missing, perhaps."""
    values = np.array(
        [[len(np.unique(row[row >= 0])) for row in cohort.codes] for cohort in cohorts]
    )
    enough = np.array([cohort.size >= ENOUGH_ROWS for cohort in cohorts])
    single = (values == 1) & (values.max(axis=0) > 1) & ~cohorts.missing & enough[:, None]
    for feature in np.flatnonzero(single.any(axis=0))[:MOST_NAMED]:
        where = [cohorts.names[i] for i in np.flatnonzero(single[:, feature])]
        name = cohorts.features[feature]
        yield (
            f"Feature {name!r} has a single value in {listed(where, MOST_NAMED)}, and several "
            "elsewhere. If it stands for missing there, say so: "
            f"missing_values={{{name!r}: [VALUE]}}."
        )


def _few_rows(selector: SubgroupSelector, found: list[ScoredSet]) -> Iterator[str]:
    """Subgroups in which a set has more combinations of values than there are rows."""
    if selector.measure != "mutual_info":
        return
    cohorts = selector.cohorts_
    values = dict(zip(cohorts.features, map(len, cohorts.categories), strict=True))
    small = {}
    for best in found:
        cells = prod(values[feature] for feature in best.features) * len(cohorts.classes)
        if cohorts[best.subgroup].size < cells:
            small[best.subgroup] = cells
    if small:
        yield (
            f"Few rows in {listed(small, MOST_NAMED)}: the best set there has up to "
            f"{max(small.values()):,} combinations of values with the target. Scores of few rows "
            "come out too high; compare them within a subgroup only, ask for smaller sets or fewer "
            "bins, or make larger subgroups."
        )


def _few_cases(cohorts: Cohorts) -> Iterator[str]:
    """Subgroups in which the rarer one of two classes is rare."""
    if len(cohorts.classes) != 2:
        return
    counts = {}
    for cohort in cohorts:
        held = np.bincount(cohort.target, weights=cohort.weights, minlength=2)
        if 0 < held.min() < FEW_CASES <= cohort.size:
            counts[cohort.name] = int(held.min())
    if counts:
        yield (
            f"Few rows of the rarer class of {cohorts.target!r}, {min(counts.values())} at the "
            f"fewest, in {listed(counts, MOST_NAMED)}; take the order of sets there with care."
        )


def _next_to_nothing(selector: SubgroupSelector, found: list[ScoredSet]) -> Iterator[str]:
    cohorts, whole = selector.cohorts_, selector.measure == "r2"
    little = [
        best.subgroup
        for best in found
        if best.score < LITTLE * (1.0 if whole else target_entropy(cohorts[best.subgroup]))
    ]
    if little:
        yield (
            f"No set tells more than {LITTLE:.0%}".replace("%", " %")
            + f" of the target {cohorts.target!r} in {listed(little, MOST_NAMED)}; the order of "
            "sets there may be chance."
        )
