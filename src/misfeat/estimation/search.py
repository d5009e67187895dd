"""Sets of any size without scoring all of them: forward search, then exchanges.

See docs/how_to/wide.md and docs/explanation/population.md, step 11. Interactions that were found
(see `interaction_search`) are taken where they add more per feature than the best one.
`search_sets` follows paths from several starts, and at the end of each exchanges single features.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from misfeat.runtime.array_types import Floats, Integers

Set = tuple[int, ...]
Score = Callable[[Integers], Floats]

STARTS = 2  # paths that begin with one of the best single features
INTERACTION_STARTS = 3  # paths that begin with one of the interactions that explain most
EXCHANGES = 30  # exchanges of one feature after a path, at most


def search_sets(
    score: Score,
    features: Sequence[int],
    size: int,
    together: Iterable[Set] = (),
    include: Sequence[int] = (),
    keep: int = 50,
) -> Integers:
    """The best sets of a size that a search finds, best first, of shape (n_sets, size)."""
    allowed = set(features) | set(include)
    groups = [members for members in together if set(members) <= allowed]
    seen: dict[Set, float] = {}

    def remembered(sets: Integers) -> Floats:
        members = list(map(tuple, sets.tolist()))
        new = [index for index, features in enumerate(members) if features not in seen]
        if new:
            scores = score(sets[new]).tolist()
            seen.update(zip([members[index] for index in new], scores, strict=True))
        return np.array([seen[features] for features in members])

    for start in _starts(remembered, sorted(allowed), size, groups, include):
        chosen = forward_path(remembered, sorted(allowed), size, groups, start)
        _exchange(remembered, chosen, sorted(allowed - set(chosen)), set(include))
    whole = [members for members in seen if len(members) == size]
    best = sorted(whole, key=lambda members: (-seen[members], members))
    return np.array(best[:keep], dtype=np.int64).reshape(-1, size)


def _starts(
    score: Score,
    features: Sequence[int],
    size: int,
    together: Sequence[Set],
    include: Sequence[int],
) -> list[list[int]]:
    """What paths begin with: nothing, the next best single features, the best interactions."""
    starts = [list(include)]
    left = [f for f in features if f not in include]
    if left and len(include) < size:
        alone = score(_sets([[*include, f] for f in left]))
        best = np.argsort(-alone, kind="stable")[1:STARTS]
        starts += [[*include, left[place]] for place in best]
    rests = {tuple(f for f in members if f not in include) for members in together}
    fitting = sorted(rest for rest in rests if 1 < len(rest) <= size - len(include))
    value = {rest: float(score(_sets([[*include, *rest]]))[0]) / len(rest) for rest in fitting}
    best_first = sorted(fitting, key=lambda rest: -value[rest])[:INTERACTION_STARTS]
    return [*starts, *([*include, *rest] for rest in best_first)]


def _exchange(score: Score, chosen: list[int], others: list[int], fixed: set[int]) -> None:
    """Exchange single features of a set, each time for the best, as long as its score rises."""
    reached = float(score(_sets([chosen]))[0])
    for _ in range(EXCHANGES):
        swaps = [(out, new) for out in chosen if out not in fixed for new in others]
        if not swaps:
            return
        scores = score(_sets([[new if f == out else f for f in chosen] for out, new in swaps]))
        place = int(np.argmax(scores))
        if scores[place] <= reached:
            return
        out, new = swaps[place]
        reached = float(scores[place])
        chosen[chosen.index(out)] = new
        others[others.index(new)] = out


def forward_path(
    score: Score,
    features: Sequence[int],
    most: int,
    together: Sequence[Set] = (),
    start: Sequence[int] = (),
) -> list[int]:
    """Up to `most` features in the order in which they add most; groups are offered whole."""
    chosen, alone = list(start), score(_sets([[f] for f in features]))
    features = [features[place] for place in np.argsort(-alone, kind="stable")]  # the first of ties
    most = min(most, len(features))
    reached = float(score(_sets([chosen]))[0]) if chosen else 0.0
    while len(chosen) < most:
        # Single features, and what is left of interactions.
        rests = (tuple(f for f in members if f not in chosen) for members in together)
        several = [rest for rest in rests if 1 < len(rest) <= most - len(chosen)]
        offers: list[Set] = [(f,) for f in features if f not in chosen]
        offers += dict.fromkeys(several)
        best, best_gain = offers[0], -np.inf
        for size in sorted({len(offer) for offer in offers}):
            of_size = [offer for offer in offers if len(offer) == size]
            gains = (score(_sets([[*chosen, *offer] for offer in of_size])) - reached) / size
            place = int(np.argmax(gains))
            if gains[place] > best_gain:
                best, best_gain = of_size[place], float(gains[place])
        reached += best_gain * len(best)
        if len(best) > 1:  # the one that adds most by itself first
            alone = score(_sets([[*chosen, f] for f in best]))
            best = tuple(best[index] for index in np.argsort(-alone, kind="stable"))
        chosen += best
    return chosen


def _sets(members: Sequence[Sequence[int]]) -> Integers:
    return np.sort(np.array(members, dtype=np.int64), axis=1)
