"""What NumPy and scikit-learn take for the scores that a fit makes."""

from __future__ import annotations

import time
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import mutual_info_score

from misfeat.bench.workloads import TARGET
from misfeat.selector import SubgroupSelector

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from misfeat.bench.workloads import Workload

    Codes = NDArray[np.int64]

SAMPLED = 40
"""Sets that peers score; their time is scaled to all of them."""
TURNS = 3
"""Everyone is timed as often, in turns, and the best time counts."""
ESTIMATES = ("sample", "population")


def against_peers(load: Workload, n_jobs: int | None) -> dict[str, Any]:
    """Seconds of the scores of all sets, by peers, and of a fit and its scores, by misfeat.

    The table has one subgroup in which nothing is missing. ``times`` is by estimate how much faster
    misfeat is than each peer.

    Examples
    --------
    >>> from misfeat.bench.workloads import Workload
    >>> small = Workload(200, 5, 1, 2, hide=0.0, related=False)
    >>> sorted(against_peers(small, 1)["seconds"])
    ['np.bincount', 'population', 'sample', 'scikit-learn']
    """
    table = load.table()
    target = table[TARGET]
    codes = np.array([column for name, column in table.items() if name != TARGET])
    subsets = _sampled(load)
    scale = load.sets / len(subsets)

    def ours(estimate: str) -> None:
        selector = SubgroupSelector(size=load.size, estimate=estimate, n_jobs=n_jobs)
        selector.fit(table, TARGET).scores(size=load.size)

    def peer(score: Callable[[Codes, Codes], float]) -> None:
        for subset in subsets:
            score(_keys(codes, subset, load.values), target)

    ways: dict[str, Callable[[], None]] = {
        "scikit-learn": lambda: peer(mutual_info_score),
        "np.bincount": lambda: peer(_counted),
        **{estimate: partial(ours, estimate) for estimate in ESTIMATES},
    }
    best = dict.fromkeys(ways, float("inf"))
    for way in ESTIMATES:
        ways[way]()  # loads kernels
    for _ in range(TURNS):
        for way, run in ways.items():
            begun = time.perf_counter()
            run()
            best[way] = min(best[way], time.perf_counter() - begun)
    for way in ("scikit-learn", "np.bincount"):
        best[way] *= scale
    times = {
        way: {one: best[one] / best[way] for one in ("scikit-learn", "np.bincount")}
        for way in ESTIMATES
    }
    return {"seconds": best, "times": times}


def _sampled(load: Workload) -> list[tuple[int, ...]]:
    """Some of the sets, as many of every size as there are of it."""
    sets = [
        subset
        for size in range(1, load.size + 1)
        for subset in combinations(range(load.features), size)
    ]
    chosen = np.linspace(0, len(sets) - 1, min(SAMPLED, len(sets))).astype(int)
    return [sets[number] for number in chosen]


def _keys(codes: Codes, subset: tuple[int, ...], values: int) -> Codes:
    """The codes of a set as one number a row."""
    key: Codes = codes[subset[0]]
    for feature in subset[1:]:
        key = key * values + codes[feature]
    return key


def _counted(keys: Codes, target: Codes) -> float:
    """I(S; Y) = H(S) + H(Y) - H(S, Y) from counts of `np.bincount`."""
    n_classes = int(target.max()) + 1
    joint = np.bincount(keys * n_classes + target, minlength=(int(keys.max()) + 1) * n_classes)
    cells = joint.reshape(-1, n_classes)
    return _entropy(cells.sum(axis=1)) + _entropy(cells.sum(axis=0)) - _entropy(joint)


def _entropy(counts: Codes) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
