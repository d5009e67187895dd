"""Two runs held against each other: what is asked of both, and which answers differ.

In every subgroup of both runs, what is asked of both is what every feature tells alone, and what
the best set of either run tells in the other. All of these are looked at, so intervals of
differences hold for all of them at once: where nothing changed, at least `confidence` of the
subgroups say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.comparison_words import (
    ALONE,
    BEST_OF_BOTH,
    BEST_OF_FIRST,
    BEST_OF_SECOND,
    common_confidence,
    notes_on,
    same_question,
    subgroup_in_words,
    summary_of,
)
from misfeat.answers.options import check_size, frame_of
from misfeat.answers.run_differences import PREDICTED, RECORDED, difference_of, explained_share
from misfeat.answers.set_contrasts import difference
from misfeat.answers.top import best_sets
from misfeat.exceptions import Message, MisfeatError, Setting, check_count, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.selection import Selection

    Runs = tuple[Selection, Selection]

USUAL_CONFIDENCE = 0.9
"""Where neither run says how often its intervals are to hold the truth."""


@dataclass(frozen=True)
class Change:
    """What one set explains in two runs.

    `asked` says why it is looked at: ``"alone"``, or ``"best set of the first run"``, of the
    second, of both. Shares of the entropy are those of the subgroup's own rows less chance, the
    difference is the second less the first, and its interval holds for all sets of the subgroup at
    once; so does the p-value. A set `changed` where that interval does not hold 0. Scores are in
    the unit of the measure, NaN where runs have different targets; the source is ``"predicted"``
    where either run had to predict it.
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

    `sets` were compared, of which some `changed`. The p-value is the least of its sets, right for
    having looked at all of them, NaN where none was compared, and `adjusted` right for having
    looked at all subgroups (Holm). `told_apart` says whether the second run's best set explains
    more there than that of the first.
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


@dataclass(frozen=True)
class Comparison:
    """Two runs, side by side.

    `size` is that of the best sets. `changes` has every set that was looked at, subgroup by
    subgroup, those that changed first, `subgroups` the subgroups of both runs, and `only_in` those
    of the first run alone and of the second. `notes` say what a reader should know: features in one
    run only or coded otherwise, other targets, … Frames come in the library `backend`, by default
    any installed one.
    """

    names: tuple[str, str]
    targets: tuple[str, str]
    unit: str
    size: int
    confidence: float
    changes: tuple[Change, ...]
    subgroups: tuple[SubgroupChange, ...]
    only_in: tuple[tuple[str, ...], tuple[str, ...]]
    notes: tuple[Message, ...]
    backend: str | None

    @property
    def changed(self) -> tuple[Change, ...]:
        """The sets that changed by more than their uncertainty."""
        return tuple(one for one in self.changes if one.changed)

    @property
    def same_target(self) -> bool:
        """Whether both runs are about the same target."""
        return self.targets[0] == self.targets[1]

    def sentences(self) -> list[Message]:
        """One sentence for the whole, one for every subgroup, then what a reader should know."""
        return [self.summary(), *(one.sentence for one in self.subgroups), *self.notes]

    def summary(self) -> Message:
        """The answer in one sentence."""
        return summary_of(self.subgroups, self.changes, self.targets)

    def to_frame(self) -> Any:
        """Every set that was looked at, as a dataframe of the library that the first run came in.

        Returns
        -------
        dataframe
            The attributes of `Change` are its columns.
        """
        return frame_of(Change, self.changes, self.backend)

    def subgroups_to_frame(self) -> Any:
        """A line a subgroup.

        Returns
        -------
        dataframe
            The attributes of `SubgroupChange` are its columns.
        """
        return frame_of(SubgroupChange, self.subgroups, self.backend)


def compare_selections(
    first: Selection,
    second: Selection,
    *,
    size: int | None = None,
    subgroup: str | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """Which answers of two runs differ by more than their uncertainty."""
    runs = first, second
    for name, of_first, of_second in (
        ("measure", first.set_scores.measure.name, second.set_scores.measure.name),
        ("estimate", first.set_scores.estimate.name, second.set_scores.estimate.name),
    ):
        if of_first != of_second:
            raise MisfeatError(
                "The first run has {first}, the second {second}; their scores cannot be compared.",
                remedy="Fit one of them again as the other.",
                first=Setting(name, of_first),
                second=Setting(name, of_second),
            )
    size = min(first.size, second.size) if size is None else size
    check_count(size, "size")
    features = tuple(name for name in first.feature_names if name in second.feature_names)
    if not features:
        raise MisfeatError(
            "The runs have no feature in common: the first has {first}, the second {second}.",
            remedy="Compare runs of tables that share columns.",
            first=listed(first.feature_names),
            second=listed(second.feature_names),
        )
    check_size(size, features, first.cohorts)
    common = _common_subgroups(runs, subgroup)
    confidence = common_confidence(runs) or USUAL_CONFIDENCE
    compared = [_subgroup_change(runs, name, features, size, confidence) for name in common]
    targets = first.cohorts.target, second.cohorts.target
    p_values = np.array([one.p_value for one, _ in compared])
    n_tested = int(np.isfinite(p_values).sum())
    order = np.argsort(p_values)[:n_tested]  # Holm's p-values, right for all subgroups at once
    adjusted = np.maximum.accumulate(p_values[order] * (n_tested - np.arange(n_tested)))
    p_values[order] = np.minimum(adjusted, 1.0)
    subgroups = []
    for (one, changes), p in zip(compared, p_values.tolist(), strict=True):
        lost = [name for name in one.first_best if name not in second.feature_names]
        among = n_tested if p > 1.0 - confidence else None
        sentence = subgroup_in_words(one, changes, targets, lost, among)
        subgroups.append(replace(one, adjusted=p, sentence=sentence))
    names_first, names_second = first.cohorts.names, second.cohorts.names
    return Comparison(
        names=names,
        targets=targets,
        unit=first.set_scores.measure.unit,
        size=size,
        confidence=confidence,
        changes=tuple(change for _, changes in compared for change in changes),
        subgroups=tuple(subgroups),
        only_in=(
            tuple(name for name in names_first if name not in names_second),
            tuple(name for name in names_second if name not in names_first),
        ),
        notes=tuple(notes_on(runs, common, size, confidence)),
        backend=first.options.backend,
    )


def _subgroup_change(
    runs: Runs, subgroup: str, features: Sequence[str], size: int, confidence: float
) -> tuple[SubgroupChange, list[Change]]:
    """What became of a subgroup, and of every set that was looked at, changed ones first."""
    sets: dict[tuple[str, ...], str] = {(name,): ALONE for name in features}
    best: list[tuple[str, ...]] = []
    for run, why in zip(runs, (BEST_OF_FIRST, BEST_OF_SECOND), strict=True):
        ranked = best_sets(run, size, 1, subgroup)
        members = ranked[0].features if ranked else ()  # where the target has a single value
        best.append(members)
        common = tuple(name for name in features if name in members)
        if len(common) == len(members) > 1:
            sets[common] = BEST_OF_BOTH if common in sets else why
    first, second = best
    both = bool(first and second)
    changes = [
        _change(runs, subgroup, one, why, len(sets), confidence)
        for one, why in (sets.items() if both else ())
    ]
    changes.sort(key=lambda one: (not one.changed, -abs(one.difference)))
    told_apart = False
    if both and set(first) != set(second) and set(first) <= set(runs[1].feature_names):
        told_apart = not difference(runs[1], subgroup, second, first).may_be_nothing
    change = SubgroupChange(
        subgroup=subgroup,
        first_rows=runs[0].cohorts[subgroup].size,
        second_rows=runs[1].cohorts[subgroup].size,
        sets=len(changes),
        changed=sum(one.changed for one in changes),
        p_value=min((one.p_value for one in changes), default=np.nan),
        adjusted=np.nan,
        first_best=first,
        second_best=second,
        told_apart=told_apart,
        sentence=Message(""),
    )
    return change, changes


def _change(
    runs: Runs, subgroup: str, features: tuple[str, ...], why: str, among: int, confidence: float
) -> Change:
    """What a set explains in both runs; intervals hold for `among` sets at once."""
    shares = [explained_share(run, subgroup, features) for run in runs]
    wholes = [run.set_scores.measure.whole[run.cohorts.position(subgroup)] for run in runs]
    scores = [np.nan, np.nan]
    if same_question(runs):
        scores = [one.share * float(whole) for one, whole in zip(shares, wholes, strict=True)]
    first, second = shares
    between = difference_of(first, second)
    value, low, high = between.interval(confidence, among)
    return Change(
        subgroup=subgroup,
        features=features,
        asked=why,
        **first.interval(confidence).named("first"),
        **second.interval(confidence).named("second"),
        difference=value,
        low=low,
        high=high,
        p_value=min(between.p_value * among, 1.0),
        changed=low > 0 or high < 0,
        first_score=scores[0],
        second_score=scores[1],
        source=PREDICTED if PREDICTED in (first.source, second.source) else RECORDED,
    )


def _common_subgroups(runs: Runs, subgroup: str | None) -> tuple[str, ...]:
    """The subgroups of both, in the order of the second run; or the one that is asked for."""
    first, second = (run.cohorts.names for run in runs)
    if subgroup is not None:
        meant = [run.cohorts.full_name(subgroup) for run in runs]
        if meant[0] != meant[1]:
            raise MisfeatError(
                "{value!r} means {first!r} in the first run and {second!r} in the second; write "
                "the whole name of a subgroup of both.",
                value=subgroup,
                first=meant[0],
                second=meant[1],
            )
        return (meant[1],)
    common = tuple(name for name in second if name in first)
    if common:
        return common
    raise MisfeatError(
        "The runs have no subgroup in common: the first has {first}, the second {second}.",
        remedy="Fit both with the same {groups}.",
        first=listed(first),
        second=listed(second),
        groups=Setting("groups"),
    )
