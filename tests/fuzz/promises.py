"""What holds of every answer, whatever was asked of whatever table."""

import math
from collections.abc import Sequence

import numpy as np

from misfeat import SubgroupSelector
from misfeat.answers.top_sets import ScoredSet

ALL = 10**6
"""More sets than any drawn table has."""
ROUNDING = 1e-9
"""Scores (nats) that were summed in another order may differ by so much."""


class BrokenPromiseError(AssertionError):
    """An answer that may not be."""


def hold(condition: bool, what: str, *about: object) -> None:
    """Raise unless a promise was kept."""
    if not condition:
        raise BrokenPromiseError(f"{what}: {', '.join(map(repr, about))}")


def sets_of(selector: SubgroupSelector, size: int | None = None) -> list[ScoredSet]:
    """Every set of a size, best first, also those that `best_sets` does not list."""
    from misfeat.answers.top_sets import TIED_DECIMALS, ScoredSet, all_scores

    columns, sets = all_scores(selector.selection_, size), []
    columns["observed"] = [None if math.isnan(one) else one for one in columns["observed"]]
    columns["p_value"] = [None] * len(columns["score"])  # known once they were tested
    lines = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    for name in selector.cohorts_.names:
        own = [line for line in lines if line["subgroup"] == name]
        own.sort(key=lambda line: -np.round(line["score"], TIED_DECIMALS))
        sets += [ScoredSet(rank=rank, **line) for rank, line in enumerate(own, start=1)]
    return sets


def check_sets(selector: SubgroupSelector, size: int | None = None) -> list[ScoredSet]:
    """Scores are finite, within what there is to tell, and within their intervals."""
    measure, names = selector.selection_.set_scores.measure, selector.cohorts_.names
    most = dict(zip(names, measure.ceiling.tolist(), strict=True))
    whole = measure.whole
    hold(bool(np.isfinite(whole).all() and (whole >= 0).all()), "entropy >= 0", whole.tolist())
    sets = sets_of(selector, size)
    for one in sets:
        highest = most[one.subgroup]
        hold(all(map(math.isfinite, (one.score, one.low, one.high, one.share))), "finite", one)
        hold(0 <= one.score <= highest, "0 <= score <= entropy", one, highest)
        hold(0 <= one.low <= one.score <= one.high <= highest, "low <= score <= high", one, highest)
        if one.observed is not None:
            hold(0 <= one.observed <= highest, "0 <= observed <= entropy", one, highest)
    return sets


def check_same(first: Sequence[ScoredSet], second: Sequence[ScoredSet], what: str) -> None:
    """Two answers are the same to the last bit."""
    for one, other in zip(first, second, strict=False):
        hold(one == other, what, one, other)
    hold(len(first) == len(second), what, len(first), len(second))


def check_alike(first: Sequence[ScoredSet], second: Sequence[ScoredSet], *names: str) -> None:
    """Some attributes of two answers are the same but for rounding and the order of columns."""
    others = {(one.subgroup, frozenset(one.features)): one for one in second}
    hold(len(first) == len(second), "every set", len(first), len(second))
    for one in first:
        other = others[one.subgroup, frozenset(one.features)]
        hold(one.source == other.source, "one source", one, other)
        for name in names:
            value, own = getattr(one, name), getattr(other, name)
            close = value == own or (None not in (value, own) and abs(value - own) <= ROUNDING)
            hold(close, name, one, other)
