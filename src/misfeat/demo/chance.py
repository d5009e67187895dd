"""What only looked telling: the set that falls furthest from what its own rows say."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from misfeat.exceptions import Message
from misfeat.words.names import joined
from misfeat.words.numbers import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.selection.ranking import ScoredSet
    from misfeat.selection.selection import Selection


def mostly_chance(selection: Selection) -> Iterator[Message]:
    """Of the sets that look best in a subgroup's own rows, the one that falls furthest.

    Nothing is said where at least half of what it seems to tell holds.
    """
    every = comb(len(selection.feature_names), selection.size)
    fallen: list[ScoredSet] = []
    for name in selection.subgroup_names():
        sets = selection.best_sets(k=every, subgroup=name)
        seen = [one for one in sets if one.source == "recorded"]
        if seen:
            fallen.append(max(seen, key=lambda one: one.observed or 0.0))
    furthest = max(fallen, key=lambda one: one.rank or 0, default=None)
    if furthest is not None and 0 < furthest.score < (furthest.observed or 0.0) / 2:
        yield _fall(furthest, every)


def _fall(one: ScoredSet, every: int) -> Message:
    """One sentence.

    Examples
    --------
    >>> from misfeat.selection.ranking import ScoredSet
    >>> score, seen = (0.01, 0.0, 0.02, 0.1), (0.05, None)
    >>> seen = ScoredSet("site=b", 7, ("age", "sex"), *score, *seen, "recorded", (), "own rows")
    >>> _fall(seen, 28)
    'site=b: by its own rows alone, age and sex would look best, with 50 % of what there is to tell. Little of that is expected to hold in the population: 10 %, number 7 of 28 sets.'
    """  # noqa: E501
    observed, whole = one.observed or 0.0, one.score / one.share
    between = one.low / whole, one.high / whole
    return Message(
        "{subgroup}: by its own rows alone, {names} would look best, with {seen} of what there is "
        "to tell. Little of that is expected to hold in the population: {share}, number "
        "{rank:,} of {every:,} sets.",
        subgroup=one.subgroup,
        names=joined(one.features),
        seen=Message(percent(observed / whole, *between)),
        share=Message(percent(one.share, *between)),
        rank=one.rank,
        every=every,
    )
