"""Two runs in words: sentences about what changed, and notes on where the runs are not alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.estimation.estimands import POPULATION, SAMPLE
from misfeat.exceptions import Message, Setting
from misfeat.words import count_words, joined, percent, percent_between, percent_decimals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.answers.comparison import Change, SubgroupChange
    from misfeat.cohorts.model import Cohort, ColumnAudit
    from misfeat.selection import Selection

    Runs = tuple[Selection, Selection]
    Targets = tuple[str, str]

ALONE, BEST_OF_FIRST, BEST_OF_SECOND, BEST_OF_BOTH = (
    "alone",
    "best set of the first run",
    "best set of the second run",
    "best set of both runs",
)
MOST_SAID = 3
"""Sets of one subgroup that a sentence names."""
MOST_DIGITS = 4
"""Decimals of points of per cent."""
MOST_NAMED = 10
"""So many features or subgroups are named."""
MOST_EDGES = 8
"""So many cut points are shown."""


def summary_of(
    subgroups: Sequence[SubgroupChange], changes: Sequence[Change], targets: Targets
) -> Message:
    """One sentence for all subgroups: in how many nothing changed, and the clearest change."""
    compared = [one for one in subgroups if one.sets]
    changed = sorted((one for one in compared if one.changed), key=lambda one: one.p_value)
    left = len(compared) - len(changed)
    if not compared:
        return Message("No subgroup could be compared.")
    if len(compared) == 1:
        return compared[0].sentence
    if not changed:
        return Message(f"{_nothing(targets)} in any of {len(compared)} subgroups.".capitalize())
    clearest = changed[0]
    own = [one for one in changes if one.changed and one.subgroup == clearest.subgroup]
    more = f", the clearest of {count_words(len(changed), 'such subgroup')}"
    return Message(
        "{before}{where}, {what}{more}.",
        before=Message(
            f"{_nothing(targets)} in {left} of {len(compared)} subgroups; in ".capitalize()
            if left
            else "In "
        ),
        where=clearest.subgroup,
        what=changes_in_words(own, targets),
        more=Message(more if len(changed) > 1 else ""),
    )


def subgroup_in_words(
    found: SubgroupChange,
    changes: Sequence[Change],
    targets: Targets,
    lost: Sequence[str],
    among: int | None = None,
) -> Message:
    """What became of one subgroup; `lost` are features that the second run does not have."""
    if not found.sets:
        both = not found.first_best and not found.second_best
        which = "both runs" if both else f"the {'second' if found.first_best else 'first'} run"
        return Message(
            f"In {{subgroup}}, the target has a single value in {which}.", subgroup=found.subgroup
        )
    changed = [one for one in changes if one.changed]
    # Among so many subgroups chance makes a change like this one.
    doubt = f", which chance may do in one of {among} subgroups" if changed and among else ""
    return Message(
        "In {subgroup}, {what}{doubt}; {best}.",
        subgroup=found.subgroup,
        what=changes_in_words(changed, targets) if changed else Message(_nothing(targets)),
        doubt=Message(doubt),
        best=_best_in_words(found, changes, targets, lost),
    )


def changes_in_words(changed: Sequence[Change], targets: Targets) -> Message:
    """What changed in one subgroup, the clearest first; single features rather than larger sets."""
    alone = [one for one in changed if one.asked == ALONE]
    said = sorted(alone or changed, key=lambda one: (one.p_value, -abs(one.difference)))
    parts = [change_in_words(one, targets) for one in said[:MOST_SAID]]
    left = len(said) - len(parts)
    if left:
        what = "feature" if alone else "set"
        parts.append(Message(f"{count_words(left, f'more {what}')} changed"))
    about = {f"part{place}": part for place, part in enumerate(parts)}
    *most, last = [f"{{{name}}}" for name in about]
    return Message(f"{', '.join(most)} and {last}" if most else last, **about)


def change_in_words(one: Change, targets: Targets) -> Message:
    """What a set tells where it told something else."""
    several = len(one.features) > 1
    template = "{names}{predicted} {tell} {second} where {it} told {first}"
    if targets[0] != targets[1]:
        template = "{names}{predicted} {tell} {first} about {target} and {second} about {other}"
    return Message(
        template,
        names=joined(one.features),
        predicted=Message(" (predicted)" if one.source == "predicted" else ""),
        tell=Message("tell" if several else "tells"),
        it=Message("they" if several else "it"),
        first=Message(share_in_words(one.first, one.first_low, one.first_high)),
        second=Message(share_in_words(one.second, one.second_low, one.second_high)),
        target=targets[0],
        other=targets[1],
    )


def share_in_words(share: float, low: float, high: float) -> str:
    """A share with its interval."""
    between = f" ({percent_between(low, high)})" if low < high else ""
    return percent(share, low, high) + between


def points_in_words(difference: float, low: float, high: float) -> str:
    """A difference of shares in points of per cent, with digits enough to see it is not 0."""
    digits = percent_decimals(low, high)
    nearest = min(abs(low), abs(high)) if low > 0 or high < 0 else 0.0
    while nearest and digits < MOST_DIGITS and not round(100 * nearest, digits):
        digits += 1
    value, least, most = (f"{100 * number:+.{digits}f}" for number in (difference, low, high))
    return f"{value} ({least} to {most})"


def _nothing(targets: Targets) -> str:
    what = "changed" if targets[0] == targets[1] else "differs"
    return f"nothing {what} by more than its uncertainty"


def _best_in_words(
    found: SubgroupChange, changes: Sequence[Change], targets: Targets, lost: Sequence[str]
) -> Message:
    """What became of the best set."""
    silent = bool(changes) and not any(one.second > 0 for one in changes)
    if silent and targets[0] == targets[1]:
        return Message("nothing tells anything there any more")
    tell = Message("tell" if len(found.second_best) > 1 else "tells")
    before, now = joined(found.first_best), joined(found.second_best)
    if set(found.first_best) == set(found.second_best):
        return Message("{now} {tell} most in both", now=now, tell=tell)
    if targets[0] != targets[1]:
        return Message(
            "{before} {tell} most about {target}, {now} about {other}",
            before=before,
            tell=tell,
            target=targets[0],
            now=now,
            other=targets[1],
        )
    why = Message("" if found.told_apart else ", but which of the two tells more cannot be told")
    if lost:
        are = "are no longer features" if len(lost) > 1 else "is no longer a feature"
        why = Message(f", as {{lost}} {are}", lost=joined(lost))
    return Message(
        "{now} {tell} most, before it was {before}{why}", now=now, tell=tell, before=before, why=why
    )


def common_confidence(runs: Runs) -> float | None:
    """The higher confidence of two runs; None where neither has one."""
    said = [run.confidence for run in runs if run.confidence is not None]
    return max(said, default=None)


def same_question(runs: Runs) -> bool:
    """Whether two runs are about the same classes of the same target, so that scores compare."""
    first, second = (run.cohorts for run in runs)
    if first.target != second.target:
        return False
    same_kind = first.is_number == second.is_number and first.classes == second.classes
    return same_kind or runs[0].set_scores.measure.name == "r2"


def notes_on(runs: Runs, common: Sequence[str], size: int, confidence: float) -> Iterator[Message]:
    """What a reader should know."""
    yield from _on_names(runs)
    yield from _on_target(runs)
    yield from _on_coding(runs)
    if same_rows(runs, common):
        yield Message(
            "Both runs seem to be of the same rows, whose chance they share: differences are surer "
            "than their intervals say."
        )
    first, second = runs
    if first.size != second.size:
        yield Message(
            f"The best sets of the runs have {first.size} and {second.size} features; those of "
            f"{size} are compared."
        )
    if first.confidence != second.confidence:
        yield Message(
            "The runs have {first} and {second}; intervals are those of {used:.0%}.",
            first=Setting("confidence", first.confidence),
            second=Setting("confidence", second.confidence),
            used=confidence,
        )
    estimate = first.set_scores.estimate.name
    named = zip(("first", "second"), runs, strict=True)
    withheld = [which for which, run in named if run.set_scores.rows_withheld]
    if withheld:
        yield Message(
            "The {which} run keeps no rows: its shares are those it shows, and what changed in one "
            "subgroup alone is harder to see.",
            which=joined(withheld),
        )
    elif estimate == POPULATION:
        yield Message(
            "Shares are of each subgroup's own rows, less chance; tables of a run draw them "
            "towards those of other subgroups."
        )
    elif estimate == SAMPLE:
        yield Message(
            "Shares are less what chance alone would score, which the scores of these runs are not."
        )
    if len(common) > 1:
        by_chance = max(round((1 - confidence) * len(common)), 1)
        changed = first.cohorts.target == second.cohorts.target
        yield Message(
            f"Where nothing {'changed' if changed else 'differs'}, at most {by_chance} of "
            f"{len(common)} subgroups {'seems' if by_chance == 1 else 'seem'} "
            f"{'to have changed' if changed else 'to differ'} by chance, on the mean."
        )


def same_rows(runs: Runs, common: Sequence[str]) -> bool:
    """Whether two runs seem to be of the same rows: as many of every class and value everywhere."""
    one, other = (run.cohorts for run in runs)
    for name in common:
        sizes = [(run.cohorts[name].size, run.cohorts[name].effective_size) for run in runs]
        if sizes[0] != sizes[1]:
            return False

    def rows_of(cohort: Cohort, codes: NDArray[Any], n_codes: int) -> NDArray[Any]:
        return np.bincount(codes.astype(np.int64) + 1, cohort.weights, n_codes + 1)

    if same_question(runs):
        return all(
            np.array_equal(
                rows_of(one[name], one[name].target, one[name].n_classes),
                rows_of(other[name], other[name].target, other[name].n_classes),
            )
            for name in common
        )
    alike = [  # features that both coded alike
        (index, other.features.index(name))
        for index, name in enumerate(one.features)
        if name in other.features
        and one.categories[index] == other.categories[other.features.index(name)]
    ]
    return bool(alike) and all(
        np.array_equal(
            rows_of(one[name], one[name].codes[first], int(one[name].cardinalities[first])),
            rows_of(other[name], other[name].codes[second], int(other[name].cardinalities[second])),
        )
        for name in common
        for first, second in alike
    )


def _on_names(runs: Runs) -> Iterator[Message]:
    """Subgroups, then features, of one run only."""
    subgroups = "Subgroups of the {which} run only: {{names}}."
    features = (
        "Features of the {which} run only: {{names}}; they are not compared. A feature that was "
        "renamed counts as two."
    )
    kinds = (
        ([run.cohorts.names for run in runs], subgroups, None),
        ([run.feature_names for run in runs], features, MOST_NAMED),
    )
    for (first, second), template, most in kinds:
        for which, own, others in (("first", first, second), ("second", second, first)):
            only = [name for name in own if name not in others]
            if only:
                names = joined(only) if most is None else joined(only, most=most)
                yield Message(template.format(which=which), names=names)


def _on_target(runs: Runs) -> Iterator[Message]:
    first, second = (run.cohorts for run in runs)
    if first.target != second.target:
        yield Message(
            "The runs are about different targets, {first} and {second}: the question is another "
            "one, and a difference is no change. Shares of what there is to tell are compared.",
            first=first.target,
            second=second.target,
        )
    elif not same_question(runs):
        sentence = (
            "The target {target} has other classes in the second run: {second} instead of {first}. "
            "Shares of what there is to tell are compared."
        )
        if first.is_number != second.is_number:
            sentence = (
                "The target {target} is taken as a number in one run, and in classes in the other; "
                "shares are those of its classes. Fit both with the same {kind}."
            )
        elif first.is_number:
            sentence = (
                "The target {target} is a number that is cut elsewhere in the second run, at ranks "
                "of its own values. Shares of what there is to tell are compared."
            )
        yield Message(
            sentence,
            target=first.target,
            kind=Setting("target"),
            first=joined(first.classes, most=MOST_NAMED),
            second=joined(second.classes, most=MOST_NAMED),
        )


def _on_coding(runs: Runs) -> Iterator[Message]:
    """Features of the same name whose values mean something else."""
    if runs[0].set_scores.measure.name == "r2":
        return  # reads the numbers themselves
    first, second = ({audit.column: audit for audit in run.cohorts.columns} for run in runs)
    common = [name for name in runs[0].feature_names if name in runs[1].feature_names]
    recoded = [
        Message("{name} ({how})", name=name, how=how)
        for name in common
        if name in second and name in first and (how := _recoded(first[name], second[name]))
    ]
    if recoded:
        yield Message(
            "Coded otherwise in the second run: {features}. What changed there may be the coding; "
            "give both runs the same cut points to rule it out.",
            features=joined(recoded, most=MOST_NAMED),
        )


def _recoded(first: ColumnAudit, second: ColumnAudit) -> Message | None:
    """How a column was coded otherwise; None where it was not."""
    if "feature" not in (first.role, second.role):
        return None
    if first.treatment != second.treatment:
        return Message(f"{second.treatment}, not {first.treatment}")
    if first.edges != second.edges:
        cuts = []
        for audit in (first, second):
            edges = [f"{edge:g}" if isinstance(edge, float) else str(edge) for edge in audit.edges]
            more = ["…"] if len(edges) > MOST_EDGES else []
            cuts.append(", ".join(edges[:MOST_EDGES] + more))
        return Message("cut at {second}, not {first}", first=cuts[0], second=cuts[1])
    return Message("other values") if first.categories != second.categories else None
