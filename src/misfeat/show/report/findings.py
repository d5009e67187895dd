"""Findings: all that the report tells, as plain data from a selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion import CompletedScores
    from misfeat.selection.collecting import Worth
    from misfeat.selection.ranking import ScoredSet
    from misfeat.selection.trust import Trust


@dataclass(frozen=True, eq=False)
class Findings:
    """What a fit found.

    Attributes
    ----------
    cohorts : Cohorts
        The coded rows of every cohort, and how every column was treated.
    features : tuple of str
        What sets are made of.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        What each cohort never recorded.
    ceiling : ndarray of shape (n_cohorts,)
        What no score of a cohort can exceed.
    estimate : {"population", "above_chance", "sample"}
        What scores tell about.
    measure : {"mutual_info", "r2"}
        What scores are.
    unit : str
        The unit of scores.
    size, k : int
        Features in a set, and how many of the best sets are shown.
    confidence : float or None
        How often intervals hold the truth; None where they are certain bounds.
    top : list of ScoredSet
        The best sets of every cohort, best first.
    worths : list of Worth
        What unrecorded features would be worth.
    scores : mapping of int to CompletedScores
        The scores of all sets, by size.
    trust : list of Trust or None
        How far answers can be trusted; None where that was not asked.
    trust_in_words : str
        The same in a sentence.
    cautions : sequence of str
        What may mislead.
    settings : mapping of str to str
        The parameters that were not left at their defaults, as Python would write them.
    """

    cohorts: Cohorts
    features: tuple[str, ...]
    missing: NDArray[np.bool_]
    ceiling: NDArray[np.float64]
    estimate: str
    measure: str
    unit: str
    size: int
    k: int
    confidence: float | None
    top: list[ScoredSet]
    worths: list[Worth]
    scores: Mapping[int, CompletedScores]
    trust: list[Trust] | None
    trust_in_words: str
    cautions: Sequence[str]
    settings: Mapping[str, str]

    def target(self) -> dict[str, Any]:
        """The target's name and classes."""
        return {"column": self.cohorts.target, "classes": list(self.cohorts.classes)}
