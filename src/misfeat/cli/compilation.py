"""Compiling kernels: those of tests beside the first run, and all of them ahead of one.

Numba compiles one kernel at a time in a process, and a run needs those of its tests last, so that
another process compiles these meanwhile.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from misfeat.runtime.progress import Progress

KINDS: dict[str, dict[str, Any]] = {
    "answers and report": {"report": True},
    # Fewer rows than cells: sets are counted row by row.
    "few rows": {"n_rows": 100, "n_values": 7},
    "without subgroups": {"n_cohorts": 1, "hide": 0.0},
    "several classes": {"n_classes": 5},
    # More than 2**16 rows a subgroup: counts take 32 bits.
    "many rows": {"n_rows": 70_000, "n_features": 4},
    "numbers as target": {"numeric": True},
    # Wide tables are those of more sets than a limit, which is set low.
    "wide tables": {"n_features": 20, "size": 2, "max_sets": 100},
}
"""Generated tables, by what is special about each.

A kernel is compiled for every kind of data that it meets. So that no list of kernels has to be
kept, small tables of every kind are answered for as those of users are.
"""
COMPILING = "Compiling kernels"


@contextmanager
def compiled_beside() -> Iterator[None]:
    """Compile the kernels of tests in another process while the block runs, if that is worth it."""
    from joblib import effective_n_jobs

    from misfeat.information.kernels.permutation import score_permutations
    from misfeat.runtime.kernel_cache import is_kept

    if not sys.executable or is_kept(score_permutations) is not False or effective_n_jobs(-1) < 2:
        yield
        return
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-m", "misfeat.cli.compilation"]
    with subprocess.Popen(  # noqa: S603
        command, stdin=nowhere, stdout=nowhere, stderr=nowhere
    ) as process:
        try:
            yield
        finally:
            process.terminate()


def compile_tests() -> None:
    """Compile the kernels of permutation tests."""
    import numpy as np

    from misfeat.cohorts import build_cohorts
    from misfeat.datasets import make_cohorts
    from misfeat.estimation.significance import max_test
    from misfeat.information.permutation import permutations_of
    from misfeat.runtime.threads import Work

    data = make_cohorts(2, 60, 4, random_state=0)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    permuted = permutations_of(cohorts[cohorts.names[0]], 2, seed=np.random.SeedSequence(0))
    max_test(permuted, Work(1), permutations=9)


def compile_all(progress: Progress | None = None) -> tuple[int, float]:
    """Compile every kernel that a run with default settings needs, unless it is kept."""
    # Returns how many were compiled, and the seconds that took.
    from misfeat.datasets import load_heart
    from misfeat.runtime.kernel_cache import compilations_counted
    from misfeat.selector import SubgroupSelector

    with compilations_counted() as counted:
        for done, (kind, settings) in enumerate(KINDS.items()):
            if progress is not None:
                progress(f"{COMPILING}: {kind}", done, len(KINDS))
            _answer_for(**settings)
        # A table as it is found, of few rows and gaps.
        heart = load_heart()
        names = ("age", "cp", "thalach", "oldpeak", "ca", "thal", heart.groups, heart.target)
        table = {name: heart.columns[name] for name in names}
        SubgroupSelector(heart.groups, random_state=0).fit(table, heart.target).report()
    if progress is not None:
        progress(COMPILING, len(KINDS), len(KINDS))
    return counted.count, counted.seconds


def _answer_for(
    *,
    size: int = 3,
    max_sets: int | None = None,
    numeric: bool = False,
    report: bool = False,
    **settings: Any,
) -> None:
    """Fit to a generated table, and ask what a run asks."""
    import numpy as np

    from misfeat.cohorts.coding import Coding
    from misfeat.datasets import make_cohorts
    from misfeat.information import subset_sums
    from misfeat.selector import SubgroupSelector

    sizes = {"n_cohorts": 2, "n_rows": 400, "n_features": 6, "hide": 0.2, "random_state": 1}
    data = make_cohorts(**sizes | settings)
    table, groups = dict(data.columns), data.groups if settings.get("n_cohorts") != 1 else None
    if groups is None:
        del table[data.groups]
    if numeric:
        noise = np.random.default_rng(0).normal(size=len(table[data.target]))
        table[data.target] = table[data.target] + noise
    coding = Coding() if max_sets is None else Coding(max_sets=max_sets)
    selector = SubgroupSelector(groups, size=size, coding=coding, random_state=0)
    usual, subset_sums.SMALL = subset_sums.SMALL, 0  # the kernels of large tables first
    try:
        selector.fit(table, data.target)
    finally:
        subset_sums.SMALL = usual
    selector.fit(table, data.target)
    if max_sets is not None:
        return
    selector.significance()
    selector.enough()
    selector.features()
    if report:
        selector.report().html()


if __name__ == "__main__":
    compile_tests()
