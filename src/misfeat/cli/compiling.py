"""Compiling on two cores: the kernels of permutation tests, in a process beside the first run.

Numba compiles one kernel at a time in a process, and a run needs those of its tests last.
Processes that need the same kernel take turns, so that none is compiled twice.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def compiled_beside() -> Iterator[None]:
    """Compile in another process while the block runs, where there is something to compile."""
    if not _is_worthwhile():
        yield
        return
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-m", "misfeat.cli.compiling"]
    with subprocess.Popen(  # noqa: S603
        command, stdin=nowhere, stdout=nowhere, stderr=nowhere
    ) as process:
        try:
            yield
        finally:
            process.terminate()


def _is_worthwhile() -> bool:
    """Whether kernels are not kept yet, and there is a core for them."""
    from joblib import effective_n_jobs

    from misfeat.information.kernels.dealing import score_deals
    from misfeat.runtime.compilation import is_kept

    return bool(sys.executable) and is_kept(score_deals) is False and effective_n_jobs(-1) > 1


def compile_tests() -> None:
    """Compile the kernels of permutation tests."""
    import numpy as np

    from misfeat.cohorts import build_cohorts
    from misfeat.datasets import make_cohorts
    from misfeat.estimation.significance import max_test
    from misfeat.information.dealing import deals_of
    from misfeat.runtime.threads import Work

    data = make_cohorts(2, 60, 4, random_state=0)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    deals = deals_of(cohorts[cohorts.names[0]], 2, seed=np.random.SeedSequence(0))
    max_test(deals, Work(1), permutations=9)


if __name__ == "__main__":
    compile_tests()
