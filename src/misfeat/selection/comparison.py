"""Comparison: which answers of two runs differ by more than their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misfeat.cohorts.dataframes import result_frame
from misfeat.selection.changed import CHANGE_COLUMNS, SUBGROUP_COLUMNS, summary_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from misfeat.exceptions import Message
    from misfeat.selection.changed import Change, SubgroupChange


@dataclass(frozen=True)
class Comparison:
    """Two runs, side by side.

    Attributes
    ----------
    names : tuple of (str, str)
        What the runs are called.
    targets : tuple of (str, str)
        The target of either.
    unit : str
        The unit of scores.
    size : int
        Features of the best sets.
    confidence : float
        Target coverage of the intervals.
    changes : tuple of Change
        Every set that was looked at, subgroup by subgroup; those that changed first.
    subgroups : tuple of SubgroupChange
        The subgroups of both runs.
    only_in : tuple of (tuple of str, tuple of str)
        Subgroups of the first run alone, and of the second.
    notes : tuple of Message
        What a reader should know: features in one run only or coded otherwise, other targets, …
    backend : str or None
        The dataframe library that frames come in; None: any installed one.
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
