"""Which features are kept: those of the best sets of every ranking, in turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.screening.ranking import POOLED, TOGETHER, TOTAL, in_turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from misfeat.screening.ranking import Ranking

BEST = 20
"""Sets of every ranking whose features are kept before all others."""


def features_to_keep(
    rankings: Sequence[Ranking], most: int, include: Iterable[int] = ()
) -> list[int]:
    """The numbers of the features that are kept, ascending, and at most so many but for `include`.

    The features of the sets that tell most come first, up to half of the places. Then come those
    that no chance explains: features that tell alone, and sets that tell beyond their parts. What
    places are left go to the next best of the same in all cohorts together, whose rankings come
    before others.
    """
    kept = dict.fromkeys(include)
    alone = [one for one in rankings if one.size == 1]
    telling = [one.sets[:BEST] for one in rankings if one.kind == TOTAL]
    _add(kept, in_turns(telling), max(len(kept), most // 2))
    together = [one for one in rankings if one.kind == TOGETHER]
    _add(kept, in_turns(one.clear for one in (*alone, *together)), most)
    pooled = [one.sets for one in (*alone, *together) if one.cohort == POOLED]
    _add(kept, in_turns(pooled), most)
    return sorted(kept)


def telling_features(rankings: Sequence[Ranking]) -> set[int]:
    """The features that tell, alone or in a set that tells beyond its parts, more than chance."""
    clear = [one.clear for one in rankings if one.size == 1 or one.kind == TOGETHER]
    return {feature for sets in clear for feature in sets.ravel().tolist()}


def _add(kept: dict[int, None], sets: Iterable[tuple[int, ...]], most: int) -> None:
    """Add the features of sets, of each all or none, as long as there are places."""
    for members in sets:
        if len(kept) >= most:
            return
        new = [feature for feature in members if feature not in kept]
        if len(kept) + len(new) <= most:
            kept.update(dict.fromkeys(new))
