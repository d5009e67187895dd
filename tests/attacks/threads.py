"""Threads and processes save to one folder while others read it: nothing is lost, nothing mixed."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

from misfeat import MisfeatError, SubgroupSelector
from tests.attacks.tally import Tally, run_script

PROMISE = (
    "Whoever saves to one folder at the same time, in threads or processes: every reader finds one "
    "of the selections, whole, and one of them is there in the end, with nothing beside it."
)
N_THREADS, N_PROCESSES, N_SAVES = 3, 2, 3


def threads(cases: int, seed: int) -> Tally:
    """Save to one folder from threads and processes at once, and read it meanwhile."""
    tally = Tally("threads", PROMISE)
    rng = np.random.default_rng(seed)
    table = {name: rng.integers(0, 2, 80) for name in ("a", "b", "c", "y")}
    selectors = {
        k: SubgroupSelector(size=1, k=k).fit({**table, "c": (table["c"] + k) % 2}, "y")
        for k in range(1, N_THREADS + N_PROCESSES + 1)
    }
    for case in range(cases):
        _one(tally, selectors, over_old=case % 2 == 0, shuffled=random.Random(seed + case))
    return tally


def _one(
    tally: Tally, selectors: dict[int, SubgroupSelector], *, over_old: bool, shuffled: random.Random
) -> None:
    ways = list(selectors.values())
    shuffled.shuffle(ways)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        if over_old:
            ways[0].save(folder)
        wrong: list[str] = []
        children = [_forked(way, folder) for way in ways[:N_PROCESSES]]
        writers = [
            threading.Thread(target=_save, args=(way, folder, wrong)) for way in ways[N_PROCESSES:]
        ]
        over = threading.Event()
        reader = threading.Thread(target=_read, args=(selectors, folder, over, wrong, over_old))
        for thread in (*writers, reader):
            thread.start()
        for thread in writers:
            thread.join()
        codes = [os.waitpid(child, 0)[1] for child in children]
        over.set()
        reader.join()
        wrong += ["a process failed to save"] * sum(map(bool, codes))
        wrong += _problems(selectors, folder)
        left = {entry.name for entry in folder.parent.iterdir()} - {"run"}
        if folder.is_dir():
            left |= {entry.name for entry in folder.iterdir()}
        wrong += [f"left: {name}" for name in left - {"selection.json", "arrays.safetensors"}]
    if wrong:
        tally.wrongly("lost, mixed or refused", wrong[0])
    else:
        tally.well("whole")


def _forked(selector: SubgroupSelector, folder: Path) -> int:
    child = os.fork()
    if child:
        return child
    wrong: list[str] = []
    try:
        _save(selector, folder, wrong)
    finally:
        os._exit(1 if wrong else 0)


def _save(selector: SubgroupSelector, folder: Path, wrong: list[str]) -> None:
    for _ in range(N_SAVES):
        try:
            selector.save(folder)
        except Exception as error:
            wrong.append(f"a save failed: {error!r}")


def _read(
    selectors: dict[int, SubgroupSelector],
    folder: Path,
    over: threading.Event,
    wrong: list[str],
    over_old: bool,
) -> None:
    while not over.is_set():
        problems = _problems(selectors, folder)
        wrong += [p for p in problems if over_old or "There is no selection" not in p]


def _problems(selectors: dict[int, SubgroupSelector], folder: Path) -> list[str]:
    try:
        found = SubgroupSelector.load(folder)
    except MisfeatError as error:
        return [str(error)]
    same = found.scores().equals(selectors[found.k].scores())
    return [] if same else ["scores of another selection"]


if __name__ == "__main__":
    sys.exit(run_script(threads, 40))
