"""Ctrl-C at random moments of long work: is it ever lost, late, or answered with something else?

A child process works over and over and is sent SIGINT; it must end what it does with
KeyboardInterrupt, soon, and answer as before afterwards. Kernels are compiled in children of their
own, and a command must end with exit code 130 and one line.
"""

import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from tests.attacks.tally import Tally, run_script

LATE = 300.0
"""Seconds after which an interrupt counts as lost."""
START = 300.0
"""Seconds that a child may take to be ready; it may have to compile."""
KINDS = ("compile", "command", *("fit", "threads", "file", "validate") * 5)
LONGEST_WAIT = {"compile": 6.0, "command": 1.5}
USUAL_WAIT = 0.7
CHILD = """
import signal, sys, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
import duckdb, pandas, pyarrow
from misfeat import SubgroupSelector
from misfeat.datasets import load_heart

kind, folder = sys.argv[1:3]
heart = load_heart()
table = pandas.DataFrame({**heart.columns, "num": heart.target})
file = folder + "/heart.csv"
table.to_csv(file, index=False)
warnings.simplefilter("ignore")

def work():
    if kind == "file":
        return SubgroupSelector("site", size=2).fit(file, "num")
    if kind == "validate":
        selector = SubgroupSelector("site", size=2).fit(table, "num")
        selector.validate()
        return selector
    n_jobs = 3 if kind == "threads" else 1
    return SubgroupSelector("site", size=3, n_jobs=n_jobs, verbose=1).fit(table, "num")

def answers(selector):
    return selector.top_k().to_string()

if kind == "command":
    from misfeat.cli import app, run, saved_runs, doctor
    from misfeat.cli.main import main
    sys.argv = ["misfeat", "run", file, *"--target num --by site --size 4 --validate".split()]
    print("ready", flush=True)
    main()
    sys.exit()
expected = None if kind == "compile" else answers(work())
while True:
    print("ready", flush=True)
    sys.stdin.readline()  # who waits for its turn leaves the processor to others
    try:
        print("working", flush=True)
        while True:
            work()
    except KeyboardInterrupt:
        pass
    if expected is not None and answers(work()) != expected:
        print("other answers", flush=True)
    print("interrupted", flush=True)
"""


class Child:
    """A process that works until it is interrupted, again and again."""

    def __init__(self, kind: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        environment = dict(os.environ, PYTHONUNBUFFERED="1")
        if kind == "compile":
            environment["NUMBA_CACHE_DIR"] = f"{self.folder.name}/kernels"
        self.errors = Path(self.folder.name, "stderr")
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", CHILD, kind, self.folder.name],
                bufsize=0,  # select must see what is there
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
            )

    def line(self, seconds: float) -> str | None:
        """The next line; empty where the process ended, None where nothing comes in time."""
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return None
        return self.process.stdout.readline().decode().strip()

    def begins(self) -> bool:
        """Have the child work, and wait until it does."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        return self.line(START) == "working"

    def said(self) -> str:
        return self.errors.read_text(errors="replace")

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.folder.cleanup()


def _outcome(child: Child, kind: str) -> tuple[str, bool]:
    """How an interrupt was taken, and whether it may be taken so."""
    if kind == "command":
        try:
            code = child.process.wait(LATE)
        except subprocess.TimeoutExpired:
            return "lost", False
        if code == 0:
            return "done before", True
        return f"exit {code}", code == 130 and child.said() == "interrupted\n"
    answer = child.line(LATE)
    if answer == "interrupted":
        ignored = "Exception ignored" in child.said()
        return "told as ignored" if ignored else "KeyboardInterrupt", not ignored
    return "lost" if answer is None else answer or f"exit {child.process.wait()}", False


def attack(cases: int, seed: int) -> Tally:
    """Interrupt work at random moments."""
    tally = Tally("interrupts", "Ctrl-C ends long work with KeyboardInterrupt, soon and always.")
    rng = random.Random(seed)
    children: dict[str, Child] = {}
    for kind in islice(cycle(KINDS), cases):
        child = children.pop(kind, None) or Child(kind)
        outcome, right = "not ready", False
        if child.line(START) == "ready" and (kind == "command" or child.begins()):
            time.sleep(rng.uniform(0.02, LONGEST_WAIT.get(kind, USUAL_WAIT)))
            child.process.send_signal(signal.SIGINT)
            outcome, right = _outcome(child, kind)
        if right:
            tally.well(f"{kind}: {outcome}")
        else:
            tally.wrongly(outcome, f"{kind}: {child.said()[-300:]!r}")
        if tally.n_cases % 20 == 0:
            sys.stderr.write(f"{tally.n_cases} cases, {tally.n_wrong} wrong\n")
        if right and kind not in ("compile", "command"):
            children[kind] = child
        else:
            child.close()
    for child in children.values():
        child.close()
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, cases=700))
