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
from misfeat.answers.contrasts import difference
from misfeat.answers.differences import PREDICTED, RECORDED, ToldShare, difference_of, told_share
from misfeat.answers.frames import frame_of
from misfeat.answers.options import check_size
from misfeat.answers.top import best_sets
from misfeat.exceptions import Message, MisfeatError, Setting, check_count, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from misfeat.selection import Selection

    Runs = tuple[Selection, Selection]

USUAL_CONFIDENCE = 0.9
"""Where neither run says how often its intervals are to hold the truth."""


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
    """Which answers of two runs differ by more than their uncertainty.

    The size of the best sets is by default the smaller one of the two runs.
    """
    runs = first, second
    _check_same_scale(runs)
    size = min(first.size, second.size) if size is None else size
    check_count(size, "size")
    features = _common_features(runs)
    check_size(size, features, first.cohorts)
    common = _common_subgroups(runs, subgroup)
    asking = _Asking(runs, features, size)
    found = [asking.about(name) for name in common]
    return Comparison(
        names=names,
        targets=asking.targets,
        unit=first.set_scores.measure.unit,
        size=size,
        confidence=asking.confidence,
        changes=tuple(change for _, changes in found for change in changes),
        subgroups=tuple(asking.in_words(found)),
        only_in=(_only_in(first, second), _only_in(second, first)),
        notes=tuple(notes_on(runs, common, size, asking.confidence)),
        backend=first.options.backend,
    )


class _Asking:
    """Asks two runs the same questions about one subgroup after the other."""

    def __init__(self, runs: Runs, features: Sequence[str], size: int) -> None:
        self._runs, self._features, self._size = runs, features, size
        self.targets = runs[0].cohorts.target, runs[1].cohorts.target
        self.confidence = common_confidence(runs) or USUAL_CONFIDENCE
        self._same_question = same_question(runs)

    def about(self, subgroup: str) -> tuple[SubgroupChange, list[Change]]:
        """What became of a subgroup, and of every set that was looked at, changed ones first."""
        best = tuple(self._best(run, subgroup) for run in self._runs)
        changes: list[Change] = []
        if all(best):
            sets = self._sets(best[0], best[1])
            changes = [self._change(subgroup, one, why, len(sets)) for one, why in sets.items()]
            changes.sort(key=lambda one: (not one.changed, -abs(one.difference)))
        first, second = (run.cohorts[subgroup].size for run in self._runs)
        found = SubgroupChange(
            subgroup=subgroup,
            first_rows=first,
            second_rows=second,
            sets=len(changes),
            changed=sum(one.changed for one in changes),
            p_value=min((one.p_value for one in changes), default=np.nan),
            adjusted=np.nan,
            first_best=best[0],
            second_best=best[1],
            told_apart=self._told_apart(subgroup, best[0], best[1]),
            sentence=Message(""),
        )
        return found, changes

    def in_words(
        self, found: Sequence[tuple[SubgroupChange, list[Change]]]
    ) -> Iterator[SubgroupChange]:
        """The subgroups with sentences, and p-values that are right for having looked at all."""
        adjusted = _holm([one.p_value for one, _ in found])
        compared = int(np.isfinite(adjusted).sum())
        for (one, changes), p in zip(found, adjusted, strict=True):
            lost = [name for name in one.first_best if name not in self._runs[1].feature_names]
            among = compared if p > 1.0 - self.confidence else None
            said = subgroup_in_words(one, changes, self.targets, lost, among)
            yield replace(one, adjusted=p, sentence=said)

    def _best(self, run: Selection, subgroup: str) -> tuple[str, ...]:
        """The set that tells most; nothing where the target has a single value."""
        sets = best_sets(run, self._size, 1, subgroup)
        return tuple(sets[0].features) if sets else ()

    def _sets(self, first: tuple[str, ...], second: tuple[str, ...]) -> dict[tuple[str, ...], str]:
        """The sets to look at, each with the reason: what both runs know."""
        sets: dict[tuple[str, ...], str] = {(name,): ALONE for name in self._features}
        for best, why in ((first, BEST_OF_FIRST), (second, BEST_OF_SECOND)):
            ordered = tuple(name for name in self._features if name in best)
            if len(ordered) == len(best) > 1:
                sets[ordered] = BEST_OF_BOTH if ordered in sets else why
        return sets

    def _change(self, subgroup: str, features: tuple[str, ...], why: str, among: int) -> Change:
        first, second = (told_share(run, subgroup, features) for run in self._runs)
        between = difference_of(first, second)
        value, low, high = between.interval(self.confidence, among)
        return Change(
            subgroup=subgroup,
            features=features,
            asked=why,
            **first.interval(self.confidence).named("first"),
            **second.interval(self.confidence).named("second"),
            difference=value,
            low=low,
            high=high,
            p_value=min(between.p_value * among, 1.0),
            changed=low > 0 or high < 0,
            first_score=self._in_unit(0, subgroup, first),
            second_score=self._in_unit(1, subgroup, second),
            source=PREDICTED if PREDICTED in (first.source, second.source) else RECORDED,
        )

    def _in_unit(self, which: int, subgroup: str, told: ToldShare) -> float:
        """A share in the unit of the measure, where it means the same in both runs."""
        run = self._runs[which]
        whole = float(run.set_scores.measure.whole[run.cohorts.position(subgroup)])
        return told.share * whole if self._same_question else np.nan

    def _told_apart(self, subgroup: str, first: tuple[str, ...], second: tuple[str, ...]) -> bool:
        """Whether the second run says that its best set tells more than that of the first."""
        now = self._runs[1]
        if not first or not second or set(first) == set(second):
            return False
        if not set(first) <= set(now.feature_names):
            return False
        return not difference(now, subgroup, second, first).may_be_nothing


def _check_same_scale(runs: Runs) -> None:
    """Raise where scores are of different measures or estimates."""
    first, second = (run.set_scores for run in runs)
    for name, one, other in (
        ("measure", first.measure.name, second.measure.name),
        ("estimate", first.estimate.name, second.estimate.name),
    ):
        if one != other:
            raise MisfeatError(
                "The first run has {first}, the second {second}; their scores cannot be compared.",
                remedy="Fit one of them again as the other.",
                first=Setting(name, one),
                second=Setting(name, other),
            )


def _common_features(runs: Runs) -> tuple[str, ...]:
    first, second = (run.feature_names for run in runs)
    common = tuple(name for name in first if name in second)
    if common:
        return common
    raise MisfeatError(
        "The runs have no feature in common: the first has {first}, the second {second}.",
        remedy="Compare runs of tables that share columns.",
        first=listed(first),
        second=listed(second),
    )


def _common_subgroups(runs: Runs, subgroup: str | None) -> tuple[str, ...]:
    """The subgroups of both, in the order of the second run; or the one that is asked for."""
    first, second = (run.cohorts.names for run in runs)
    if subgroup is not None:
        return (_in_both(runs, subgroup),)
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


def _in_both(runs: Runs, subgroup: str) -> str:
    """The subgroup that a name means; in short it must mean the same in both runs."""
    first, second = (run.cohorts.full_name(subgroup) for run in runs)
    if first != second:
        raise MisfeatError(
            "{value!r} means {first!r} in the first run and {second!r} in the second; write the "
            "whole name of a subgroup of both.",
            value=subgroup,
            first=first,
            second=second,
        )
    return second


def _only_in(one: Selection, other: Selection) -> tuple[str, ...]:
    return tuple(name for name in one.cohorts.names if name not in other.cohorts.names)


def _holm(p_values: Sequence[float]) -> list[float]:
    """P-values that are right for having looked at all of them; NaN where there is none."""
    found = np.array(p_values, dtype=np.float64)
    order = np.argsort(found)[: int(np.isfinite(found).sum())]
    factors = len(order) - np.arange(len(order))
    found[order] = np.minimum(np.maximum.accumulate(found[order] * factors), 1.0)
    return [float(p) for p in found]
