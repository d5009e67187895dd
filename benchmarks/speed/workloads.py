"""The generated tables that speed is measured on, and what peers take for the same scores."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import mutual_info_score

from misfeat.datasets import make_cohorts
from misfeat.selector import SubgroupSelector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Columns = dict[str, NDArray[Any]]
    from collections.abc import Callable
    from typing import Any

    Codes = NDArray[np.int64]

TARGET, GROUPS = "target", "cohort"
ENOUGH_ROWS = 1000
"""Rows of a subgroup from which on sets are scored as those of larger ones are."""


@dataclass(frozen=True)
class Workload:
    """A generated table, and what is asked of it.

    `rows` are those of all subgroups together, and `hide` is the share of the features that a
    subgroup never recorded. Where features are not `related`, all columns are drawn evenly, which
    leaves no two rows alike. Without `report` it is a fit and its best sets; with `peers`, NumPy
    and scikit-learn score the same sets. `seconds` and `gib` are what it may take at most on two
    cores.
    """

    rows: int
    features: int
    subgroups: int
    size: int
    values: int = 5
    classes: int = 2
    hide: float = 0.2
    related: bool = True
    report: bool = True
    peers: bool = False
    seconds: float | None = None
    gib: float | None = None

    @property
    def sets(self) -> int:
        """How many sets have at most `size` features."""
        return sum(comb(self.features, m) for m in range(1, self.size + 1))

    @property
    def groups(self) -> str | None:
        """The column of the subgroups, where there are several."""
        return GROUPS if self.subgroups > 1 else None

    def table(self, seed: int = 1) -> Columns:
        """Draw the rows."""
        if not self.related:
            return self._even(np.random.default_rng(seed))
        made = make_cohorts(
            self.subgroups,
            self.rows // self.subgroups,
            self.features,
            n_values=self.values,
            n_classes=self.classes,
            hide=self.hide,
            group=GROUPS,
            target=TARGET,
            random_state=seed,
        )
        return made.columns if self.subgroups > 1 else _without_groups(made.columns)

    def _even(self, rng: np.random.Generator) -> Columns:
        codes = rng.integers(self.values, size=(self.features, self.rows))
        table = {f"f{number}": column for number, column in enumerate(codes, 1)}
        return {**table, TARGET: rng.integers(self.classes, size=self.rows)}

    def small(self) -> Workload:
        """The same with few rows and features, for which the same kernels are needed."""
        return Workload(
            rows=min(self.rows // self.subgroups, ENOUGH_ROWS) * min(self.subgroups, 4),
            features=min(self.features, self.size + 2),
            subgroups=min(self.subgroups, 4),
            size=self.size,
            values=self.values,
            classes=self.classes,
            hide=self.hide,
            related=self.related,
            report=self.report,
        )


def _without_groups(columns: Columns) -> Columns:
    return {name: column for name, column in columns.items() if name != GROUPS}


A = Workload(12_500, 15, 1, 5, 4, 4, hide=0.0, related=False, report=False, peers=True)
QUICK = {
    "A": A,
    "heart": Workload(920, 13, 4, 3, values=3),
    "wide": Workload(6_000, 60, 6, 2),
    "long": Workload(200_000, 15, 8, 2, report=False),
}
"""All of it takes less than a minute on two cores, once kernels are compiled."""
FULL = {
    "A": A,
    "heart": QUICK["heart"],
    "wide3": Workload(20_000, 50, 12, 3, seconds=60, gib=4),
    "wide2": Workload(20_000, 300, 8, 2, seconds=60, gib=4),
    "wide4": Workload(20_000, 60, 8, 4, values=3, seconds=300, gib=4),
    "long": Workload(1_000_000, 40, 8, 2, report=False),
}


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
    >>> from benchmarks.speed.workloads import Workload
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
