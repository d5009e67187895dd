"""What two runs say of one set, and of one subgroup, as plain data and in words."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from misfeat.exceptions import Message
from misfeat.words.names import joined
from misfeat.words.numbers import count_words, percent, percent_between, percent_decimals

if TYPE_CHECKING:
    from collections.abc import Sequence

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


@dataclass(frozen=True)
class Change:
    """What one set tells in two runs.

    Attributes
    ----------
    subgroup : str
        Where.
    features : tuple of str
        The set.
    asked : str
        Why it is looked at: ``"alone"``, or ``"best set of the first run"``, of the second, of
        both.
    first, first_low, first_high, second, second_low, second_high : float
        The share of what there is to tell in either run, by the subgroup's own rows and less
        chance, with its interval.
    difference, low, high : float
        The second share less the first. The interval holds for all sets of the subgroup at once.
    p_value : float
        How likely rows drawn anew differ as much by chance, times the sets of the subgroup.
    changed : bool
        Whether the difference is more than its uncertainty: the interval does not hold 0.
    first_score, second_score : float
        The same in the unit of the measure; NaN where runs have different targets.
    source : {"recorded", "predicted"}
        ``"predicted"`` where either run had to predict it.
    """

    subgroup: str
    features: tuple[str, ...]
    asked: str
    first: float
    first_low: float
    first_high: float
    second: float
    second_low: float
    second_high: float
    difference: float
    low: float
    high: float
    p_value: float
    changed: bool
    first_score: float
    second_score: float
    source: str


@dataclass(frozen=True)
class SubgroupChange:
    """What became of one subgroup.

    Attributes
    ----------
    subgroup : str
        Its name.
    first_rows, second_rows : int
        Its rows in either run.
    sets, changed : int
        How many sets were compared, and how many changed by more than their uncertainty.
    p_value : float
        The least of its sets, right for having looked at all of them; NaN where none was compared.
    adjusted : float
        The same, right for having looked at all subgroups (Holm).
    first_best, second_best : tuple of str
        The set that tells most in either run.
    told_apart : bool
        Whether the second run says that its best set tells more than that of the first run; False
        where they are the same.
    sentence : Message
        All of it in words.
    """

    subgroup: str
    first_rows: int
    second_rows: int
    sets: int
    changed: int
    p_value: float
    adjusted: float
    first_best: tuple[str, ...]
    second_best: tuple[str, ...]
    told_apart: bool
    sentence: Message


CHANGE_COLUMNS = tuple(field.name for field in fields(Change))


SUBGROUP_COLUMNS = tuple(field.name for field in fields(SubgroupChange))


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
    """What became of one subgroup, in a sentence.

    `lost` are features of the first run's best set that the second run does not have; `among` is
    how many subgroups were looked at, where so many make a change like this one by chance.
    """
    if not found.sets:
        both = not found.first_best and not found.second_best
        which = "both runs" if both else f"the {'second' if found.first_best else 'first'} run"
        return Message(
            f"In {{subgroup}}, the target has a single value in {which}.", subgroup=found.subgroup
        )
    changed = [one for one in changes if one.changed]
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
    """A share with its interval.

    Examples
    --------
    >>> share_in_words(0.123, 0.08, 0.161), share_in_words(0.0031, 0.001, 0.0052)
    ('12 % (8–16 %)', '0.3 % (0.1–0.5 %)')
    """
    between = f" ({percent_between(low, high)})" if low < high else ""
    return percent(share, low, high) + between


def points_in_words(difference: float, low: float, high: float) -> str:
    """A difference of shares with its interval, in points of per cent.

    An interval that does not hold 0 is told with as many digits as it takes to see that.

    Examples
    --------
    >>> points_in_words(-0.054, -0.0863, -0.0219), points_in_words(0.024, 0.0004, 0.048)
    ('-5 (-9 to -2)', '+2.40 (+0.04 to +4.80)')
    """
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
