"""The first screen: the answer in sentences, and a map of what single features explain."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from misfeat.answers.recommendation import Answer, answer_of
from misfeat.answers.subgroup_significance import LEVEL, SignificanceTests, significance_tests
from misfeat.runtime.array_types import Flags, Floats, Indices
from misfeat.selection import Selection


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """What every feature explains by itself in every subgroup, in the order of the table."""

    subgroups: tuple[int, ...]  # in the order in which they are shown
    features: tuple[int, ...]
    share: Floats  # of the entropy
    low: Floats
    high: Floats
    predicted: Flags
    faded: Flags  # not more than chance by its p-value, or by its interval


def feature_map(
    selection: Selection,
    single: SignificanceTests | None = None,
    tests: SignificanceTests | None = None,
) -> FeatureMap:
    """What single features explain; `single` tested them, and `tests` all sets."""
    scores, measure = selection.completed(1), selection.set_scores.measure
    order = np.argsort(scores.subsets[:, 0])
    whole = np.where(measure.whole > 0, measure.whole, np.inf)[:, None]
    share, low, high = (held[:, order] / whole for held in (scores.score, scores.low, scores.high))
    predicted = selection.missing
    faded = low <= 0
    if single is not None and tests is not None:
        nothing = np.array([[not one.more_than_chance] for one in tests.subgroups])
        faded = np.where(predicted, faded, ~(single.p_values[1][:, order] <= LEVEL) | nothing)
    order_of_rows = ("order of subgroups",)  # kept with a run, so that a report loads no SciPy
    subgroups = tuple(selection.remembered(order_of_rows, lambda: side_by_side(share).tolist()))
    features = tuple(np.argsort(-share.mean(axis=0), kind="stable").tolist())
    return FeatureMap(subgroups, features, share, low, high, predicted, faded)


def side_by_side(values: Floats) -> Indices:
    """Numbers of rows such that rows which are alike are neighbours, those with most on top."""
    # The leaves of an average-linkage tree in the order with the smallest distances between
    # neighbours (Bar-Joseph, Gifford and Jaakkola, Bioinformatics 17, 2001).
    means = values.mean(axis=1)
    if len(values) < 3:
        return np.argsort(-means, kind="stable")
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import pdist

    # The best order is slow to find where rows are many.
    tree = linkage(pdist(values), "average", optimal_ordering=len(values) <= 300)
    order: Indices = leaves_list(tree).astype(np.intp)
    half = len(order) // 2
    turned = means[order[:half]].mean() < means[order[-half:]].mean()
    return order[::-1] if turned else order


@dataclass(frozen=True, eq=False)
class FirstScreen(Answer):
    """The answer with a map, which notebook and report show first."""

    _selection: Selection
    _tests: SignificanceTests | None

    @cached_property
    def map(self) -> FeatureMap:
        """What single features explain, worked out when it is shown: a terminal has no map."""
        selection, many, single = self._selection, self.effort.permutations, None
        if self._tests is not None:
            single = significance_tests(selection, 1, permutations=many)
        return feature_map(selection, single, self._tests)


def first_screen(
    selection: Selection, size: int | None = None, costs: Mapping[str, Any] | None = None
) -> FirstScreen:
    """The answer of a selection, with its map."""
    answer = answer_of(selection, None, size, costs)
    effort, tests = answer.effort, None
    if effort.tested:
        tests = significance_tests(selection, effort.tested, permutations=effort.permutations)
        selection.known_tests = tests  # so that tables beside it show p-values, too
    return FirstScreen(**vars(answer), _selection=selection, _tests=tests)
