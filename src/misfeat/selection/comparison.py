"""Comparison: which answers of two runs differ, and where the runs are not quite alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.estimation.estimates import POPULATION, SAMPLE
from misfeat.exceptions import Message, Setting
from misfeat.reading.dataframes import result_frame
from misfeat.selection.changed import CHANGE_COLUMNS, SUBGROUP_COLUMNS, summary_of
from misfeat.words.names import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort, ColumnAudit
    from misfeat.selection.changed import Change, SubgroupChange
    from misfeat.selection.selection import Selection

    Runs = tuple[Selection, Selection]

MOST_NAMED = 10
"""So many features or subgroups are named."""
MOST_EDGES = 8
"""So many cut points are shown."""


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
        return self._framed(self.changes, CHANGE_COLUMNS)

    def subgroups_to_frame(self) -> Any:
        """A line a subgroup.

        Returns
        -------
        dataframe
            The attributes of `SubgroupChange` are its columns.
        """
        return self._framed(self.subgroups, SUBGROUP_COLUMNS)

    def _framed(self, lines: Iterable[Any], names: Sequence[str]) -> Any:
        lines = list(lines)
        columns = {name: [getattr(line, name) for line in lines] for name in names}
        return result_frame(columns, self.backend)


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
    return same_kind or runs[0].book.measure.name == "r2"


def notes_on(runs: Runs, common: Sequence[str], size: int, confidence: float) -> Iterator[Message]:
    """What a reader should know."""
    yield from _on_subgroups(runs)
    yield from _on_features(runs)
    yield from _on_target(runs)
    yield from _on_coding(runs)
    if same_rows(runs, common):
        yield Message(
            "Both runs seem to be of the same rows, whose chance they share: differences are surer "
            "than their intervals say."
        )
    yield from _on_settings(runs, size, confidence)
    yield from _on_rows(runs)
    if len(common) > 1:
        by_chance = max(round((1 - confidence) * len(common)), 1)
        changed = runs[0].cohorts.target == runs[1].cohorts.target
        yield Message(
            f"Where nothing {'changed' if changed else 'differs'}, at most {by_chance} of "
            f"{len(common)} subgroups {'seems' if by_chance == 1 else 'seem'} "
            f"{'to have changed' if changed else 'to differ'} by chance, on the mean."
        )


def same_rows(runs: Runs, common: Sequence[str]) -> bool:
    """Whether two runs seem to be of the same rows: as many of every class and value everywhere."""
    by_class = same_question(runs)
    for name in common:
        first, second = (run.cohorts[name] for run in runs)
        if first.size != second.size or first.effective_size != second.effective_size:
            return False
        if by_class and (_by_class(first) != _by_class(second)).any():
            return False
    return by_class or _same_values(runs, common)


def _same_values(runs: Runs, common: Sequence[str]) -> bool:
    """Whether every value of features that both coded alike is as frequent in both runs."""
    first, second = (run.cohorts for run in runs)
    alike = [
        (place, second.features.index(name))
        for place, name in enumerate(first.features)
        if name in second.features
        and first.categories[place] == second.categories[second.features.index(name)]
    ]
    return bool(alike) and all(
        np.array_equal(_by_value(first[name], one), _by_value(second[name], other))
        for name in common
        for one, other in alike
    )


def _by_value(cohort: Cohort, feature: int) -> NDArray[Any]:
    """Rows of every code of a feature, those without a value first."""
    return np.bincount(
        cohort.codes[feature].astype(np.int64) + 1,
        weights=cohort.weights,
        minlength=int(cohort.cardinalities[feature]) + 1,
    )


def _by_class(cohort: Cohort) -> NDArray[Any]:
    return np.bincount(cohort.target, weights=cohort.weights, minlength=cohort.n_classes)


def _on_subgroups(runs: Runs) -> Iterator[Message]:
    first, second = (run.cohorts.names for run in runs)
    for which, own, others in (("first", first, second), ("second", second, first)):
        only = [name for name in own if name not in others]
        if only:
            yield Message(f"Subgroups of the {which} run only: {{names}}.", names=joined(only))


def _on_features(runs: Runs) -> Iterator[Message]:
    first, second = (run.feature_names for run in runs)
    for which, own, others in (("first", first, second), ("second", second, first)):
        only = [name for name in own if name not in others]
        if only:
            yield Message(
                f"Features of the {which} run only: {{names}}; they are not compared. A feature "
                "that was renamed counts as two.",
                names=joined(only, most=MOST_NAMED),
            )


def _on_target(runs: Runs) -> Iterator[Message]:
    first, second = (run.cohorts for run in runs)
    if first.target != second.target:
        yield Message(
            "The runs are about different targets, {first} and {second}: the question is another "
            "one, and a difference is no change. Shares of what there is to tell are compared.",
            first=first.target,
            second=second.target,
        )
    elif not same_question(runs) and first.is_number != second.is_number:
        yield Message(
            "The target {target} is taken as a number in one run, and in classes in the other; "
            "shares are those of its classes. Fit both with the same {kind}.",
            target=first.target,
            kind=Setting("target"),
        )
    elif not same_question(runs) and first.is_number:
        yield Message(
            "The target {target} is a number that is cut elsewhere in the second run, at ranks of "
            "its own values. Shares of what there is to tell are compared.",
            target=first.target,
        )
    elif not same_question(runs):
        yield Message(
            "The target {target} has other classes in the second run: {second} instead of {first}. "
            "Shares of what there is to tell are compared.",
            target=first.target,
            first=joined(first.classes, most=MOST_NAMED),
            second=joined(second.classes, most=MOST_NAMED),
        )


def _on_coding(runs: Runs) -> Iterator[Message]:
    """Features of the same name whose values mean something else."""
    if runs[0].book.measure.name == "r2":
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
        return Message("cut at {second}, not {first}", first=_edges(first), second=_edges(second))
    return Message("other values") if first.categories != second.categories else None


def _edges(audit: ColumnAudit) -> str:
    shown = [f"{edge:g}" if isinstance(edge, float) else str(edge) for edge in audit.edges]
    return ", ".join(shown[:MOST_EDGES]) + (", …" if len(shown) > MOST_EDGES else "")


def _on_settings(runs: Runs, size: int, confidence: float) -> Iterator[Message]:
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


def _on_rows(runs: Runs) -> Iterator[Message]:
    """What shares are made from, where that is not what the runs show."""
    withheld = [
        which
        for which, run in zip(("first", "second"), runs, strict=True)
        if run.book.rows_withheld
    ]
    if withheld:
        yield Message(
            "The {which} run keeps no rows: its shares are those it shows, and what changed in one "
            "subgroup alone is harder to see.",
            which=joined(withheld),
        )
    elif runs[0].book.estimate.name == POPULATION:
        yield Message(
            "Shares are of each subgroup's own rows, less chance; tables of a run draw them "
            "towards those of other subgroups."
        )
    elif runs[0].book.estimate.name == SAMPLE:
        yield Message(
            "Shares are less what chance alone would score, which the scores of these runs are not."
        )
