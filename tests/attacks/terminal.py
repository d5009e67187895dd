"""Commands to a terminal in headers, cells, options and names of files: none may reach it.

Escape sequences, control characters, and characters that turn the order of text are put wherever a
stranger's text is printed: tables, JSON, notes, errors, reports.
"""

import sys
import tempfile
import unicodedata
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from misfeat import MisfeatError, SubgroupSelector
from misfeat.answers.caution_checks import list_cautions
from misfeat.cli.app import app
from misfeat.show.export import answer_tables, csv_bytes
from tests.attacks.tally import Tally, run_script

COMMANDS = (
    "\x1b[31m", "\x1b[2J", "\x1b]0;owned\x07", "\x1b]8;;http://a\x1b\\", "\x1b]52;c;aGk=\x07",
    "\x9b31m", "\x9d0;a\x9c", "\x07", "\x08\x08\x08", "\x7f", "\x0b", "\u202e", "\u2066", "\u200f",
    "\u061c", "\u2028", "\ufeff", "\U000e0041", "\x85",
)  # fmt: skip
_SAFE = "\n\u200c\u200d"
PLACES = ("feature", "group", "target", "value", "file", "option")


def is_safe(text: str) -> bool:
    """Whether a terminal prints text as it is."""
    return all(
        letter in _SAFE or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        for letter in text
    )


def table_with(place: str, text: str) -> dict[str, list[Any]]:
    """A small table with a text somewhere in it."""
    random = np.random.default_rng(1)
    name = {role: f"q{text}q" if role == place else role for role in ("feature", "group", "target")}
    value = f"v{text}v" if place == "value" else "south"
    x, z, site = (random.integers(0, 2, 60).tolist() for _ in range(3))
    return {
        name["feature"]: x,
        "z": [None if s else v for s, v in zip(site, z, strict=True)],
        name["group"]: [value if s else "north" for s in site],
        name["target"]: [a ^ b for a, b in zip(x, z, strict=True)],
    }


def _write(table: dict[str, list[Any]], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(table), path)


def printed(place: str, text: str, folder: Path, kind: str) -> str:
    """All that a command, or the library, prints about a table with a text in it."""
    table = table_with(place, text)
    feature, _, group, target = table
    if kind == "library":
        return _said_by_library(table, group, target)
    text = text.replace("/", ":") if place == "file" or kind == "missing file" else text
    path = folder / (f"f{text}.parquet" if place == "file" else "table.parquet")
    if kind == "missing file":
        path = folder / f"none{text}.parquet"
    else:
        _write(table, path)
    asked = ["run", str(path), "--target", target, "--by", group, "--size", "1"]
    asked += ["--completer", "interactions", "--top", "2"]
    asked += {
        "json": ["--json"],
        "bad cost": ["--cost", f"n{text}={feature}"],
        "bad option": [f"--{text}"],
        "bad bins": ["--bins", f"{feature}=a{text}"],
        "saved": ["--out", str(folder / f"run{text}" if place == "option" else folder / "run")],
    }.get(kind, [])
    found = CliRunner().invoke(app, asked)
    return found.stdout + found.stderr


def _said_by_library(table: dict[str, list[Any]], group: str, target: str) -> str:
    said = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        selection = (
            SubgroupSelector(group, size=1, completer="interactions").fit(table, target).selection_
        )
        said += [repr(selection), repr(selection.report(validate=False))]
        tables = answer_tables(selection, ("top", "features", "columns"))
        said += [csv_bytes(one).decode() for one in tables]
        said += [*selection.cohorts.notes, *(one.words for one in list_cautions(selection))]
        for ask in (
            lambda: SubgroupSelector(f"{group}?").fit(table, target),
            lambda: selection.top_k(subgroup=f"{group}?"),
            lambda: SubgroupSelector(include=[f"{group}?"]).fit(table, target),
        ):
            try:
                ask()
            except MisfeatError as error:
                said.append(str(error))
    return "\n".join([*said, *(str(warning.message) for warning in warned)])


KINDS = ("tables", "json", "saved", "bad cost", "bad option", "bad bins", "missing file", "library")


def attack(cases: int, seed: int) -> Tally:
    """Put every command in every place, and look at all that is printed."""
    tally = Tally("terminal", "No text of a stranger commands a terminal.")
    every = [(c, p, k) for c in COMMANDS for p in PLACES for k in KINDS]
    order = np.random.default_rng(seed).permutation(len(every))[:cases]
    with tempfile.TemporaryDirectory() as folder:
        for number in order:
            text, place, kind = every[number]
            case = f"{text!a} in {place}, {kind}"
            said = tally.answer_to(
                case,
                lambda text=text, place=place, kind=kind: printed(place, text, Path(folder), kind),
            )
            if said is None:
                continue
            if "internal error" in said:
                tally.wrongly("internal error", f"{case}: {said[-200:]!a}")
            elif is_safe(said):
                tally.well("printed safely")
            else:
                odd = next(line for line in said.split("\n") if not is_safe(line))
                tally.wrongly("reached the terminal", f"{case}: {odd[:150]!a}")
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, cases=10_000))
