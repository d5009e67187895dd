"""What may mislead in an answer: what a reader should know before showing it around."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.model import SUPPORT
from misfeat.completion.support import SINGLES
from misfeat.exceptions import Message, Setting, listed
from misfeat.population.estimates import POPULATION, SAMPLE
from misfeat.population.posterior import FEW_COHORTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from misfeat.cohorts import Cohorts
    from misfeat.selection.ranking import ScoredSet
    from misfeat.selection.scorebook import ScoreBook
    from misfeat.selection.unsettled import Unsettled

LITTLE = 0.02
"""A best set that tells less than this share of the target tells next to nothing."""
MOST_NAMED = 5
FEW_CASES = 50
"""Rows of the rarer class below which the order of sets is easily chance."""
ENOUGH_ROWS = 30
"""In a subgroup with fewer rows a feature may well have a single value by chance."""


def cautions_about(
    cohorts: Cohorts,
    best: Sequence[ScoredSet],
    book: ScoreBook,
    unsettled: Unsettled,
    min_cell: int = 1,
) -> list[Message]:
    """What may mislead in the answers about a table, a sentence each.

    Parameters
    ----------
    cohorts : Cohorts
        The coded rows of every subgroup.
    best : sequence of ScoredSet
        The best set of every subgroup.
    book : ScoreBook
        Says what scores are.
    unsettled : Unsettled
        Says which pairs nobody recorded together.
    min_cell : int, default=1
        Fewer rows than this are not told of.
    """
    of_rows = book.estimate.name == SAMPLE and book.measure.name == "mutual_info"
    return [
        *_single_values(cohorts),
        *(_few_rows(cohorts, best) if of_rows else ()),
        *_few_cases(cohorts, min_cell),
        *_few_subgroups(cohorts, book.estimate.name),
        *_next_to_nothing(cohorts, best),
        *_recorded_apart(best, book.measure.features, unsettled),
    ]


def _single_values(cohorts: Cohorts) -> Iterator[Message]:
    """Features with one value in a subgroup, and several elsewhere: a code for missing, perhaps."""
    values = np.array(
        [[len(np.unique(row[row >= 0])) for row in cohort.codes] for cohort in cohorts]
    )
    enough = np.array([cohort.size >= ENOUGH_ROWS for cohort in cohorts])
    single = (values == 1) & (values.max(axis=0) > 1) & ~cohorts.missing & enough[:, None]
    for feature in np.flatnonzero(single.any(axis=0))[:MOST_NAMED]:
        where = [cohorts.names[i] for i in np.flatnonzero(single[:, feature])]
        name = cohorts.features[feature]
        yield Message(
            "Feature {column!r} has a single value in {where}, and several elsewhere. If it stands "
            "for missing there, say so: {remedy}.",
            column=name,
            where=listed(where, MOST_NAMED),
            remedy=Setting("missing_values", column=name),
        )


def _few_rows(cohorts: Cohorts, found: Sequence[ScoredSet]) -> Iterator[Message]:
    """Subgroups in which a set has more combinations of values than there are rows."""
    values = dict(zip(cohorts.features, map(len, cohorts.categories), strict=True))
    small = {}
    for best in found:
        cells = prod(values[feature] for feature in best.features) * len(cohorts.classes)
        if cohorts[best.subgroup].size < cells:
            small[best.subgroup] = cells
    if small:
        yield Message(
            "Few rows in {where}: the best set there has up to {cells:,} combinations of values "
            "with the target. Scores of few rows come out too high; compare them within a subgroup "
            "only, ask for smaller sets or fewer bins, or make larger subgroups.",
            where=listed(small, MOST_NAMED),
            cells=max(small.values()),
        )


def _few_cases(cohorts: Cohorts, min_cell: int) -> Iterator[Message]:
    """Subgroups in which few rows differ from the others, and such in which none does."""
    counts, single = {}, []
    for cohort in cohorts:
        held = np.bincount(cohort.target, weights=cohort.weights, minlength=1)
        rarer = int(held.sum() - held.max())
        if rarer == 0:
            single.append(cohort.name)
        elif rarer < FEW_CASES:
            counts[cohort.name] = rarer
    if counts:
        rare = "of the rarer class" if len(cohorts.classes) == 2 else "beside the commonest class"
        yield Message(
            "Few rows {rare} of {column!r}, {fewest} at the fewest, in {where}; take the order of "
            "sets there with care.",
            rare=rare,
            column=cohorts.target,
            fewest=min(counts.values()),
            where=listed(counts, MOST_NAMED),
        )
    if single and min_cell > 1:
        yield Message(
            "No class of {column!r} but one has {least} rows in {where}: nothing is told there.",
            column=cohorts.target,
            least=Setting("min_cell", min_cell),
            where=listed(single, MOST_NAMED),
        )
    elif single:
        yield Message(
            "The target {column!r} has a single value in {where}: there is nothing to tell.",
            column=cohorts.target,
            where=listed(single, MOST_NAMED),
        )


def _few_subgroups(cohorts: Cohorts, estimate: str) -> Iterator[Message]:
    """Too few subgroups to learn from how much they differ."""
    n_cohorts = len(cohorts)
    if estimate != POPULATION or n_cohorts > FEW_COHORTS:
        return
    if n_cohorts == 1:
        yield Message(
            "There is one subgroup only: its scores were shrunk by its own rows, with no other "
            "subgroup to compare with."
        )
    else:
        yield Message(
            "With {count} subgroups one learns little about how much subgroups differ; scores "
            "lean on all of them together, and intervals are wide.",
            count=n_cohorts,
        )


def _next_to_nothing(cohorts: Cohorts, found: Sequence[ScoredSet]) -> Iterator[Message]:
    varies = {cohort.name for cohort in cohorts if len(np.unique(cohort.target)) > 1}
    little = [best.subgroup for best in found if best.share < LITTLE and best.subgroup in varies]
    if little:
        yield Message(
            "No set tells more than {share:.0f} % of the target {column!r} in {where}; the order "
            "of sets there may be chance.",
            share=100 * LITTLE,
            column=cohorts.target,
            where=listed(little, MOST_NAMED),
        )


def _recorded_apart(
    found: Sequence[ScoredSet], features: Sequence[str], unsettled: Unsettled
) -> Iterator[Message]:
    """Best sets that rest on how two features go together, which nobody recorded."""
    pairs: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for best in found:
        if best.support == SUPPORT[SINGLES]:
            members = [features.index(name) for name in best.features]
            pairs.setdefault(unsettled.in_set(members), []).append(best.subgroup)
    for (pair, where), subgroups in list(pairs.items())[:MOST_NAMED]:
        yield Message(
            "No subgroup recorded {one!r} and {other!r} together, and the best set of {subgroups} "
            "holds both; recording both in {where!r} would settle most.",
            one=pair[0],
            other=pair[1],
            subgroups=listed(subgroups, MOST_NAMED),
            where=where,
        )
