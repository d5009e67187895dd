"""Compiling the kernels of tests beside the first run.

Numba compiles one kernel at a time in a process, and a run needs those of its tests last, so that
another process compiles these meanwhile.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def compiled_beside() -> Iterator[None]:
    """Compile the kernels of tests in another process while the block runs, if that is worth it."""
    from joblib import effective_n_jobs

    from misfeat.information.kernels.permuted_scores import score_permutations
    from misfeat.runtime.kernel_cache import is_kept

    if not sys.executable or is_kept(score_permutations) is not False or effective_n_jobs(-1) < 2:
        yield
        return
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-m", "misfeat.cli.background_compilation"]
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
    from misfeat.information.permuted_scores import permutations_of
    from misfeat.runtime.threads import Work

    data = make_cohorts(2, 60, 4, random_state=0)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    for largest in (1, 3):  # of which tables are counted and rows sorted
        rows = cohorts[cohorts.names[0]]
        max_test(permutations_of(rows, largest, seed=np.random.SeedSequence(0)), Work(1))


if __name__ == "__main__":
    compile_tests()
