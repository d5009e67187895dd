"""What was asked of a table, and the checks of what a question names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.features import check_names
from misfeat.exceptions import InPython, MisfeatError, Setting, listed

if TYPE_CHECKING:
    from misfeat.cohorts import Cohorts

MOST_LEFT_OUT = 10
"""So many columns that were left out are named in a message."""


@dataclass(frozen=True)
class Asked:
    """What was asked for at fit, names and sizes checked.

    Every set holds the features to `include`; `blocks` are features that enter sets together, by
    the name they go under. Answers come in the dataframe library `backend`, by default any
    installed one. `settings` are the parameters that were not left at their defaults, as Python
    would write them.
    """

    size: int
    k: int
    include: tuple[str, ...] = ()
    blocks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seed: int | None = None
    backend: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


def check_size(size: int, features: Sequence[str], cohorts: Cohorts) -> None:
    """Raise where there is no feature, or sets would be larger than all of them."""
    check_features(features, cohorts)
    if size > len(features):
        raise MisfeatError(
            "{size} is larger than the number of features ({count}): {names}.",
            remedy="Lower {lowered}.",
            size=Setting("size", size),
            count=InPython(f"n_features = {len(features)}", str(len(features))),
            names=listed(features),
            lowered=Setting("size"),
        )


def check_features(features: Sequence[str], cohorts: Cohorts) -> None:
    """Raise where no column of a table is a feature, and say what became of them."""
    if features:
        return
    left = [audit for audit in cohorts.columns if audit.role == "left out"]
    reasons = "; ".join(f"{audit.column!r}: {audit.treatment}" for audit in left[:MOST_LEFT_OUT])
    more = len(left) - MOST_LEFT_OUT
    rows = int(cohorts.weights.sum())
    raise MisfeatError(
        "The table has no feature to score ({rows}). {why}{more}; add columns that "
        "may tell about the target.",
        rows=InPython(f"n_samples = {rows}", f"{rows:,} rows"),
        why=f"Left out: {reasons}" if left else "It has only the target and group columns",
        more=f" and {more:,} more" if more > 0 else "",
    )


def check_set(features: Sequence[str]) -> tuple[str, ...]:
    """The names of a set's features; raises where there are none, or one is named twice."""
    names = check_names(features, "features")
    if not names:
        raise MisfeatError(
            "{setting}; name at least one feature.", setting=Setting("features", features)
        )
    if not isinstance(features, str) and len(names) < len(features):
        repeated = next(n for place, n in enumerate(features) if n in list(features)[:place])
        raise MisfeatError(
            "{setting} names {column!r} twice; name it once.",
            setting=Setting("features"),
            column=str(repeated),
        )
    return names


def check_costs(costs: Mapping[str, float] | None) -> dict[str, float]:
    """What recording features costs; raises where a cost is no positive, finite number."""
    if costs is None:
        return {}
    if not isinstance(costs, Mapping):
        raise MisfeatError(
            "{setting}; it must map features to what recording them costs, such as {example}.",
            setting=Setting("costs", costs),
            example="{'mri': 400}",
        )
    for column, cost in costs.items():
        number = isinstance(cost, int | float | np.number) and not isinstance(cost, bool)
        if not number or not 0 < cost < np.inf:
            raise MisfeatError(
                "{setting}; it must be above 0, and finite.",
                setting=Setting("costs", cost, column=str(column)),
            )
    return dict(costs)
