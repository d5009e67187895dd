"""Fit, answers and report as a user gets them, timed as a whole and step by step.

Every table is timed in a process of its own, so that the most memory it held is that of the table.
Kernels are loaded before, or compiled where they are not kept yet, by a small table of the same
kind; what that took is told apart.
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.speed.workloads import FULL, QUICK, TARGET, Workload
from misfeat.answers.number_of_features import WHAT as SEEING_ENOUGH
from misfeat.answers.stability import WHAT as REDRAWING
from misfeat.answers.subgroup_significance import PERMUTING
from misfeat.answers.validation import WHAT as VALIDATING
from misfeat.completion.conformal_intervals import WHAT as CALIBRATING
from misfeat.estimation.score_estimate import WHAT as ESTIMATING
from misfeat.estimation.set_scores import SCORING
from misfeat.estimation.shortlist import WHAT as SEARCHING
from misfeat.exceptions import MisfeatError
from misfeat.number_formatting import count_words
from misfeat.runtime.file_system import write_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.table import Table

    from misfeat.runtime.progress import Progress
    from misfeat.selector import SubgroupSelector

STEPS = {
    "Opening the table": "coding",
    "Reading columns": "coding",
    "Counting rows": "coding",
    SEARCHING: "screening",
    SCORING: "scores of own rows",
    ESTIMATING: "population",
    CALIBRATING: "population",
    PERMUTING: "significance",
    SEEING_ENOUGH: "enough features",
    VALIDATING: "validation",
    REDRAWING: "stability",
}
"""What a step is called in the table of figures, by what it tells."""
OWN_PROCESS, ROOT = "benchmarks.speed.experiment", Path(__file__).parents[2]
CACHE_VARIABLE = "NUMBA_CACHE_DIR"


@dataclass(frozen=True)
class SpeedBench:
    """What is timed.

    `quick` takes small tables: less than a minute. `cold` times compiling all kernels into an empty
    folder, too.
    """

    tables: Sequence[str] = ()
    quick: bool = False
    n_jobs: int | None = -1
    cold: bool = False

    def __post_init__(self) -> None:
        for name in self.tables:
            if name not in self.known:
                raise MisfeatError(
                    f"tables: {name!r} is unknown; use some of {', '.join(self.known)}."
                )

    @property
    def known(self) -> Mapping[str, Workload]:
        """All workloads by name."""
        return QUICK if self.quick else FULL

    def run(self, progress: Progress | None = None) -> Iterator[dict[str, Any]]:
        """Figures, a table at a time."""
        names = tuple(self.tables) or tuple(self.known)
        total = len(names) + self.cold
        for done, name in enumerate(names):
            if progress is not None:
                progress(f"Timing {name}", done, total)
            yield {"table": name, **measured_apart(self.known[name], self.n_jobs)}
        if self.cold:
            if progress is not None:
                progress("Compiling all kernels", total - 1, total)
            yield {"table": "cold start", **cold_start(self.n_jobs)}


def measured_apart(load: Workload, n_jobs: int | None, cache: str | None = None) -> dict[str, Any]:
    """The figures of one workload, from a process of its own.

    `cache` is the folder of compiled kernels; None: where they always are.
    """
    environment = os.environ if cache is None else {**os.environ, CACHE_VARIABLE: cache}
    asked = json.dumps([asdict(load), n_jobs])
    command = [sys.executable, "-m", OWN_PROCESS, asked]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise MisfeatError(f"Timing failed: {last}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def cold_start(n_jobs: int | None) -> dict[str, Any]:
    """The first run after an installation, on a small table: seconds that go into compiling."""
    with tempfile.TemporaryDirectory() as empty:
        load = replace(QUICK["heart"].small(), report=True)
        found = measured_apart(load, n_jobs, empty)
    return {name: found[name] for name in ("start_seconds", "compiling_seconds", "kernels")}


def measured(load: Workload, n_jobs: int | None) -> dict[str, Any]:
    """The figures of one workload in this process, and those of peers where they are asked for."""
    from benchmarks.speed.workloads import against_peers

    _, figures = timed(load, n_jobs)
    return {**figures, "peers": against_peers(load, n_jobs) if load.peers else None}


def timed(load: Workload, n_jobs: int | None) -> tuple[SubgroupSelector, dict[str, Any]]:
    """Do the work of one workload in this process, and time it.

    Returns
    -------
    selector : SubgroupSelector
        What was fitted.
    figures : dict
        ``rows``, ``features``, ``subgroups`` and ``size``; ``start_seconds`` of a small table,
        of which ``compiling_seconds`` went into ``kernels`` that were not kept; ``seconds`` and
        ``cpu_seconds`` of the whole; ``steps``; ``peak_mib`` and ``own_mib``, what of it was not
        there before; ``budget`` where there is one.

    Examples
    --------
    >>> _, figures = timed(Workload(400, 5, 2, 2, report=False), 1)
    >>> [step["step"] for step in figures["steps"]][:3]
    ['coding', 'scores of own rows', 'population']
    """
    from numba.core.event import install_listener

    from benchmarks.speed.clock import StepClock, forget_peak, held_memory, peak_memory
    from misfeat.runtime.kernel_cache import EVENT, Compilations
    from misfeat.runtime.progress import progress_told

    with install_listener(EVENT, Compilations()) as compiled:
        began = time.perf_counter()
        with progress_told(_nothing):
            answered(load.small(), n_jobs, StepClock({}))
        started = time.perf_counter() - began
    table = load.table()
    before = held_memory()
    forget_peak()
    clock = StepClock(STEPS)
    with progress_told(clock):
        selector = answered(load, n_jobs, clock, table)
    peak = peak_memory()
    whole = [sum(column) for column in zip(*clock.seconds.values(), strict=True)]
    return selector, {
        "rows": load.rows,
        "features": load.features,
        "subgroups": load.subgroups,
        "size": load.size,
        "start_seconds": started,
        "compiling_seconds": compiled.seconds,
        "kernels": compiled.count,
        "seconds": whole[0],
        "cpu_seconds": whole[1],
        "peak_mib": peak / 2**20,
        "own_mib": max(peak - before, 0) / 2**20,
        "steps": [
            {"step": step, "seconds": wall, "cpu_seconds": cpu, "share": wall / whole[0]}
            for step, (wall, cpu) in _in_order(clock.seconds)
        ],
        "budget": {"seconds": load.seconds, "gib": load.gib} if load.seconds else None,
    }


def _nothing(what: str, done: int, total: int) -> None:
    """Tell nobody how far a small table is."""


def answered(load: Workload, n_jobs: int | None, clock: Any, table: Any = None) -> SubgroupSelector:
    """Fit and ask as the workload says, while a clock counts; the table is drawn where None."""
    from misfeat.selector import SubgroupSelector

    table = load.table() if table is None else table
    selector = SubgroupSelector(load.groups, size=load.size, n_jobs=n_jobs, verbose=1)
    with clock.part("rest of the fit"):
        selector.fit(table, TARGET)
    with clock.part("best sets, collecting"):
        selector.top_k()
        selector.worth_collecting()
    if load.report:
        with clock.part("report"):
            selector.report().html()
    return selector


def _in_order(seconds: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Steps as they are done, then what lies between them."""
    known = [name for name in dict.fromkeys(STEPS.values()) if name in seconds]
    others = [name for name in seconds if name not in known]
    return [(name, seconds[name]) for name in (*known, *others)]


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    from joblib import effective_n_jobs

    from misfeat.version import __version__

    return {
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "threads": effective_n_jobs(-1),
        "python": platform.python_version(),
        "version": __version__,
    }


FIGURES, STEPS_FILE = "speed.json", "steps.csv"


def heading(found: Mapping[str, Any]) -> str:
    """What was timed."""
    subgroups = count_words(found["subgroups"], "subgroup")
    shape = f"{found['rows']:,} rows, {found['features']} features, {subgroups}"
    return f"{found['table']}: {shape}, sets of {found['size']}"


def step_table(found: Mapping[str, Any]) -> Table:
    """The steps of one workload, with their shares of the whole."""
    from misfeat.show.terminal import new_table

    table = new_table()
    for name in ("step", "seconds", "CPU seconds", "share"):
        table.add_column(name, justify="left" if name == "step" else "right")
    for step in found["steps"]:
        table.add_row(step["step"], *_figures(step), f"{100 * step['share']:.0f} %")
    table.add_row("all of it", *_figures(found), "")
    return table


def _figures(step: Mapping[str, Any]) -> tuple[str, str]:
    return f"{step['seconds']:.2f}", f"{step['cpu_seconds']:.2f}"


def sentences(found: Mapping[str, Any]) -> Iterator[str]:
    """What else there is to say about one workload, a line each."""
    if "steps" in found:
        peak = f"Peak memory {found['peak_mib']:,.0f} MiB, {found['own_mib']:,.0f} of it its own."
        yield peak + _within(found)
    yield _started(found)
    for estimate, times in ((found.get("peers") or {}).get("times") or {}).items():
        held = " and ".join(f"{factor:,.1f} times {peer}" for peer, factor in times.items())
        seconds = found["peers"]["seconds"][estimate]
        yield (
            f"Fit and scores with estimate={estimate!r}: {seconds:.3f} s, {held} doing the scores "
            "alone."
        )


def _within(found: Mapping[str, Any]) -> str:
    budget = found["budget"]
    if budget is None:
        return ""
    kept = found["seconds"] <= budget["seconds"] and found["peak_mib"] <= 1024 * budget["gib"]
    said = f"the budget of {budget['seconds']:.0f} s and {budget['gib']:g} GiB on two cores"
    return f" Within {said}." if kept else f" BEYOND {said}."


def _started(found: Mapping[str, Any]) -> str:
    said = f"Before: {found['start_seconds']:.1f} s for a small table of the kind"
    if not found["kernels"]:
        return f"{said}; no kernel had to be compiled."
    return (
        f"{said}, {found['compiling_seconds']:.1f} s of it to compile {found['kernels']} kernels."
    )


def write_figures(folder: str, machine: Mapping[str, Any], found: Sequence[Any]) -> None:
    """Write all figures to a folder: speed.json, and a line for each step in steps.csv."""
    place = Path(folder)
    write_file(place / FIGURES, as_json(machine, found).encode())
    text = io.StringIO()
    shape = ("table", "rows", "features", "subgroups", "size")
    lines = csv.DictWriter(text, (*shape, "step", "seconds", "cpu_seconds", "share"))
    lines.writeheader()
    for one in found:
        for step in one.get("steps", ()):
            lines.writerow({**{name: one[name] for name in shape}, **step})
    write_file(place / STEPS_FILE, text.getvalue().encode())


def as_json(machine: Mapping[str, Any], found: Sequence[Any]) -> str:
    """All figures as one JSON object.

    Examples
    --------
    >>> as_json({"cores": 2}, [])
    '{"machine": {"cores": 2}, "tables": []}'
    """
    return json.dumps({"machine": dict(machine), "tables": list(found)})


if __name__ == "__main__":
    fields, threads = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(measured(Workload(**fields), threads)))
