"""What may mislead in an answer: what a reader should know before showing it around."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from misfeat.cohorts.subgroups import rows_to_tell
from misfeat.completion.model import SINGLES, SUPPORT
from misfeat.estimation.estimates import POPULATION, SAMPLE
from misfeat.estimation.pooling import FEW_COHORTS
from misfeat.exceptions import Message, Setting, listed
from misfeat.selection.caution import (
    MOST_NAMED,
    NOTE,
    OVERTURNS,
    WEAKENS,
    Caution,
    worst_first,
)
from misfeat.selection.duplicates import duplicates
from misfeat.selection.leaks import leaks, missing_patterns
from misfeat.selection.missing_rules import missing_by_rule
from misfeat.selection.treated import (
    codes_for_missing,
    cut_target,
    joined_subgroups,
    left_out,
    odd_columns,
)
from misfeat.words.numbers import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from misfeat.cohorts import Cohorts
    from misfeat.estimation.shortlist import Shortlist
    from misfeat.selection.collecting import Unsettled
    from misfeat.selection.ranking import ScoredSet
    from misfeat.selection.scorebook import ScoreBook

SINGLE_VALUE, COMBINATIONS, FEW_ROWS = "single value", "combinations", "few rows"
FEW_CASES, ONE_CLASS, FEW_SUBGROUPS = "few cases", "one class", "few subgroups"
TELLS_LITTLE, RECORDED_APART, UNLIKE = "tells little", "recorded apart", "unlike"
LITTLE = 0.02
"""A best set that tells less than this share of the target tells next to nothing."""
LEAST_CASES = 50
"""Rows of the rarer class below which the order of sets is easily chance."""
UNLIKE_LEVEL = 0.01
"""How likely chance makes any small subgroup of a table look unlike the others."""
SMALL = 0.5
"""A subgroup with fewer rows than this share of the mean borrows much from the others."""
ENOUGH_ROWS = 30
"""In a subgroup with fewer rows a feature may well have a single value by chance."""


def cautions_about(
    cohorts: Cohorts,
    best: Sequence[ScoredSet],
    book: ScoreBook,
    unsettled: Unsettled,
    shortlist: Shortlist | None = None,
) -> list[Caution]:
    """What may mislead in the answers about a table, worst first.

    `best` has the best set of every subgroup that has one.
    """
    of_rows = book.estimate.name == SAMPLE and book.measure.name == "mutual_info"
    found = [
        *left_out(shortlist, cohorts),
        *_single_values(cohorts),
        *(_combinations(cohorts, best) if of_rows else ()),
        *_few_rows(cohorts),
        *_few_cases(cohorts),
        *_few_subgroups(cohorts, book.estimate.name),
        *_unlike(cohorts, book),
        *_next_to_nothing(cohorts, best),
        *_recorded_apart(best, book.measure.features, unsettled),
        *joined_subgroups(cohorts),
        *codes_for_missing(cohorts),
        *odd_columns(cohorts),
        *cut_target(cohorts, best, book.measure.name),
    ]
    if not book.rows_withheld:
        found += [*leaks(cohorts), *missing_patterns(cohorts), *duplicates(cohorts)]
        found += missing_by_rule(cohorts)
    return worst_first(found)


def _single_values(cohorts: Cohorts) -> Iterator[Caution]:
    """Features with one value in a subgroup, and several elsewhere: a code for missing, perhaps."""
    values = np.array(
        [[len(np.unique(row[row >= 0])) for row in cohort.codes] for cohort in cohorts]
    )
    enough = np.array([cohort.size >= ENOUGH_ROWS for cohort in cohorts])
    suspected = {audit.column for audit in cohorts.columns if audit.suspects}
    single = (values == 1) & (values.max(axis=0) > 1) & ~cohorts.missing & enough[:, None]
    for feature in np.flatnonzero(single.any(axis=0))[:MOST_NAMED]:
        where = [cohorts.names[i] for i in np.flatnonzero(single[:, feature])]
        name = cohorts.features[feature]
        if name in suspected:  # of which more is said
            continue
        yield Caution(
            SINGLE_VALUE,
            Message(
                "Feature {column!r} has a single value in {where}, and several elsewhere.",
                column=name,
                where=listed(where, MOST_NAMED),
            ),
            Message(
                "If it stands for missing there, say so: {missing}.",
                missing=Setting("missing_values", column=name),
            ),
            columns=(name,),
            subgroups=tuple(where),
            severity=WEAKENS,
        )


def _combinations(cohorts: Cohorts, found: Sequence[ScoredSet]) -> Iterator[Caution]:
    """Subgroups in which a set has more combinations of values than there are rows."""
    values = dict(zip(cohorts.features, map(len, cohorts.categories), strict=True))
    small = {}
    for best in found:
        cells = prod(values[feature] for feature in best.features) * len(cohorts.classes)
        if cohorts[best.subgroup].effective_size < cells:
            small[best.subgroup] = cells
    if small:
        yield Caution(
            COMBINATIONS,
            Message(
                "Few rows in {where}: the best set there has up to {cells:,} combinations of "
                "values with the target. Scores of few rows come out too high.",
                where=listed(small, MOST_NAMED),
                cells=max(small.values()),
            ),
            Message(
                "Compare them within a subgroup only, ask for smaller sets or fewer bins, or make "
                "larger subgroups."
            ),
            subgroups=tuple(small),
            severity=OVERTURNS,
        )


def _few_rows(cohorts: Cohorts) -> Iterator[Caution]:
    """Subgroups that were kept, though so few rows tell no pair from chance."""
    by_class = np.bincount(cohorts.target_codes, weights=cohorts.counts)
    floor = rows_to_tell([len(labels) for labels in cohorts.categories], by_class)
    small = [cohort.name for cohort in cohorts if cohort.effective_size < floor]
    weighted = cohorts.effective is not None
    if small:
        yield Caution(
            FEW_ROWS,
            Message(
                "{what} in {where}, too few to tell a pair of features from chance.",
                what=Message(f"Fewer than {floor:,} rows{' of equal weight' if weighted else ''}"),
                where=listed(small, MOST_NAMED),
            ),
            Message("Make larger subgroups, or fewer bins."),
            subgroups=tuple(small),
            severity=WEAKENS,
        )


def _few_cases(cohorts: Cohorts) -> Iterator[Caution]:
    """Subgroups in which few rows differ from the others, and such in which none does."""
    counts, single = {}, []
    for cohort in cohorts:
        held = np.bincount(cohort.target, weights=cohort.weights, minlength=1)
        rarer = int(held.sum() - held.max())
        if rarer == 0:
            single.append(cohort.name)
        elif rarer < LEAST_CASES:
            counts[cohort.name] = rarer
    if counts:
        rare = "of the rarer class" if len(cohorts.classes) == 2 else "beside the commonest class"
        yield Caution(
            FEW_CASES,
            Message(
                "Few rows {rare} of {column!r}, {fewest} at the fewest, in {where}; take the order "
                "of sets there with care.",
                rare=rare,
                column=cohorts.target,
                fewest=min(counts.values()),
                where=listed(counts, MOST_NAMED),
            ),
            columns=(cohorts.target,),
            subgroups=tuple(counts),
            severity=WEAKENS,
        )
    if single:
        yield _one_class(cohorts.target, single)


def _one_class(target: str, single: list[str]) -> Caution:
    sentence = Message(
        "The target {column!r} has a single value in {where}: there is nothing to tell, and no set "
        "is listed.",
        column=target,
        where=listed(single, MOST_NAMED),
    )
    return Caution(
        ONE_CLASS,
        sentence,
        Message("Merge it with another subgroup, if that is not meant."),
        columns=(target,),
        subgroups=tuple(single),
        severity=NOTE,
    )


def _few_subgroups(cohorts: Cohorts, estimate: str) -> Iterator[Caution]:
    """Too few subgroups to learn from how much they differ."""
    n_cohorts = len(cohorts)
    if estimate != POPULATION or n_cohorts > FEW_COHORTS:
        return
    if n_cohorts == 1:
        sentence = Message(
            "There is one subgroup only: its scores were shrunk by its own rows, with no other "
            "subgroup to compare with."
        )
    else:
        sentence = Message(
            "With {count} subgroups one learns little about how much subgroups differ; scores "
            "lean on all of them together, and intervals are wide.",
            count=n_cohorts,
        )
    yield Caution(FEW_SUBGROUPS, sentence, subgroups=cohorts.names, severity=NOTE)


def _unlike(cohorts: Cohorts, book: ScoreBook) -> Iterator[Caution]:
    """Small subgroups whose own rows contradict what all subgroups together say."""
    if not book.can_list or book.rows_withheld or len(cohorts) == 1:
        return
    rows, whole = cohorts.effective_sizes(), book.measure.whole
    small = np.flatnonzero((rows < SMALL * rows.mean()) & (whole > 0))
    parts = [model.contradictions() for model in book.listed().models]
    deviations, own, expected = (np.mean(one, axis=0) for one in zip(*parts, strict=True))
    least = -float(ndtri(UNLIKE_LEVEL / (2.0 * max(1, len(small) * deviations.shape[1]))))
    for k in small.tolist():
        f = int(np.argmax(np.abs(deviations[k])))
        apart = abs(own[k, f] - expected[k, f]) / whole[k]
        if abs(deviations[k, f]) <= least or apart < LITTLE:
            continue
        name, feature = cohorts.names[k], book.measure.features[f]
        yield Caution(
            UNLIKE,
            Message(
                "Subgroup {subgroup!r} is small and unlike the others: {feature!r} explains "
                "{own} of the uncertainty in its own rows, where all subgroups together suggest "
                "{expected}.",
                subgroup=name,
                feature=feature,
                own=Message(percent(max(own[k, f], 0.0) / whole[k])),
                expected=Message(percent(expected[k, f] / whole[k])),
            ),
            Message(
                "Trust what it recorded itself more than what is predicted for it, or leave it out "
                "of the comparison."
            ),
            columns=(feature,),
            subgroups=(name,),
            severity=WEAKENS,
        )


def _next_to_nothing(cohorts: Cohorts, found: Sequence[ScoredSet]) -> Iterator[Caution]:
    little = [best.subgroup for best in found if best.share < LITTLE]
    if little:
        yield Caution(
            TELLS_LITTLE,
            Message(
                "No set tells more than {share:.0f} % of the target {column!r} in {where}; the "
                "order of sets there may be chance.",
                share=100 * LITTLE,
                column=cohorts.target,
                where=listed(little, MOST_NAMED),
            ),
            columns=(cohorts.target,),
            subgroups=tuple(little),
            severity=OVERTURNS,
        )


def _recorded_apart(
    found: Sequence[ScoredSet], features: Sequence[str], unsettled: Unsettled
) -> Iterator[Caution]:
    """Best sets that rest on how two features go together, which nobody recorded."""
    pairs: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for best in found:
        if best.support == SUPPORT[SINGLES]:
            members = [features.index(name) for name in best.features]
            pairs.setdefault(unsettled.in_set(members), []).append(best.subgroup)
    for (pair, where), subgroups in list(pairs.items())[:MOST_NAMED]:
        yield Caution(
            RECORDED_APART,
            Message(
                "No subgroup recorded {one!r} and {other!r} together, and the best set of "
                "{subgroups} holds both; recording both in {where!r} would settle most.",
                one=pair[0],
                other=pair[1],
                subgroups=listed(subgroups, MOST_NAMED),
                where=where,
            ),
            columns=tuple(pair),
            subgroups=tuple(subgroups),
            severity=WEAKENS,
        )
