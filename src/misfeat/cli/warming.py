"""Every kernel that a run with default settings needs, compiled by small tables that need it.

A kernel is compiled once for every kind of data that it meets: tables of few and of many rows, of
two and of more classes, with numbers as targets, and wide ones are told apart. So that no list of
kernels has to be kept, the tables are answered for as those of users are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.answers.enough import enough_features
from misfeat.answers.significance import significance_tests
from misfeat.cohorts.coding import Coding
from misfeat.datasets import load_heart, make_cohorts
from misfeat.runtime.compilation import compilations_counted
from misfeat.selector import SubgroupSelector

if TYPE_CHECKING:
    from collections.abc import Callable

    from misfeat.runtime.progress import Progress

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
    _fitted().report().html()


def _of_few_rows() -> None:
    """Fewer rows than cells: sets are searched row by row, and rows dealt one by one."""
    selector = _fitted(rows=200, values=7)
    _tested(selector)
    selector.features()
    heart = load_heart()
    table = {name: heart.columns[name] for name in (*HEART_COLUMNS, heart.groups, heart.target)}
    SubgroupSelector(heart.groups, random_state=0).fit(table, heart.target).report()


def _of_one_subgroup() -> None:
    """A table without subgroups, with its tests."""
    _tested(_fitted(subgroups=1, hide=0.0))


def _of_classes() -> None:
    """A target of several classes."""
    _tested(_fitted(classes=5))


def _long() -> None:
    """So many rows that they are counted in larger words."""
    _tested(_fitted(rows=LONG_ROWS, features=4))


def _of_numbers() -> None:
    """A target of many values."""
    _tested(_fitted(numeric=True))


def _wide() -> None:
    """More sets than are scored."""
    _fitted(features=20, size=2, coding=Coding(max_sets=FEW_SETS))


def _fitted(
    *,
    rows: int = 800,
    features: int = 6,
    subgroups: int = 2,
    size: int = 3,
    values: int = 3,
    classes: int = 2,
    hide: float = 0.2,
    numeric: bool = False,
    coding: Coding | None = None,
) -> SubgroupSelector:
    """Fit to a generated table; `rows` are those of all subgroups together."""
    made = make_cohorts(
        subgroups,
        rows // subgroups,
        features,
        n_values=values,
        n_classes=classes,
        hide=hide,
        random_state=1,
    )
    table = dict(made.columns)
    if subgroups == 1:
        del table[made.groups]
    if numeric:
        table[made.target] = table[made.target] + np.random.default_rng(0).normal(size=rows)
    groups = made.groups if subgroups > 1 else None
    selector = SubgroupSelector(groups, size=size, coding=coding, random_state=0)
    return selector.fit(table, made.target)


def _tested(selector: SubgroupSelector) -> None:
    significance_tests(selector.selection_)
    enough_features(selector.selection_)


KINDS: dict[str, Callable[[], None]] = {
    "answers and report": _reported,
    "few rows": _of_few_rows,
    "without subgroups": _of_one_subgroup,
    "several classes": _of_classes,
    "many rows": _long,
    "numbers as target": _of_numbers,
    "wide tables": _wide,
}
"""What tables are answered for, by what is told of them."""
