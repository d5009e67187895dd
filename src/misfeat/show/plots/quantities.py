"""What plots take from a selection: shares, their labels, p-values, and the subgroup to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.exceptions import shortened as shown_value
from misfeat.selection import Selection
from misfeat.show.plots import canvas

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Fitted(Protocol):
    """An estimator that keeps its selection."""

    selection_: Selection


def selection_of(selected: Fitted | Selection) -> Selection:
    """The selection itself, or that of a fitted estimator."""
    if isinstance(selected, Selection):
        return selected
    if not hasattr(selected, "fit"):
        raise MisfeatError(
            "A plot shows a fitted SubgroupSelector or a Selection, not {value}.",
            value=shown_value(selected),
        )
    check_is_fitted(selected, "selection_")
    return selected.selection_


def as_shares(selection: Selection, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of shape (n_cohorts, n_sets) over the entropy of the target; 0 where that is 0."""
    whole = selection.set_scores.measure.whole
    return scores / np.where(whole > 0, whole, 1.0)[:, None]


def share_label(selection: Selection, longest: int = 30) -> str:
    """What a share is of, for an axis; R² is one already."""
    measure = selection.set_scores.measure
    target = canvas.shortened(selection.cohorts.target, longest)
    if measure.name == "r2":
        return f"{measure.words} with {target}"
    return f"share of what there is to tell about {target}"


def interval_words(selection: Selection) -> str:
    """What an interval is called."""
    sure = selection.confidence
    return "certain bounds" if sure is None else f"{100 * sure:.0f} % interval"


def no_best_set(selection: Selection, subgroup: str) -> MisfeatError:
    """The error for a plot of best sets where there are none."""
    return MisfeatError(
        "The target {column!r} has a single value in {subgroup!r}, so that there is no best set "
        "to show; choose another subgroup.",
        column=selection.cohorts.target,
        subgroup=subgroup,
    )


def one_subgroup(selection: Selection, subgroup: str | None) -> str:
    """The subgroup that a plot of a single one is about: the one named, or the only one."""
    names = selection.cohorts.names
    if subgroup is None and len(names) == 1:
        return names[0]
    if subgroup is None:
        raise MisfeatError(
            "This plot shows one subgroup; name it with {setting}, one of {names}.",
            setting=Setting("subgroup"),
            names=listed(names),
        )
    return selection.cohorts.full_name(subgroup)


def significance_of(
    selection: Selection, size: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
    """P-values of all sets of a size, NaN where not recorded, and which are not significant.

    Of shape (n_cohorts, n_sets); None before `significance` was asked. In a subgroup that is not
    significant as a whole, adjusted for the others, no set is.
    """
    tests = selection.known_tests
    p = None if tests is None else tests.p_values.get(size)
    if tests is None or p is None:
        return None
    nothing = np.array([not one.more_than_chance for one in tests.subgroups])
    return p, np.isfinite(p) & ((p > tests.level) | nothing[:, None])


def chance_words(selection: Selection) -> str:
    """What being faded says: not more than chance, or than what a feature tells anyway."""
    tests = selection.known_tests
    within = None if tests is None else tests.within
    beyond = "" if within is None else f" within {canvas.shortened(within, 16)}"
    return f"not more than chance{beyond}"
