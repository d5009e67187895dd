"""Compiling on two cores: kernels of predictions and tests in a process beside the one that scores.

Numba compiles one kernel at a time in a process. The first run after an installation starts a
second process that makes, on a tiny table, what the first one will need last; each finds what the
other has put into the cache.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 4
"""Sets of the default size, and of one feature more."""


@contextmanager
def compiled_beside() -> Iterator[None]:
    """Compile in a second process while the block runs, where there is something to compile."""
    if not _is_worth_it():
        yield
        return
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-m", "misfeat.cli.compiling"]
    with subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere) as second:  # noqa: S603
        try:
            yield
        finally:
            second.terminate()


def _is_worth_it() -> bool:
    from joblib import effective_n_jobs

    from misfeat.completion.transfer.kernels.sets import complete_sets
    from misfeat.machine.compiling import is_kept

    return bool(sys.executable) and effective_n_jobs(-1) > 1 and is_kept(complete_sets) is False


def compile_last_ones() -> None:
    """Predict scores of a tiny table, and hold some against chance."""
    import numpy as np

    from misfeat.cohorts import build_cohorts
    from misfeat.completion.transfer.model import TransferModel
    from misfeat.completion.transfer.rows import CodedRows
    from misfeat.datasets import make_cohorts
    from misfeat.information.dealing import deals_of
    from misfeat.machine.threads import Work
    from misfeat.population.significance import max_test

    data = make_cohorts(4, 60, 5, hide=0.3, random_state=0)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    model = TransferModel(CodedRows.of(cohorts), cohorts.missing, Work(1), above_chance=True)
    for size in range(1, LARGEST + 1):
        model.predict(size)
    deals = deals_of(cohorts[cohorts.names[0]], 2, seed=np.random.SeedSequence(0))
    max_test(deals, Work(1), permutations=9)


if __name__ == "__main__":
    compile_last_ones()
