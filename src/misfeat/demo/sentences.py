"""What a person would say of the answers: what to measure where, and what to take with care."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.cohorts import Cohorts
    from misfeat.collecting import Worth
    from misfeat.selector import SubgroupSelector

WORTH_SAYING = 0.01
"""A rise by less than this share of the best recorded score is not worth a sentence."""
FEW_CASES = 50
"""Rows of the rarer class below which a cohort's sets are to be taken with care."""


def worth_measuring(selector: SubgroupSelector) -> Iterator[str]:
    """What each subgroup would gain most by recording, then where there is hardly any gain."""
    confidence = getattr(selector.completer_, "confidence", None)
    little: dict[str, list[str]] = {}
    for worth in selector.worths():
        if worth.rank == 1:
            before = _best_recorded(selector, worth.subgroup)
            if worth.gain > WORTH_SAYING * before:
                yield _rise(worth, before, selector.cohorts_.target, confidence)
            else:
                little.setdefault(worth.feature, []).append(worth.subgroup)
    if little:
        named = "; ".join(f"{feature} in {', '.join(where)}" for feature, where in little.items())
        yield f"Hardly worth recording, though the best of what was not: {named}."


def few_cases(cohorts: Cohorts) -> Iterator[str]:
    """A caution where a class of the target is rare."""
    rare = {name: _rarest(cohorts, name) for name in cohorts.names}
    counts = [f"{name} ({count})" for name, count in rare.items() if count < FEW_CASES]
    if counts:
        yield (f"Few cases of {cohorts.target}, so take the sets with care: {', '.join(counts)}.")


def _rise(worth: Worth, before: float, target: str, confidence: float | None) -> str:
    """One sentence.

    Examples
    --------
    >>> from misfeat.collecting import Worth
    >>> worth = Worth("site=b", "mri", 1, 0.02, 0.0, 0.05, ("age", "mri"), 0.01, "joint")
    >>> _rise(worth, 0.1, "ill", 0.9)
    'site=b: mri would be most worth recording. The best set, likely age and mri, is then expected to tell 20 % more about ill than the best recorded one (by 0.020 nats; 90 % interval: nothing to 0.050).'
    """  # noqa: E501
    share = f"{worth.gain / before * 100:.0f} %" if before > 0 else "something"
    interval = "bounds" if confidence is None else f"{confidence * 100:.0f} % interval"
    return (
        f"{worth.subgroup}: {worth.feature} would be most worth recording. The best set, likely "
        f"{_listed(worth.best_set)}, is then expected to tell {share} more about {target} than the "
        f"best recorded one (by {_nats(worth.gain)} nats; {interval}: {_nats(worth.low)} to "
        f"{_nats(worth.high)})."
    )


def _nats(rise: float) -> str:
    return f"{rise:.3f}" if round(rise, 3) > 0 else "nothing"


def _listed(names: tuple[str, ...]) -> str:
    """Names as a person lists them.

    Examples
    --------
    >>> _listed(("a",)), _listed(("a", "b")), _listed(("a", "b", "c"))
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _best_recorded(selector: SubgroupSelector, subgroup: str) -> float:
    """The score of the best set that a subgroup recorded in full."""
    every = comb(len(selector.cohorts_.features), selector.size)
    sets = selector.best_sets(subgroup=subgroup, k=every)
    return max((one.score for one in sets if not one.missing), default=0.0)


def _rarest(cohorts: Cohorts, name: str) -> int:
    """Rows of the rarest class in a cohort."""
    cohort = cohorts[name]
    counts = np.bincount(cohort.target, weights=cohort.weights, minlength=cohort.n_classes)
    return int(counts.min())
