"""What two runs say of one set, and of one subgroup, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from misfeat.exceptions import Message

ALONE, BEST_OF_FIRST, BEST_OF_SECOND, BEST_OF_BOTH = (
    "alone",
    "best set of the first run",
    "best set of the second run",
    "best set of both runs",
)


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
