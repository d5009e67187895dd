"""Two runs in words: sentences about what changed, and notes on where the runs are not alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.estimation.estimands import POPULATION, SAMPLE
from misfeat.exceptions import Message, Setting
from misfeat.words import count_words, joined, p_words, percent, percent_between, percent_decimals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.answers.comparison import Change, SubgroupChange
    from misfeat.cohorts import Cohorts
    from misfeat.cohorts.model import ColumnAudit
    from misfeat.selection import Selection

    Runs = tuple[Selection, Selection]
    Targets = tuple[str, str]

ALONE, BEST_OF_BOTH = "alone", "best set of both runs"
BEST_OF_FIRST, BEST_OF_SECOND = "best set of the first run", "best set of the second run"
MOST_SETS = 3  # of a subgroup that a sentence names
MOST_DIGITS = 4  # decimals of points of per cent
MOST_SUBGROUPS, MOST_NAMED, MOST_EDGES = 5, 10, 8  # named subgroups, features, cut points


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
        return Message(f"There is {_nothing(targets)} in any of {len(compared)} subgroups.")
    clearest = changed[0]
    own = [one for one in changes if one.changed and one.subgroup == clearest.subgroup]
    before = f"There is {_nothing(targets)} in {left} of {len(compared)} subgroups; in "
    more = f", the clearest of {count_words(len(changed), 'such subgroup')}"
    return Message(
        f"{before if left else 'In '}{{where}}, {{what}}{more if len(changed) > 1 else ''}.",
        where=clearest.subgroup,
        what=changes_in_words(own, targets),
    )


def subgroup_in_words(
    one: SubgroupChange,
    changes: Sequence[Change],
    targets: Targets,
    lost: Sequence[str],
    among: int | None = None,
) -> Message:
    """What became of one subgroup; `lost` are features that the second run does not have."""
    if not one.sets:
        both = not one.first_best and not one.second_best
        which = "both runs" if both else f"the {'second' if one.first_best else 'first'} run"
        return Message(
            f"In {{subgroup}}, the target has a single value in {which}.", subgroup=one.subgroup
        )
    changed = [change for change in changes if change.changed]
    # Among so many subgroups chance makes a change like this one.
    doubt = f", which chance may do in one of {among} subgroups" if changed and among else ""
    nothing = Message(f"there is {_nothing(targets)} ({p_words(one.p_value)})")
    return Message(
        f"In {{subgroup}}, {{what}}{doubt}; {{best}}.",
        subgroup=one.subgroup,
        what=changes_in_words(changed, targets) if changed else nothing,
        best=_best_in_words(one, changes, targets, lost),
    )


def changes_in_words(changed: Sequence[Change], targets: Targets) -> Message:
    """What changed in one subgroup, the clearest first; single features rather than larger sets."""
    alone = [one for one in changed if one.asked == ALONE]
    clearest = sorted(alone or changed, key=lambda one: (one.p_value, -abs(one.difference)))
    parts = [change_in_words(one, targets, not n) for n, one in enumerate(clearest[:MOST_SETS])]
    left = len(clearest) - len(parts)
    if left:
        more = count_words(left, "more feature" if alone else "more set")
        parts.append(Message(f"{more} changed"))
    return joined(parts)


def change_in_words(one: Change, targets: Targets, whole: bool = True) -> Message:
    """What a set explains and explained before; `whole` says what the shares are of."""
    explain = "explain" if len(one.features) > 1 else "explains"
    of = " of the uncertainty" if whole else ""
    template = f"{{second}}{of} instead of {{first}}"
    if targets[0] != targets[1]:
        template = f"{{first}}{of} about {{target}} and {{second}} about {{other}}"
    predicted = " (predicted)" if one.source == "predicted" else ""
    return Message(
        f"{{names}}{predicted} {explain} {template}",
        names=joined(one.features),
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
    return f"no evidence of a {'change' if targets[0] == targets[1] else 'difference'}"


def _best_in_words(
    one: SubgroupChange, changes: Sequence[Change], targets: Targets, lost: Sequence[str]
) -> Message:
    """What became of the best set."""
    if targets[0] == targets[1] and changes and not any(change.second > 0 for change in changes):
        return Message("every estimate of the second run is 0 %")
    verb = "explain" if len(one.second_best) > 1 else "explains"
    before, now = joined(one.first_best), joined(one.second_best)
    if set(one.first_best) == set(one.second_best):
        return Message(f"{{now}} {verb} most in both runs", now=now)
    about = {"before": before, "now": now, "lost": joined(lost) if lost else ""}
    if targets[0] != targets[1]:
        about |= {"target": targets[0], "other": targets[1]}
        return Message(f"{{before}} {verb} most about {{target}}, {{now}} about {{other}}", **about)
    why = "" if one.told_apart else ", but there is no evidence that either explains more"
    if lost:
        gone = "are no longer features" if len(lost) > 1 else "is no longer a feature"
        why = f", as {{lost}} {gone}"
    return Message(f"{{now}} {verb} most, before it was {{before}}{why}", **about)


def same_question(runs: Runs) -> bool:
    """Whether two runs are about the same classes of the same target, so that scores compare."""
    first, second = (run.cohorts for run in runs)
    same_kind = first.is_number == second.is_number and first.classes == second.classes
    same_kind |= runs[0].set_scores.measure.name == "r2"
    return first.target == second.target and same_kind


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
    each = (("first", first), ("second", second))
    withheld = [which for which, run in each if run.set_scores.rows_withheld]
    if withheld:
        yield Message(
            "The {which} run keeps no rows: its shares are those it shows, and what changed in one "
            "subgroup alone is harder to see.",
            which=joined(withheld),
        )
    elif estimate == POPULATION:
        yield Message(
            "Shares are of each subgroup's own rows, less chance; tables of a run shrink "
            "them towards those of other subgroups."
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
    pairs = [(one.target_codes, other.target_codes)]
    if not same_question(runs):  # features that both coded alike
        pairs = [
            (one.codes[index], other.codes[other.features.index(name)])
            for index, name in enumerate(one.features)
            if name in other.features
            and one.categories[index] == other.categories[other.features.index(name)]
        ]

    def counts(cohorts: Cohorts, name: str, codes: NDArray[Any]) -> NDArray[Any]:
        cohort = cohorts.position(name)
        rows = slice(cohorts.offsets[cohort], cohorts.offsets[cohort + 1])
        return np.bincount(codes[rows].astype(np.int64) + 1, cohorts.weights[rows])

    return bool(pairs) and all(
        one[name].effective_size == other[name].effective_size
        and np.array_equal(counts(one, name, first), counts(other, name, second))
        for name in common
        for first, second in pairs
    )


def _on_names(runs: Runs) -> Iterator[Message]:
    """Subgroups, then features, of one run only."""
    renamed = "; they are not compared. A feature that was renamed counts as two."
    for kind, (first, second), most, then in (
        ("Subgroups", [run.cohorts.names for run in runs], MOST_SUBGROUPS, "."),
        ("Features", [run.feature_names for run in runs], MOST_NAMED, renamed),
    ):
        for which, own, others in (("first", first, second), ("second", second, first)):
            only = [name for name in own if name not in others]
            if only:
                template = f"{kind} of the {which} run only: {{names}}{then}"
                yield Message(template, names=joined(only, most=most))


def _on_target(runs: Runs) -> Iterator[Message]:
    first, second = (run.cohorts for run in runs)
    if same_question(runs):
        return
    sentence = (
        "The target {target} has other classes in the second run: {second} instead of {first}. "
        "Shares of the uncertainty are compared."
    )
    if first.target != second.target:
        sentence = (
            "The runs are about different targets, {target} and {other}: the question is another "
            "one, and a difference is not a change. Shares of the uncertainty are compared."
        )
    elif first.is_number != second.is_number:
        sentence = (
            "The target {target} is taken as a number in one run, and in classes in the other; "
            "shares are those of its classes. Fit both with the same {kind}."
        )
    elif first.is_number:
        sentence = (
            "The target {target} is a number that is cut elsewhere in the second run, at ranks of "
            "its own values. Shares of the uncertainty are compared."
        )
    yield Message(
        sentence,
        target=first.target,
        other=second.target,
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
