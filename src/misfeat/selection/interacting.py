"""Whether two features tell more together than one by one, or the same twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.completion import CompletedScores
    from misfeat.selection.contrasts import Contrasts, Estimated

SYNERGY, REDUNDANCY, UNCLEAR = "synergy", "redundancy", "unclear"


@dataclass(frozen=True)
class Interaction:
    """How two features go together in one subgroup.

    Attributes
    ----------
    subgroup : str
        Where.
    feature, other : str
        The two, in the table's column order.
    together : float
        The score of both.
    alone : float
        The sum of their scores one by one.
    interaction : float
        The one less the other: above 0 where they tell more together, below where they tell the
        same in part.
    low, high : float
        Its interval.
    kind : {"synergy", "redundancy", "unclear"}
        What the interval says: all of it above 0, below 0, or neither.
    source : {"recorded", "predicted"}
        Whether the subgroup's own rows took part in the score of both.
    """

    subgroup: str
    feature: str
    other: str
    together: float
    alone: float
    interaction: float
    low: float
    high: float
    kind: str
    source: str


INTERACTION_COLUMNS = tuple(Interaction.__dataclass_fields__)


def interactions_of(
    levels: tuple[CompletedScores, CompletedScores],
    cohort: int,
    names: tuple[str, Sequence[str]],
    contrasts: Contrasts,
) -> list[Interaction]:
    """All pairs of features of one subgroup, the strongest interaction first.

    `levels` are the scores of single features and of pairs, `names` those of the subgroup and of
    all features.
    """
    singles, pairs = levels
    found = []
    for place, (one, other) in enumerate(pairs.subsets.tolist()):
        sets = [(one, other), (one,), (other,)]
        (interaction,) = contrasts.of(cohort, sets, [[1.0, -1.0, -1.0]])
        found.append(
            Interaction(
                subgroup=names[0],
                feature=names[1][one],
                other=names[1][other],
                together=float(pairs.score[cohort, place]),
                alone=float(singles.score[cohort, [one, other]].sum()),
                interaction=interaction.value,
                low=interaction.low,
                high=interaction.high,
                kind=kind_of(interaction),
                source="predicted" if pairs.predicted[cohort, place] else "recorded",
            )
        )
    return sorted(found, key=lambda pair: -abs(pair.interaction))


def kind_of(interaction: Estimated) -> str:
    """What an interaction is, by its interval."""
    if interaction.low > 0:
        return SYNERGY
    return REDUNDANCY if interaction.high < 0 else UNCLEAR
