"""Comparison: which answers of two runs differ by more than their uncertainty, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from misfeat.cohorts.dataframes import result_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALONE, BEST_OF_FIRST, BEST_OF_SECOND, BEST_OF_BOTH = (
    "alone",
    "best set of the first run",
    "best set of the second run",
    "best set of both runs",
)
MOST_SAID = 3
"""Sets of one subgroup that a sentence names."""
COARSE, FINE = 0.01, 0.001
"""Shares that are known as well as this are shown with one digit more, and with two."""


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
    sentence : str
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
    sentence: str


CHANGE_COLUMNS = tuple(field.name for field in fields(Change))
SUBGROUP_COLUMNS = tuple(field.name for field in fields(SubgroupChange))


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
    notes : tuple of str
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
    notes: tuple[str, ...]
    backend: str | None

    @property
    def changed(self) -> tuple[Change, ...]:
        """The sets that changed by more than their uncertainty."""
        return tuple(one for one in self.changes if one.changed)

    @property
    def same_target(self) -> bool:
        """Whether both runs are about the same target."""
        return self.targets[0] == self.targets[1]

    def sentences(self) -> list[str]:
        """One sentence for the whole, one for every subgroup, then what a reader should know."""
        return [self.summary(), *(one.sentence for one in self.subgroups), *self.notes]

    def summary(self) -> str:
        """The answer in one sentence."""
        compared = [one for one in self.subgroups if one.sets]
        if not compared:
            return "No subgroup could be compared."
        changed = sorted((one for one in compared if one.changed), key=lambda one: one.p_value)
        what = "differs" if not self.same_target else "changed"
        nothing = f"Nothing {what} by more than its uncertainty in "
        if not changed:
            return nothing + _of_all(len(compared)) + "."
        clearest = changed[0]
        own = [one for one in self.changed if one.subgroup == clearest.subgroup]
        said = f"in {clearest.subgroup}, {in_words(own, self.targets)}"
        others = len(changed) - 1
        more = f", the clearest of {len(changed)} subgroups" if others else ""
        left = len(compared) - len(changed)
        if not left:
            return f"{said[0].upper()}{said[1:]}{more}."
        return f"{nothing}{left} of {len(compared)} subgroups; {said}{more}."

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


def _of_all(n_subgroups: int) -> str:
    return "the only subgroup" if n_subgroups == 1 else f"any of {n_subgroups} subgroups"


def in_words(changed: Sequence[Change], targets: tuple[str, str]) -> str:
    """What changed in one subgroup, the clearest first; single features before sets of several.

    Parameters
    ----------
    changed : sequence of Change
        Sets that changed.
    targets : tuple of (str, str)
        The target of either run.
    """
    singles = [one for one in changed if one.asked == ALONE]
    said = sorted(singles or changed, key=lambda one: (one.p_value, -abs(one.difference)))
    parts = [_one_in_words(one, targets) for one in said[:MOST_SAID]]
    left = len(changed) - len(parts)
    if left:
        parts.append(f"{left} more set{'s' if left > 1 else ''} changed")
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]


def _one_in_words(one: Change, targets: tuple[str, str]) -> str:
    named = joined(one.features) + (" (predicted)" if one.source == "predicted" else "")
    several = len(one.features) > 1
    before = share_in_words(one.first, one.first_low, one.first_high)
    now = share_in_words(one.second, one.second_low, one.second_high)
    if targets[0] != targets[1]:
        tell = "tell" if several else "tells"
        return f"{named} {tell} {before} about {targets[0]} and {now} about {targets[1]}"
    return f"{named} {'tell' if several else 'tells'} {now} where {_it(several)} told {before}"


def _it(several: bool) -> str:
    return "they" if several else "it"


def joined(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    Parameters
    ----------
    names : sequence of str
        At least one.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def share_in_words(share: float, low: float, high: float) -> str:
    """A share with its interval, in as many digits as the interval leaves.

    Parameters
    ----------
    share, low, high : float
        Between 0 and 1.

    Examples
    --------
    >>> share_in_words(0.123, 0.08, 0.161), share_in_words(0.0031, 0.001, 0.0052)
    ('12 % (8–16 %)', '0.3 % (0.1–0.5 %)')
    """
    wide = (high - low) / 2
    digits = 0 if wide >= COARSE else 1 if wide >= FINE else 2
    between = f" ({_per_cent(low, digits)}–{_per_cent(high, digits)} %)" if low < high else ""
    return f"{_per_cent(share, digits)} %{between}"


def _per_cent(share: float, digits: int) -> str:
    """A share in per cent; nothing is just 0."""
    shown = f"{100 * share:.{digits}f}"
    return shown if float(shown) else "0"
