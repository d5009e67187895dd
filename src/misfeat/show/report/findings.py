"""Findings: all that the report tells, as plain data from a selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion import CompletedScores
    from misfeat.exceptions import Message
    from misfeat.selection.cell_counts import CellCounts
    from misfeat.selection.collecting import Worth
    from misfeat.selection.contrasts import Estimated
    from misfeat.selection.enough import Enough
    from misfeat.selection.explaining import Explanation
    from misfeat.selection.ranking import ScoredSet
    from misfeat.selection.redrawing import Stability
    from misfeat.selection.swapping import Alternative
    from misfeat.selection.trust import Trust
    from misfeat.selection.valuing import FeatureValue
    from misfeat.show.first_screen import FirstScreen


@dataclass(frozen=True, eq=False)
class SubgroupFindings:
    """What the page of one subgroup tells.

    Attributes
    ----------
    best : list of ScoredSet
        Its best sets, best first.
    chance : list of float
        What chance alone would give each of them in the subgroup's rows; NaN where not known.
    enough : Enough or None
        How many features are enough; None where that was not asked.
    features : list of FeatureValue
        What every feature is worth, the most telling first.
    explanation : Explanation or None
        The cells of the set that answers; None where there are none.
    alternatives : list of Alternative
        Sets that tell the same as the one that answers.
    parts : mapping of str to Estimated
        What each feature of the set that answers contributes.
    """

    best: list[ScoredSet]
    chance: list[float]
    enough: Enough | None
    features: list[FeatureValue]
    explanation: Explanation | None
    alternatives: list[Alternative]
    parts: Mapping[str, Estimated]


@dataclass(frozen=True, eq=False)
class Findings:
    """What a fit found.

    Attributes
    ----------
    screen : FirstScreen
        What is told first.
    subgroups : list of SubgroupFindings
        The page of every subgroup, in the table's order.
    stability : Stability or None
        What comes out again when rows are drawn anew; None where that was not asked.
    cells : mapping of (int, tuple of int) to CellCounts
        Rows by cell and class of sets of a subgroup, as many as the page holds.
    cohorts : Cohorts
        The coded rows of every cohort, and how every column was treated.
    features : tuple of str
        What sets are made of.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        What each cohort never recorded.
    whole : ndarray of shape (n_cohorts,)
        What there is to tell in each cohort.
    estimate : {"population", "above_chance", "sample"}
        What scores tell about.
    measure : str
        ``"mutual_info"``, ``"r2"`` or the name of a measure of one's own.
    words : str
        What scores are.
    unit : str
        The unit of scores.
    size, k : int
        Features in a set, and how many of the best sets are shown.
    confidence : float or None
        How often intervals hold the truth; None where they are certain bounds.
    worths : list of Worth
        What unrecorded features would be worth.
    scores : mapping of int to CompletedScores
        The scores of all sets, by size.
    trust : list of Trust or None
        How far answers can be trusted; None where that was not asked.
    trust_in_words : str
        The same in a sentence.
    left_out : list of Message
        What was not asked, and how to ask it.
    settings : mapping of str to str
        The parameters that were not left at their defaults, as Python would write them.
    """

    screen: FirstScreen
    subgroups: list[SubgroupFindings]
    stability: Stability | None
    cells: Mapping[tuple[int, tuple[int, ...]], CellCounts]
    cohorts: Cohorts
    features: tuple[str, ...]
    missing: NDArray[np.bool_]
    whole: NDArray[np.float64]
    estimate: str
    measure: str
    words: str
    unit: str
    size: int
    k: int
    confidence: float | None
    worths: list[Worth]
    scores: Mapping[int, CompletedScores]
    trust: list[Trust] | None
    trust_in_words: str
    left_out: list[Message]
    settings: Mapping[str, str]

    def target(self) -> dict[str, Any]:
        """The target's name and classes."""
        return {"column": self.cohorts.target, "classes": list(self.cohorts.classes)}
