"""Threads and processes save to one folder while others read it: nothing is lost, nothing mixed."""

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


def attack(cases: int, seed: int) -> Tally:
    """Save to one folder from threads and processes at once, and read it meanwhile."""
    tally = Tally("threads", PROMISE)
    rng = np.random.default_rng(seed)
    table = {name: rng.integers(0, 2, 80) for name in ("a", "b", "c", "y")}
    selectors = {
        k: SubgroupSelector(size=1, k=k).fit({**table, "c": (table["c"] + k) % 2}, "y")
        for k in range(1, N_THREADS + N_PROCESSES + 1)
    }
    for case in range(cases):
        writers = list(selectors.values())
        random.Random(seed + case).shuffle(writers)
        with tempfile.TemporaryDirectory() as place:
            wrong = _together(selectors, writers, Path(place) / "run", over_old=case % 2 == 0)
        if wrong:
            tally.wrongly("lost, mixed or refused", wrong[0])
        else:
            tally.well("whole")
    return tally


def _together(
    selectors: dict[int, SubgroupSelector],
    writers: list[SubgroupSelector],
    folder: Path,
    over_old: bool,
) -> list[str]:
    """What went wrong; nothing, as a rule."""
    wrong: list[str] = []
    over = threading.Event()

    def save(selector: SubgroupSelector) -> None:
        for _ in range(N_SAVES):
            try:
                selector.save(folder)
            except Exception as error:
                wrong.append(f"a save failed: {error!r}")

    def problems() -> list[str]:
        try:
            loaded = SubgroupSelector.load(folder)
        except MisfeatError as error:
            return [str(error)]
        same = loaded.scores().equals(selectors[loaded.k].scores())
        return [] if same else ["scores of another selection"]

    def read() -> None:
        while not over.is_set():
            wrong.extend(p for p in problems() if over_old or "There is no selection" not in p)

    if over_old:
        writers[0].save(folder)
    children = []
    for writer in writers[:N_PROCESSES]:
        children.append(os.fork())
        if not children[-1]:
            try:
                save(writer)
            finally:
                os._exit(1 if wrong else 0)
    threads = [threading.Thread(target=save, args=(writer,)) for writer in writers[N_PROCESSES:]]
    reader = threading.Thread(target=read)
    for thread in (*threads, reader):
        thread.start()
    for thread in threads:
        thread.join()
    wrong += ["a process failed to save" for child in children if os.waitpid(child, 0)[1]]
    over.set()
    reader.join()
    left = {entry.name for entry in (*folder.parent.iterdir(), *folder.iterdir())}
    left -= {"run", "selection.json", "arrays.safetensors"}
    return wrong + problems() + [f"left: {name}" for name in left]


if __name__ == "__main__":
    sys.exit(run_script(attack, 40))
