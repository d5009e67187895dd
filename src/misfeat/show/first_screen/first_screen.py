"""FirstScreen: the answer in sentences, a map of what features tell, and what may overturn it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import pdist

from misfeat.answers.caution import OVERTURNS
from misfeat.answers.cautions import list_cautions
from misfeat.answers.collecting import feature_worths
from misfeat.answers.significance import LEVEL
from misfeat.show.first_screen.answering import answers, tested
from misfeat.show.first_screen.effort import effort_for
from misfeat.show.first_screen.wording import collecting_sentences, whole_sentence, with_weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from misfeat.answers.caution import Caution
    from misfeat.answers.significance import SignificanceTests
    from misfeat.exceptions import Message
    from misfeat.selection import Selection
    from misfeat.show.first_screen.answering import SubgroupAnswer
    from misfeat.show.first_screen.effort import Effort

    Floats = NDArray[np.float64]

MOST_ORDERED = 300
"""Rows up to which the best order of the leaves is sought, which takes ever longer."""


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """What every feature tells by itself in every subgroup, in shares of what there is to tell."""

    subgroups: tuple[int, ...]
    features: tuple[int, ...]
    """Their numbers, in the order in which they are shown: features by what they tell over all
    subgroups, subgroups that look alike side by side.
    """
    share: Floats
    low: Floats
    high: Floats
    """In the order of the table, with intervals. Of shape (n_subgroups, n_features)."""
    predicted: NDArray[np.bool_]
    """Where the subgroup did not record the feature. Of the same shape."""
    faded: NDArray[np.bool_]
    """Where it is not more than chance: by its p-value among single features and that of its
    subgroup, or where there is none, by an interval that begins at nothing. Of the same shape.
    """


def feature_map(
    selection: Selection,
    single: SignificanceTests | None = None,
    tests: SignificanceTests | None = None,
) -> FeatureMap:
    """What single features tell; `single` tested them, and `tests` all sets."""
    scores, measure = selection.completed(1), selection.set_scores.measure
    order = np.argsort(scores.subsets[:, 0])
    whole = np.where(measure.whole > 0, measure.whole, np.inf)[:, None]
    share, low, high = (held[:, order] / whole for held in (scores.score, scores.low, scores.high))
    predicted = selection.missing
    faded = low <= 0
    if single is not None and tests is not None:
        nothing = np.array([[not one.more_than_chance] for one in tests.subgroups])
        faded = np.where(predicted, faded, ~(single.p_values[1][:, order] <= LEVEL) | nothing)
    return FeatureMap(
        subgroups=tuple(side_by_side(share).tolist()),
        features=tuple(np.argsort(-share.mean(axis=0), kind="stable").tolist()),
        share=share,
        low=low,
        high=high,
        predicted=predicted,
        faded=faded,
    )


def side_by_side(values: Floats) -> NDArray[np.intp]:
    """Numbers of rows such that rows which are alike are neighbours, those with most on top.

    The leaves of an average-linkage tree in the order with the smallest distances between
    neighbours (Bar-Joseph, Gifford and Jaakkola, Bioinformatics 17, 2001).
    """
    means = values.mean(axis=1)
    if len(values) < 3:
        return np.argsort(-means, kind="stable")
    tree = linkage(pdist(values), "average", optimal_ordering=len(values) <= MOST_ORDERED)
    order: NDArray[np.intp] = leaves_list(tree).astype(np.intp)
    half = len(order) // 2
    turned = means[order[:half]].mean() < means[order[-half:]].mean()
    return order[::-1] if turned else order


@dataclass(frozen=True, eq=False)
class FirstScreen:
    """What whoever asked reads first; terminal, notebook and report all show this."""

    target: str
    size: int
    effort: Effort
    """What was asked for it."""
    whole: Message
    """One sentence for the whole table."""
    subgroups: tuple[SubgroupAnswer, ...]
    """One answer for every subgroup, in the table's order."""
    map: FeatureMap
    """What every feature tells in every subgroup."""
    collecting: tuple[Message, ...]
    """What is worth recording, or that there is no clear case."""
    cautions: tuple[Caution, ...]
    """What may mislead, worst first."""

    @property
    def overturning(self) -> list[Caution]:
        """The cautions that may overturn the answer."""
        return [one for one in self.cautions if one.severity == OVERTURNS]

    @property
    def other_cautions(self) -> list[Caution]:
        """The cautions that do not."""
        return [one for one in self.cautions if one.severity != OVERTURNS]


def first_screen(
    selection: Selection,
    size: int | None = None,
    costs: Mapping[str, float] | None = None,
) -> FirstScreen:
    """Ask a selection what is told first."""
    size = selection.size if size is None else size
    target, effort = selection.cohorts.target, effort_for(selection, size)
    single, tests = tested(selection, effort)
    found = answers(selection, size, effort, tests)
    wholes = dict(zip(selection.cohorts.names, selection.set_scores.measure.whole, strict=True))
    worths = feature_worths(selection, size=size, costs=costs)
    return FirstScreen(
        target=target,
        size=size,
        effort=effort,
        whole=with_weights(whole_sentence(found, target), selection.cohorts),
        subgroups=tuple(found),
        map=feature_map(selection, single, tests),
        collecting=tuple(collecting_sentences(worths, wholes, selection.confidence)),
        cautions=tuple(list_cautions(selection, size)),
    )
