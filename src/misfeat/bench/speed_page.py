"""The figures of `misfeat bench speed`: as tables in a terminal, and as files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from misfeat.machine.paths import write_file
from misfeat.words.numbers import count_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.table import Table

FIGURES, STEPS_FILE = "speed.json", "steps.csv"


def heading(found: Mapping[str, Any]) -> str:
    """What was timed."""
    subgroups = count_words(found["subgroups"], "subgroup")
    shape = f"{found['rows']:,} rows, {found['features']} features, {subgroups}"
    return f"{found['table']}: {shape}, sets of {found['size']}"


def step_table(found: Mapping[str, Any]) -> Table:
    """The steps of one workload, with their shares of the whole."""
    from misfeat.show.console import new_table

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
