"""Pieces of work that are done once: what was done is kept in a file, and not done again."""

from __future__ import annotations

import json
import signal
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed, effective_n_jobs

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import FrameType

    Row = dict[str, Any]
    Tell = Callable[[str], None]


@dataclass(frozen=True)
class Unit:
    """One piece of work.

    What it is `about` tells it from the other pieces, and is part of every row of its result. A
    result of other `settings` is not taken for it. Its `work` returns rows.
    """

    experiment: str
    about: dict[str, Any]
    settings: dict[str, Any]
    work: Callable[[], list[Row]]

    @property
    def key(self) -> str:
        """A name that no other piece has."""
        return json.dumps([self.experiment, self.about, self.settings], sort_keys=True)


def finished(file: Path) -> dict[str, list[Row]]:
    """The rows of every piece that is done, by key; a line that was cut off is no piece."""
    done: dict[str, list[Row]] = {}
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                key, rows = json.loads(line)
            except (TypeError, ValueError):
                continue
            done[key] = rows
    return done


def run_units(
    units: Sequence[Unit], file: Path, tell: Tell, n_jobs: int | None = 1
) -> Iterator[Row]:
    """Do what is not done yet, one line of the file a piece, and return all rows.

    With several processes every `work` must be picklable. `tell` is told what comes next, or what
    is done, and how long the rest will take.
    """
    done = finished(file)
    left = [unit for unit in units if unit.key not in done]
    if len(left) < len(units):
        tell(f"{len(units) - len(left)} of {len(units)} pieces of work were done before.")
    several = effective_n_jobs(n_jobs) > 1
    for unit, rows in _together(left, tell, n_jobs) if several else _in_turn(left, tell):
        done[unit.key] = rows
        _append(file, [unit.key, rows])
    for unit in units:
        for row in done[unit.key]:
            yield {"experiment": unit.experiment, **unit.about, **row}


def _in_turn(units: Sequence[Unit], tell: Tell) -> Iterator[tuple[Unit, list[Row]]]:
    start = time.perf_counter()
    for number, unit in enumerate(units):
        tell(_line(unit, number, number + 1, len(units), start))
        with _interrupts_noted() as interrupted:
            rows = unit.work()
        if interrupted:
            raise KeyboardInterrupt  # training ends early then, with a result that is not whole
        yield unit, rows


def _together(
    units: Sequence[Unit], tell: Tell, n_jobs: int | None
) -> Iterator[tuple[Unit, list[Row]]]:
    """In several processes, in the order in which pieces are done."""
    start = time.perf_counter()
    pool = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    found = pool(delayed(_numbered)(number, unit.work) for number, unit in enumerate(units))
    try:
        for done, (number, rows) in enumerate(found, start=1):
            tell(_line(units[number], done, done, len(units), start))
            yield units[number], rows
    except BrokenProcessPool as error:
        raise MisfeatError(
            "A worker process was lost, killed or out of memory; what was done is kept.",
            remedy="Run the same again to go on from there, with fewer "
            f"{Setting('jobs')} if memory is short.",
        ) from error


def _numbered(number: int, work: Callable[[], list[Row]]) -> tuple[int, list[Row]]:
    return number, work()


def _line(unit: Unit, done: int, number: int, total: int, start: float) -> str:
    about = ", ".join(str(value) for value in unit.about.values())
    so_far = time.perf_counter() - start
    rest = f", about {_duration(so_far / done * (total - done))} left" if done else ""
    return f"[{number}/{total}{rest}] {unit.experiment}: {about}"


@contextmanager
def _interrupts_noted() -> Iterator[list[int]]:
    """Note Ctrl-C while work goes on, also where the work itself catches it."""
    noted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def _append(file: Path, entry: list[Any]) -> None:
    # A line that an interrupt cut off must not swallow the next one.
    with file.open("a+b") as lines:
        if lines.tell() and not _ends_with_a_line(file):
            lines.write(b"\n")
        lines.write(json.dumps(entry).encode() + b"\n")


def _ends_with_a_line(file: Path) -> bool:
    with file.open("rb") as lines:
        lines.seek(-1, 2)
        return lines.read(1) == b"\n"


def _duration(seconds: float) -> str:
    """A time for people.

    Examples
    --------
    >>> _duration(42), _duration(150), _duration(7300)
    ('42 s', '2 min', '2 h 2 min')
    """
    minutes = round(seconds / 60 - 0.01)
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
