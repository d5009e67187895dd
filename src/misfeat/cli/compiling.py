"""Compiling on several cores: the kernels that a run needs last, in processes beside it.

Numba compiles one kernel at a time in a process. The first run after an installation starts others
that make what it will need last. Processes that need the same kernel take turns, so that none is
compiled twice.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_FIRST = ("sets", "chance", "pairs")
"""What other processes compile, one after the other, each beginning at another place."""


@contextmanager
def compiled_beside() -> Iterator[None]:
    """Compile in other processes while the block runs, where there is something to compile."""
    with ExitStack() as others:
        for parts in _shares_of_others():
            process = others.enter_context(_start(parts))
            others.callback(process.terminate)
        yield


def _shares_of_others() -> list[tuple[str, ...]]:
    """The parts that each of the other processes compiles; none where all is kept already."""
    from joblib import effective_n_jobs

    from misfeat.completion.transfer.kernels.sets import complete_sets
    from misfeat.machine.compiling import is_kept

    if not sys.executable or is_kept(complete_sets) is not False:
        return []
    others = min(effective_n_jobs(-1) - 1, len(LONGEST_FIRST))
    return [LONGEST_FIRST[one::others] for one in range(others)]


def _start(parts: tuple[str, ...]) -> subprocess.Popen[bytes]:
    nowhere = subprocess.DEVNULL
    command = [sys.executable, "-m", "misfeat.cli.compiling", *parts]
    return subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere)  # noqa: S603


def compile_part(part: str) -> None:
    """Compile some kernels.

    Those that complete and pool sets ("sets"), those of tests against chance ("chance"), or those
    that complete pairs ("pairs").
    """
    {"sets": _compile_sets, "chance": _compile_chance, "pairs": _compile_pairs}[part]()


def _compile_sets() -> None:
    from misfeat.completion.transfer.ahead import compile_sets

    compile_sets()


def _compile_pairs() -> None:
    from misfeat.completion.transfer.ahead import compile_pairs

    compile_pairs()


def _compile_chance() -> None:
    import numpy as np

    from misfeat.cohorts import build_cohorts
    from misfeat.datasets import make_cohorts
    from misfeat.estimation.significance import max_test
    from misfeat.information.dealing import deals_of
    from misfeat.machine.threads import Work

    data = make_cohorts(2, 60, 4, random_state=0)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    deals = deals_of(cohorts[cohorts.names[0]], 2, seed=np.random.SeedSequence(0))
    max_test(deals, Work(1), permutations=9)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        compile_part(name)
