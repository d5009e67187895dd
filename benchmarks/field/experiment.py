"""`python -m benchmarks field`: misfeat beside the field, in three parts that can be resumed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common.output import write_csv
from benchmarks.common.units import finished, run_units
from benchmarks.field.missing import MissingPart
from benchmarks.field.page import page
from benchmarks.field.recovery import RecoveryPart
from benchmarks.field.selection import SelectionPart
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.common.units import Tell, Unit

    Row = dict[str, Any]
    Part = SelectionPart | MissingPart | RecoveryPart

WORK = "work.jsonl"
"""What was done, a line a piece of work; a run goes on from it."""
PARTS: dict[str, Callable[..., Part]] = {
    "selection": SelectionPart,
    "missing": MissingPart,
    "recovery": RecoveryPart,
}


def part_of(name: str, **asked: Sequence[Any]) -> Part:
    """A part by name, with its usual tables, rows and seeds but for those that are asked for."""
    if name not in PARTS:
        raise MisfeatError(f"part: {name!r} is unknown; use one of {tuple(PARTS)}.")
    given: dict[str, Any] = {option: tuple(values) for option, values in asked.items() if values}
    return PARTS[name](**given)


def run(part: Part, folder: str | Path, tell: Tell, n_jobs: int | None) -> list[str]:
    """Do what is not done yet, and write the figures of all that is done and the page."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    units = list(part.units())
    for _ in run_units(units, place / WORK, tell, n_jobs):
        pass
    return write_figures(part, place, units)


def write_figures(part: Part, folder: str | Path, units: Sequence[Unit] = ()) -> list[str]:
    """Write the figures of the pieces of work that are done, and the page of all parts."""
    place = Path(folder)
    done = finished(place / WORK)
    rows: list[Row] = []
    asked = units or list(part.units())
    for unit in asked:
        rows += [{**unit.about, **row} for row in done.get(unit.key, [])]
    if rows:
        write_csv(rows, place / f"{part.name}.csv")
    (place / "page.md").write_text(page(place), encoding="utf-8")
    complete = sum(unit.key in done for unit in asked)
    return [f"{part.name}: {complete:,} of {len(asked):,} pieces of work are done. Page: {place}"]
