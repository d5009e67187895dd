"""How the cases of an attack ended, counted and written down.

Every attack is a script, `python -m tests.attacks.NAME --cases N --seed S --out FOLDER`, that
writes FOLDER/NAME.json and exits with 1 where a case ended as none may. benchmarks/reliability/
keeps what the scripts wrote: before/ by the code that was first attacked, after/ by today's.
"""

import argparse
import json
import platform
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from misfeat import MisfeatError, MisfeatWarning

Answer = TypeVar("Answer")
KEPT = 20
"""So many wrong cases are told in full."""


@dataclass
class Tally:
    """The outcomes of an attack: how many cases ended how, and which ended wrong."""

    attack: str
    promise: str
    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    n_wrong: int = 0

    @property
    def n_cases(self) -> int:
        return sum(self.outcomes.values())

    def well(self, outcome: str) -> None:
        """Count a case that ended as it may."""
        self.outcomes[outcome] += 1

    def wrongly(self, outcome: str, what: str) -> None:
        """Count a case that ended as none may, and tell of the first few what happened."""
        self.outcomes[outcome] += 1
        self.n_wrong += 1
        if len(self.wrong) < KEPT:
            self.wrong.append(f"{outcome}: {what}")

    def answer_to(self, case: str, ask: Callable[[], Answer]) -> Answer | None:
        """What is answered; None where it was refused or failed, which is counted here."""
        try:
            return ask()
        except MisfeatError as error:
            if str(error).isprintable():
                self.well("refused clearly")
            else:
                self.wrongly("refused in words that do not print", case)
        except Exception as error:
            self.wrongly("foreign error", f"{case}: {type(error).__name__}: {error!a}"[:300])
        return None


def commit() -> str:
    """The commit that last changed the code under attack; empty outside a checkout."""
    words = ["git", "log", "-1", "--format=%h", "--", "src"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


@contextmanager
def without_notes() -> Iterator[None]:
    """Let warnings of ours pass, which are no part of an answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfeatWarning)
        yield


def run_script(attack: Callable[[int, int], Tally], cases: int) -> int:
    """Run an attack as a script: read its options, count, write, and say what came of it."""
    parser = argparse.ArgumentParser(description=attack.__doc__)
    parser.add_argument("--cases", type=int, default=cases, help="how many cases to try")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a folder for the counts as JSON")
    options = parser.parse_args()
    tally = attack(options.cases, options.seed)
    outcomes = dict(sorted(tally.outcomes.items()))
    if options.out:
        counted = {
            "attack": tally.attack,
            "promise": tally.promise,
            "machine": platform.machine(),
            "commit": commit(),
            "cases": tally.n_cases,
            "wrong": tally.n_wrong,
            "outcomes": outcomes,
            "examples": tally.wrong,
        }
        options.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(counted, indent=2, ensure_ascii=True) + "\n"
        (options.out / f"{tally.attack}.json").write_text(text)
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items())
    said = f"{tally.attack}: {tally.n_cases:,} cases: {counts}; {tally.n_wrong:,} wrong."
    sys.stdout.write("\n  ".join([said, *tally.wrong]) + "\n")
    return 1 if tally.n_wrong else 0
