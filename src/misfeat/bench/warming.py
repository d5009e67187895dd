"""Every kernel that a run with default settings needs, compiled by small tables that need it.

A kernel is compiled once for every kind of data that it meets: tables of few and of many rows, of
two and of more classes, with numbers as targets, and wide ones are told apart. So that no list of
kernels has to be kept, the tables are answered for as those of users are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.bench.workloads import GROUPS, TARGET, Workload
from misfeat.cohorts.coding import Coding
from misfeat.datasets import load_heart
from misfeat.machine.compiling import compilations_counted
from misfeat.selector import SubgroupSelector

if TYPE_CHECKING:
    from collections.abc import Callable

    from misfeat.machine.progress import Progress

SMALL = Workload(800, 6, 2, 3, values=3)
LONG_ROWS = 140_000
"""More than 2**16 rows a subgroup: counts take 32 bits."""
FEW_SETS = 100
"""Wide tables are those of more sets than a limit, which is set low."""
HEART_COLUMNS = ("age", "cp", "thalach", "oldpeak", "ca", "thal")
"""Some of a table as it is found: enough for all of its kernels."""
WHAT = "Compiling kernels"


@dataclass(frozen=True)
class Warmed:
    """How many kernels a warm-up compiled, and the seconds that took."""

    kernels: int
    seconds: float


def warm_up(progress: Progress | None = None) -> Warmed:
    """Compile every kernel that a run with default settings needs; what is kept is only loaded."""
    with compilations_counted() as found:
        for done, (kind, answer) in enumerate(KINDS.items()):
            if progress is not None:
                progress(f"{WHAT}: {kind}", done, len(KINDS))
            answer()
    if progress is not None:
        progress(WHAT, len(KINDS), len(KINDS))
    return Warmed(found.count, found.seconds)


def _reported() -> None:
    """A table of subgroups, with all that its report tells."""
    _fitted(SMALL).report().html()


def _of_few_rows() -> None:
    """Fewer rows than cells: sets are searched row by row, and rows dealt one by one."""
    selector = _fitted(replace(SMALL, rows=200, values=7))
    _tested(selector)
    selector.features()
    heart = load_heart()
    table = {name: heart.columns[name] for name in (*HEART_COLUMNS, heart.groups, heart.target)}
    SubgroupSelector(heart.groups, random_state=0).fit(table, heart.target).report()


def _of_one_subgroup() -> None:
    """A table without subgroups, with its tests."""
    _tested(_fitted(replace(SMALL, subgroups=1, hide=0.0)))


def _of_classes() -> None:
    """A target of several classes."""
    _tested(_fitted(replace(SMALL, classes=5)))


def _long() -> None:
    """So many rows that they are counted in larger words."""
    _tested(_fitted(replace(SMALL, rows=LONG_ROWS, features=4)))


def _of_numbers() -> None:
    """A target of many values."""
    table = SMALL.table()
    noise = np.random.default_rng(0).normal(size=len(table[TARGET]))
    _tested(_fitted(SMALL, {**table, TARGET: table[TARGET] + noise}))


def _wide() -> None:
    """More sets than are scored."""
    load = replace(SMALL, features=20, size=2)
    _fitted(load, coding=Coding(max_sets=FEW_SETS))


def _large_sets() -> None:
    """Sets of five features, whose tables are fitted to those of their parts."""
    _fitted(replace(SMALL, rows=4_000, features=7, size=5))


def _fitted(load: Workload, table: Any = None, **settings: Any) -> SubgroupSelector:
    selector = SubgroupSelector(
        GROUPS if load.subgroups > 1 else None, size=load.size, random_state=0, **settings
    )
    return selector.fit(load.table() if table is None else table, TARGET)


def _tested(selector: SubgroupSelector) -> None:
    selector.significances()
    selector.enoughs()


KINDS: dict[str, Callable[[], None]] = {
    "answers and report": _reported,
    "few rows": _of_few_rows,
    "without subgroups": _of_one_subgroup,
    "several classes": _of_classes,
    "many rows": _long,
    "numbers as target": _of_numbers,
    "wide tables": _wide,
    "large sets": _large_sets,
}
"""What tables are answered for, by what is told of them."""
