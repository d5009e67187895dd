"""Sets of any size by forward search: the feature that adds most, one after the other.

A pair or triple that explains only together adds nothing feature by feature. Interactions that were
found (`interactions`) are therefore offered whole, and taken where they add more per feature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Set = tuple[int, ...]
    Score = Callable[[NDArray[np.int64]], Floats]


def forward_path(
    score: Score,
    n_features: int,
    most: int,
    together: Iterable[Set] = (),
    start: Sequence[int] = (),
) -> list[int]:
    """Features in the order in which they add most.

    Parameters
    ----------
    score : callable
        From sets of one size, an array of shape (n_sets, size) of ascending feature numbers, to
        their scores.
    n_features : int
        How many features there are.
    most : int
        Features to choose.
    together : iterable of tuple of int
        Features that explain something together, offered as a whole.
    start : sequence of int
        Features that come first, whatever they add.

    Examples
    --------
    Two features explain something together alone, a third a little by itself:

    >>> def score(sets):
    ...     return np.array([({0, 1} <= set(s)) + 0.1 * (2 in s) for s in sets.tolist()])
    >>> forward_path(score, 3, 3)
    [2, 0, 1]
    >>> forward_path(score, 3, 3, together=[(0, 1)])
    [0, 1, 2]
    """
    chosen = list(start)
    together = [tuple(members) for members in together]
    reached = float(score(_sets([chosen]))[0]) if chosen else 0.0
    while len(chosen) < min(most, n_features):
        offers = _offers(chosen, n_features, together, min(most, n_features) - len(chosen))
        best, best_gain = offers[0], -np.inf
        for size in sorted({len(offer) for offer in offers}):
            of_size = [offer for offer in offers if len(offer) == size]
            gains = (score(_sets([[*chosen, *offer] for offer in of_size])) - reached) / size
            place = int(np.argmax(gains))
            if gains[place] > best_gain:
                best, best_gain = of_size[place], float(gains[place])
        reached += best_gain * len(best)
        chosen += _ordered(score, chosen, best)
    return chosen


def _offers(
    chosen: Sequence[int], n_features: int, together: Sequence[Set], left: int
) -> list[Set]:
    """Single features, and what is left of interactions, that may be added."""
    offers: list[Set] = [(f,) for f in range(n_features) if f not in chosen]
    for members in together:
        rest = tuple(f for f in members if f not in chosen)
        if 1 < len(rest) <= left and rest not in offers:
            offers.append(rest)
    return offers


def _ordered(score: Score, chosen: Sequence[int], added: Set) -> list[int]:
    """Features that are added together, the one that adds most by itself first."""
    alone = score(_sets([[*chosen, f] for f in added]))
    return [added[place] for place in np.argsort(-alone, kind="stable")]


def _sets(members: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.sort(np.array(members, dtype=np.int64), axis=1)
