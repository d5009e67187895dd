"""What plots ask of a selection, or of the estimator that holds one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.exceptions import shortened as shown_value
from misfeat.selection.ranking import subgroup_rows
from misfeat.selection.selection import Selection
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
    if selection.book.measure.name == "r2":
        return np.ones(len(selection.cohorts))
    return np.array([row["target_entropy"] for row in subgroup_rows(selection.cohorts)])


def score_label(selection: Selection, longest: int = 30) -> str:
    """What a score is, with its unit, for an axis."""
    measure, target = selection.book.measure, shortened(selection.cohorts.target, longest)
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
    selection.cohorts.position(subgroup)
    return subgroup
