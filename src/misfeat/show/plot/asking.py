"""What plots ask a fitted selector, beyond the answers it gives in frames and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from misfeat.exceptions import MisfeatError
from misfeat.selection.ranking import subgroup_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores
    from misfeat.selection.selection import Answers

SCORE_IS = {
    "mutual_info": "joint mutual information with {target} (nats)",
    "r2": "squared multiple correlation with {target}",
}


def features_of(selector: Answers) -> tuple[str, ...]:
    """The features that sets are made of."""
    check_is_fitted(selector, "cohorts_")
    return selector._book.measure.features


def missing_of(selector: Answers) -> NDArray[np.bool_]:
    """What each cohort never recorded, of shape (n_cohorts, n_features)."""
    check_is_fitted(selector, "cohorts_")
    return selector._book.measure.missing


def scores_of(selector: Answers, size: int | None) -> CompletedScores:
    """Scores of all sets of a size, those without the features to include among them."""
    check_is_fitted(selector, "cohorts_")
    return selector._scores_of(size)


def most_telling(selector: Answers) -> NDArray[np.float64]:
    """What a set that tells everything would score in each cohort."""
    if _measure(selector) == "r2":
        return np.ones(len(selector.cohorts_))
    return np.array([row["target_entropy"] for row in subgroup_rows(selector.cohorts_)])


def score_label(selector: Answers, longest: int = 30) -> str:
    """What a score is, with its unit, for an axis."""
    from misfeat.show.plot.canvas import shortened

    check_is_fitted(selector, "cohorts_")
    target = shortened(selector.cohorts_.target, longest)
    return SCORE_IS[_measure(selector)].format(target=target)


def one_subgroup(selector: Answers, subgroup: str | None) -> str:
    """The subgroup that a plot of a single one is about: the one named, or the only one."""
    check_is_fitted(selector, "cohorts_")
    names = selector.cohorts_.names
    if subgroup is None and len(names) == 1:
        return names[0]
    if subgroup is None:
        listed = ", ".join(map(repr, names))
        raise MisfeatError(
            f"This plot shows one subgroup; name it with subgroup=, one of {listed}."
        )
    selector.cohorts_.position(subgroup)
    return subgroup


def _measure(selector: Answers) -> str:
    return str(getattr(selector, "measure", "mutual_info"))
