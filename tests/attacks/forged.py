"""Saved selections are forged, then loaded and asked, in a process that may die of it.

A forged file comes with the right checksums. It may be a selection all the same, another one; then
its answers must be numbers within their bounds.
"""

import multiprocessing
import random
import resource
import sys
import tempfile
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from misfeat import Coding, MisfeatError, SubgroupSelector
from misfeat.datasets import make_cohorts
from tests.attacks.forging import ARRAYS, MANIFEST, Files, changed
from tests.attacks.tally import Tally, run_script

PROMISE = (
    "A forged selection whose checksums are right is refused, or is a selection like any other: "
    "no crash, no foreign error, scores within bounds."
)
SECONDS = 20
"""A case that takes longer hangs."""
BYTES = 3 * 2**30
"""What a case may take beyond what the process has."""
CLOSE = 1e-6
KINDS: list[dict[str, Any]] = [
    {},
    {"measure": "r2"},
    {"estimate": "sample"},
    {"estimate": "above_chance", "completer": "interactions"},
    {"budget": 0.5, "random_state": 0},
    {"completer": "interactions", "estimate": "sample", "coding": Coding(sporadic="available")},
]


def attack(cases: int, seed: int) -> Tally:
    """Load and ask changed selections."""
    tally = Tally("forged", PROMISE)
    with tempfile.TemporaryDirectory() as place:
        originals = _originals(Path(place))
        worker = _Worker(originals, Path(place), seed)
        for case in range(cases):
            outcome, right, what = worker.ask(case)
            if right:
                tally.well(outcome)
            else:
                tally.wrongly(outcome, what)
        worker.stop()
    return tally


def _originals(place: Path) -> list[Files]:
    """Selections of every kind, with answers of some sizes and none of others."""
    found = []
    for number, settings in enumerate(KINDS):
        data = make_cohorts(3, 60, 4, hide=0.25, random_state=number)
        columns = {name: list(values) for name, values in data.columns.items()}
        columns["f1"][::7] = [None] * len(columns["f1"][::7])
        selector = SubgroupSelector(data.groups, size=2, k=3, **settings)
        selector.fit(columns, data.target).save(place / f"original{number}")
        _answers(SubgroupSelector.load(place / f"original{number}"))  # compiles what is needed
        files = [(place / f"original{number}" / name).read_bytes() for name in (MANIFEST, ARRAYS)]
        found.append(Files(*files))
    return found


class _Worker:
    """A process that tries cases, and another one in its place when it dies."""

    def __init__(self, originals: list[Files], place: Path, seed: int) -> None:
        self._given = (originals, place, seed)
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, *self._given))
        self._process.start()
        theirs.close()

    def ask(self, case: int) -> tuple[str, bool, str]:
        """How a case ended, whether it may end so, and what it was."""
        self._ours.send(case)
        what = self._ours.recv()
        try:
            if self._ours.poll(SECONDS):
                outcome, right, told = self._ours.recv()
                return outcome, right, f"{what}: {told}"
            outcome = "hangs"
            self._process.kill()
        except EOFError:
            outcome = "crash"
        self._process.join()
        code = self._process.exitcode
        self._start()
        return outcome, False, f"{what}: exit code {code}"

    def stop(self) -> None:
        self._ours.send(None)
        self._process.join()


def _work(told: Connection, originals: list[Files], place: Path, seed: int) -> None:
    warnings.simplefilter("ignore")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    folder = place / "case"
    folder.mkdir(exist_ok=True)
    while (case := told.recv()) is not None:
        rng = random.Random(f"{seed} {case}")
        number = rng.randrange(len(originals))
        files, what = changed(rng, originals[number])
        told.send(f"case {case}, kind {number}, {what}")
        (folder / MANIFEST).write_bytes(files.manifest)
        (folder / ARRAYS).write_bytes(files.arrays)
        told.send(_outcome(folder))


def _outcome(folder: Path) -> tuple[str, bool, str]:
    """How a case ended, whether it may end so, and what is wrong with it."""
    step = "loaded"
    try:
        loaded = SubgroupSelector.load(folder)
        step = "asked"
        wrong = _answers(loaded)
    except MisfeatError:
        return f"refused when {step}", True, ""
    except BaseException as error:
        return f"foreign error when {step}", False, repr(error)[:200]
    outcome = "accepted with a score that cannot be" if wrong else "another selection"
    return outcome, not wrong, wrong


def _answers(selector: SubgroupSelector) -> str:
    """Ask everything; what is wrong with the answers, which is nothing, as a rule."""
    selection = selector.selection_
    selector.subgroups_.to_dict()
    selector.cautions()
    selector.worth_collecting()
    for size in (2, 1, 3):
        if size > len(selection.feature_names):
            continue
        selector.top_k(size=size, k=2)
        selector.scores(size=size)
        held = selection.completed(size)
        most = selection.set_scores.measure.ceiling[:, None] + CLOSE
        for values in (held.low, held.score, held.high):
            if not np.isfinite(values).all():
                return "a score that is no number"
            if (values < -CLOSE).any() or (values > most).any():
                return "a score outside what is possible"
    return ""


if __name__ == "__main__":
    sys.exit(run_script(attack, 10_000))
