"""Drawn tables, questions and files of every kind, by the ten thousand: `make fuzz`.

A case is one fit, one question or one loading on drawn input, with the promises of
tests/fuzz/promises.py checked. A wrong case is told with its table and its question, or with the
bytes of its file, and ends its round; whoever mends it pins it in a test of the room concerned.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.attacks.tally import Tally, run_script
from tests.fuzz.files import drawn_loading, loaders
from tests.fuzz.frames import drawn_frame, of_arrow, of_pandas, of_polars
from tests.fuzz.machine import Selecting

PROMISE = (
    "Whatever the table and the question: only our own errors and warnings come out, scores are "
    "finite, within 0 and the entropy and within their intervals, no set is below a part of it, "
    "and the same in every library, in any order of rows, with any number of threads, asked again, "
    "and loaded again."
)
CASES = 100_000
EXAMPLES = 20
"""Tables or files of a round; a wrong case ends its round, not the others."""


def attack(cases: int, first_seed: int) -> Tally:
    """Draw rounds of tables and files until so many cases were tried."""
    tally, number = Tally("fuzz", PROMISE), first_seed
    with tempfile.TemporaryDirectory() as folder:
        rounds = [*(_of_tables, _of_frames) * 2, partial(_of_files, Path(folder))]
        while tally.n_cases < cases:
            _run_round(rounds[number % len(rounds)], tally, number)
            number += 1
    return tally


def _run_round(run: Callable[[Tally, int, Any], None], tally: Tally, number: int) -> None:
    """Run one round; after its first wrong case, what is tried again is not counted again."""
    held = settings(
        max_examples=EXAMPLES,
        stateful_step_count=25,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    counted = _Round(tally.attack, tally.promise, tally.outcomes, tally.wrong)
    try:
        run(counted, number, held)
    except Exception as error:
        if not counted.n_wrong:  # what no case foresaw: the fault is the attack's own
            raise
        sys.stderr.write(f"round {number}: {type(error).__name__}: {tally.wrong[-1]}\n")
    tally.n_wrong += counted.n_wrong


class _Round(Tally):
    """Counts until the first wrong case."""

    def well(self, outcome: str) -> None:
        if not self.n_wrong:
            super().well(outcome)

    def wrongly(self, outcome: str, what: str) -> None:
        if not self.n_wrong:
            super().wrongly(outcome, what)


def _of_files(folder: Path, tally: Tally, number: int, held: Any) -> None:
    for name, (whole, load) in loaders(folder).items():
        seed(number)(settings(held)(drawn_loading(name, whole, load, tally)))()


def _of_frames(tally: Tally, number: int, held: Any) -> None:
    for strategy in (of_polars(), of_arrow(), of_pandas()):
        seed(number)(drawn_frame(strategy, tally, held))()


def _of_tables(tally: Tally, number: int, held: Any) -> None:
    class Counted(Selecting):
        pass

    Counted.tally = tally
    run_state_machine_as_test(seed(number)(Counted), settings=held)


if __name__ == "__main__":
    os.environ["MISFEAT_PROGRESS"] = "off"
    sys.exit(run_script(attack, CASES))
