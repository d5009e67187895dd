"""The page of the report: templates, style, scripts and the data they read, as much as fits."""

import json
import tempfile
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from misfeat.answers.recording_gains import SMALLEST_SCALE
from misfeat.answers.set_cells import CellCounts
from misfeat.exceptions import MisfeatError
from misfeat.messages import visible, visible_json
from misfeat.number_formatting import percent, percent_between, score_words
from misfeat.runtime.file_system import as_path, refusals_told, write_file
from misfeat.show.html_output import framed, policy_for, templates_of

Cells = dict[tuple[int, tuple[int, ...]], CellCounts]

NO_BREAK = "\N{NO-BREAK SPACE}"
PACKAGE = "misfeat.show.report"
SCRIPTS = ("dom.js", "tables.js", "charts.js", "why.js", "subgroup.js", "explorer.js", "views.js")
STYLE = "report.css"
MOST_BESIDE = 14  # features up to which the map stands beside the sentences rather than below them
MOST_COLUMNS = 20  # features that the map shows at first
MOST_CELLS = 3_000  # of a map; where there are more, only the most informative features are in it
MOST_LINES = 200  # subgroups of a map, the largest; others have their own pages
N_SHADES = 10  # of a heat map, which has no styles of its own
MOST_WORTHS = 200  # lines of what unrecorded features would add
DIGITS = 6  # significant digits of numbers that are drawn or shown
MOST_SUBGROUPS_IN_FULL = 100  # with more subgroups, their pages hold fewer lines each
MOST_VALUES = 8  # values of a column that are listed
SETS = {"features", "missing", "taken", "given_up", "best_set"}  # what holds names of features
READ_OF_LINES = {
    "best_sets": "features score low high observed chance p_value source",
    "values": "feature alone alone_low alone_high adds adds_low adds_high part_of_answer in_best "
    "source",
    "alternatives": "features score low high difference difference_low difference_high taken "
    "given_up source",
    "worths": "feature gain low high probability clear best_set",
}


@dataclass(eq=False)
class Report:
    """One self-contained page of what a fitted selector found; `SubgroupSelector.report` makes it.

    Nothing in it is fetched from anywhere, and a Content-Security-Policy forbids that it ever is.
    """

    contents: dict[str, Any]  # everything that is shown, as plain values
    sentences: dict[str, Markup | list[Markup]]  # of the first screen
    cells: Cells

    def html(self) -> str:
        """The whole page."""
        return self._html

    @cached_property
    def _html(self) -> str:
        """Every name from the table is text in it, whatever it holds."""
        folder = files(PACKAGE) / "static"
        style = (folder / STYLE).read_text(encoding="utf-8")
        script = "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)
        subgroups, features = self.contents["subgroups"], self.contents["features"]
        numbers = script_data(self.contents, self.cells)
        as_json = json.dumps(numbers, allow_nan=False, separators=(",", ":"))
        # Where the steps of a plan lie in a drawing of gain over cost, and the ends of its scales.
        plan = self.contents["plan"]
        cost = max((step["total_cost"] for step in plan), default=1.0)
        gain = max((step["total_gain"] for step in plan), default=0.0) or 1.0
        ends = [(0.0, 0.0, True), *((s["total_cost"], s["total_gain"], s["worth"]) for s in plan)]
        points = [(46 + 360 * x / cost, 176 - 162 * y / gain, worth) for x, y, worth in ends]
        page = _templates().get_template("report.html")
        return page.render(
            report=self.contents,
            told=self.sentences,
            style=style,
            script=script,
            policy=policy_for(style, script),
            # JSON that cannot end the element that holds it.
            data=as_json.replace("<", "\\u003c").replace("&", "\\u0026"),
            number_of={row["subgroup"]: i for i, row in enumerate(subgroups)},
            **_map_parts(self.contents),
            beside=len(features) <= MOST_BESIDE and len(subgroups) > 1,
            most_columns=MOST_COLUMNS,
            most_values=MOST_VALUES,
            worths=self.contents["worth_collecting"][:MOST_WORTHS],
            plan_curve={"points": points, "cost": cost, "gain": gain},
            as_map=len(features) * len(subgroups) <= MOST_CELLS,
            smallest_scale=SMALLEST_SCALE * max(row["whole"] for row in subgroups),
            # Whether a set is shown that could have been computed, but was predicted.
            beyond_budget=any(
                one["source"] == "predicted" and not one["missing"]
                for row in subgroups
                for one in row["best_sets"]
            ),
        )

    def write_html(self, path: str | Path) -> None:
        """Write the page to a file, at once or not at all; an older page is replaced."""
        file = as_path(path, "path")
        start = b""
        with refusals_told(file, "read"):
            if file.is_file():
                with file.open("rb") as older:
                    start = older.read(200).lstrip()
        if start and not start.lower().startswith(b"<!doctype html"):
            raise MisfeatError(
                f"{str(file)!r} exists and is not a page; give another name, or remove the file."
            )
        write_file(file, self.html().encode())

    def open(self) -> None:
        """Show the page in the browser, from a file in the folder for temporary ones."""
        file = Path(tempfile.mkdtemp(prefix="misfeat-")) / "report.html"
        self.write_html(file)
        if not webbrowser.open(file.as_uri()):
            raise MisfeatError(f"No browser could be opened; the report is {str(file)!r}.")

    def html_snippet(self) -> str:
        """The page as a sandboxed frame that another page or a notebook can hold."""
        return framed(self.html(), self.contents["title"], "allow-scripts allow-downloads")

    def json(self) -> str:
        """Everything the page shows, for programs."""
        return visible_json(json.dumps(self.contents, ensure_ascii=False, allow_nan=False))

    _repr_html_ = html_snippet

    def __repr__(self) -> str:
        title = visible(self.contents["title"])
        return f"<Report: {title}. Use .open() or .write_html('report.html').>"


def _map_parts(contents: Mapping[str, Any]) -> dict[str, Any]:
    """The features and subgroups of the map, at most so many, and the top of its scale."""
    values = contents["map"]
    rows = [row["rows"] for row in contents["subgroups"]]
    largest = set(sorted(range(len(rows)), key=lambda number: -rows[number])[:MOST_LINES])
    most_features = max(MOST_COLUMNS, MOST_CELLS // max(min(len(rows), MOST_LINES), 1))
    shares, faded = chain(*values["share"]), chain(*values["faded"])
    cells = list(zip(shares, faded, strict=True))
    sure = [share for share, pale in cells if not pale]
    return {
        "map_features": values["features"][:most_features],
        "map_subgroups": [number for number in values["subgroups"] if number in largest],
        "map_top": max(sure or [share for share, _ in cells], default=0.0),
    }


def script_data(contents: Mapping[str, Any], cells: Cells) -> dict[str, Any]:
    """What scripts read of the contents: features as numbers, few digits."""
    number = {name: at for at, name in enumerate(contents["features"])}
    subgroups = contents["subgroups"]
    most = 5 if len(subgroups) > MOST_SUBGROUPS_IN_FULL else None
    worths: dict[str, list[Any]] = {row["subgroup"]: [] for row in subgroups}
    for worth in contents["worth_collecting"]:
        worths[worth["subgroup"]].append(worth)
    # Tables by subgroup and set: one line per cell, the numbers of its labels, then its rows.
    labels: dict[str, int] = {}
    tables: dict[str, Any] = {}
    for (cohort, members), counts in cells.items():
        tables[f"{cohort}:{','.join(map(str, members))}"] = [
            [labels.setdefault(value, len(labels)) for value in values] + row.tolist()
            for values, row in zip(counts.values, counts.in_rows, strict=True)
        ]
    same = ("size", "unit", "features", "lattice", "permutations", "levels", "z", "in_python")
    data: dict[str, Any] = {name: contents[name] for name in same} | {
        "target": contents["target"]["column"],
        "classes": contents["target"]["classes"],
        "subgroups": [
            _numbered(_subgroup(row, worths[row["subgroup"]], most), number) for row in subgroups
        ],
        "cells": {"labels": list(labels), "tables": tables},
        "pooled": contents["estimate"] == "population" and len(subgroups) > 1,
    }
    return {name: _rounded(part) for name, part in data.items()}


def _subgroup(
    row: Mapping[str, Any], worths: Sequence[Mapping[str, Any]], most: int | None
) -> dict[str, Any]:
    """A subgroup as scripts read it, with at most so many lines of each kind."""

    def read(one: Mapping[str, Any], names: str) -> dict[str, Any]:
        return {name: one[name] for name in names.split()}

    page = read(row, "subgroup rows whole missing enough")
    lines = {**row, "values": row["features"], "worths": worths}
    for part, names in READ_OF_LINES.items():
        page[part] = [read(line, names) for line in lines[part][:most]]
    why, stability = row["why"], row["stability"]
    if stability:
        sets = [read(line, "features frequency") for line in stability["sets"][:most]]
        stability = read(stability, "resamples index low high") | {"sets": sets}
    page["answer"] = read(row["answer"], "features")
    return page | {"why": why and read(why, "features sentences"), "stability": stability}


def _numbered(value: Any, number: Mapping[str, int]) -> Any:
    """The same with the numbers of features in place of their names."""
    if isinstance(value, list):
        return [_numbered(part, number) for part in value]
    if not isinstance(value, dict):
        return value
    found = {name: _numbered(part, number) for name, part in value.items()}
    for name in found.keys() & SETS:
        found[name] = sorted(number[feature] for feature in value[name])
    if "feature" in found:
        found["feature"] = number[value["feature"]]
    return found


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(f"{value:.{DIGITS}g}")
    return value


def _percent(share: float | None, low: float | None = None, high: float | None = None) -> str:
    return "–" if share is None else percent(share, low, high).replace(" ", NO_BREAK)


def _percent_between(low: float, high: float) -> str:
    return percent_between(low, high).replace(" ", NO_BREAK)


def _share(share: float, low: float, high: float) -> str:
    told = _percent(share, low, high)
    return f"{told} ({_percent_between(low, high)})" if low < high else told


def shade_of(value: float | None, top: float) -> int:
    """The shade of a value between 0 and the top of its scale; 0 is the palest, 9 the top."""
    if value is None or top <= 0:
        return 0
    return min(N_SHADES - 1, max(0, int(N_SHADES * value / top)))


@cache
def _templates() -> Environment:
    templates = templates_of(PACKAGE)
    words = templates.get_template("glossary.html").module
    templates.globals |= {name: getattr(words, name) for name in ("glossary", "estimates")}
    templates.filters |= {
        "score": score_words,
        "percent": _percent,
        "share": _share,
        "percent_between": _percent_between,
        "count": lambda value: f"{value:,}",
        "shade": shade_of,
        "capital": lambda text: text[:1].upper() + text[1:],
    }
    return templates
