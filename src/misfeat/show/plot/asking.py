"""What plots ask of a selection, or of the estimator that holds one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.exceptions import shortened as shown_value
from misfeat.selection import Selection
from misfeat.show.plot.canvas import shortened

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Fitted(Protocol):
    """An estimator that keeps what it found as a selection."""

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


def most_telling(selection: Selection) -> NDArray[np.float64]:
    """What a set that tells everything would score in each subgroup."""
    return selection.set_scores.measure.whole


def as_shares(selection: Selection, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of shape (n_cohorts, n_sets) over what there is to tell; 0 where that is nothing."""
    most = most_telling(selection)
    return scores / np.where(most > 0, most, 1.0)[:, None]


def share_label(selection: Selection, longest: int = 30) -> str:
    """What a share is of, for an axis."""
    return f"share of what there is to tell about {shortened(selection.cohorts.target, longest)}"


def told_label(selection: Selection, relative: bool, longest: int = 30) -> str:
    """What an axis shows: shares of what there is to tell, or scores."""
    if relative and selection.set_scores.measure.name != "r2":
        return share_label(selection, longest)
    return score_label(selection, longest)


def whole_of(selection: Selection, subgroup: str, relative: bool) -> float:
    """What scores of a subgroup are divided by to be shares; 1 where they are not to be."""
    whole = float(most_telling(selection)[selection.cohorts.position(subgroup)])
    return whole if relative and whole > 0 else 1.0


def interval_words(selection: Selection) -> str:
    """What an interval is called."""
    sure = selection.confidence
    return "certain bounds" if sure is None else f"{100 * sure:.0f} % interval"


def score_label(selection: Selection, longest: int = 30) -> str:
    """What a score is, with its unit, for an axis."""
    measure, target = selection.set_scores.measure, shortened(selection.cohorts.target, longest)
    unit = "" if measure.name == "r2" else f" ({measure.unit})"
    return f"{measure.words} with {target}{unit}"


def nothing_to_tell(selection: Selection, subgroup: str | None = None) -> MisfeatError:
    """The error for a plot of best sets where there are none."""
    return MisfeatError(
        "The target {column!r} has a single value in {where}, so that there is no best set to "
        "show; choose another {kind}.",
        column=selection.cohorts.target,
        where="every subgroup" if subgroup is None else repr(subgroup),
        kind="target" if subgroup is None else "subgroup",
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


def p_values(selection: Selection, size: int) -> NDArray[np.float64] | None:
    """The p-values of all sets of a size; None where `significance` was not asked for it.

    Of shape (n_cohorts, n_sets), NaN where a subgroup did not record a set.
    """
    tests = selection.known_tests
    return None if tests is None else tests.p_values.get(size)


def no_more_than_chance(selection: Selection, size: int) -> NDArray[np.bool_]:
    """Which sets of a size were tested, and found to tell no more than chance.

    A subgroup in which nothing tells, counted with all others, has no set that does.

    Of shape (n_cohorts, n_sets), False where it was not asked.
    """
    tests, found = selection.known_tests, p_values(selection, size)
    if tests is None or found is None:
        return np.zeros(selection.completed(size).score.shape, dtype=bool)
    level = tests.level
    nothing = np.array([not one.more_than_chance for one in tests.subgroups])
    tells_nothing: NDArray[np.bool_] = (found > level) | nothing[:, None]
    return np.isfinite(found) & tells_nothing


def chance_words(selection: Selection) -> str:
    """What being faded says: not more than chance, or than what a feature tells anyway."""
    tests = selection.known_tests
    within = None if tests is None else tests.within
    beyond = "" if within is None else f" within {shortened(within, 16)}"
    return f"not more than chance{beyond}"
