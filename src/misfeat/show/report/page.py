"""From the contents of the report to its page: templates, style, scripts and what they may do."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from misfeat.answers.collecting import SMALLEST_SCALE
from misfeat.show.pages import as_html, policy_for, static_file, templates_of
from misfeat.show.report.packing import packed
from misfeat.show.report.words import ESTIMATES, GLOSSARY, column_words, slug, support_words
from misfeat.words.numbers import p_words, percent, percent_between, score_decimals, score_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment

    from misfeat.exceptions import Spelling
    from misfeat.show.report.gather import Findings
    from misfeat.show.report.packing import Cells

PACKAGE = "misfeat.show.report"
SCRIPTS = (
    "dom.js",
    "tables.js",
    "charts.js",
    "why.js",
    "subgroup.js",
    "explorer.js",
    "views.js",
)
STYLES = ("report.css",)
MOST_BESIDE = 14
"""Features up to which the map stands beside the sentences rather than below them."""
MOST_COLUMNS = 20
"""Features that the map shows at first."""
MOST_CELLS = 3_000
"""Cells of a map; where there are more, only the features that tell most are in it."""
MOST_LINES = 200
"""Subgroups of a map, the largest; the page of any other has what its features tell."""
N_SHADES = 10
"""Of a heat map, which has no styles of its own."""
MOST_WORTHS = 200
"""Lines of what unrecorded features would add; the page of a subgroup has all of its own."""


def page(
    contents: dict[str, Any],
    told: Mapping[str, Any],
    cells: Cells,
) -> str:
    """The whole page; every name from the table is text in it, whatever it holds."""
    style, script = _joined(STYLES), _joined(SCRIPTS)
    subgroups = contents["subgroups"]
    html: str = (
        _templates()
        .get_template("report.html")
        .render(
            report=contents,
            told=told,
            style=style,
            script=script,
            policy=policy_for(style, script),
            data=_as_script_data(packed(contents, cells)),
            number_of={row["subgroup"]: i for i, row in enumerate(subgroups)},
            map_features=_map_features(contents),
            map_subgroups=_map_subgroups(contents),
            map_top=_map_top(contents),
            beside=len(contents["features"]) <= MOST_BESIDE and len(subgroups) > 1,
            most_columns=MOST_COLUMNS,
            worths=contents["worth_collecting"][:MOST_WORTHS],
            as_map=len(contents["features"]) * len(subgroups) <= MOST_CELLS,
            smallest_scale=SMALLEST_SCALE * max(row["whole"] for row in subgroups),
            beyond_budget=_beyond_budget(contents),
        )
    )
    return html


def sentences_as_html(findings: Findings, spell: Spelling = str) -> dict[str, Any]:
    """The sentences of the report by where they stand, names isolated."""
    screen = findings.screen
    return {
        "whole": as_html(screen.whole, spell),
        "answers": [as_html(one.words, spell) for one in screen.subgroups],
        "collecting": [as_html(one, spell) for one in screen.collecting],
        "overturning": [as_html(one.words, spell, "part") for one in screen.overturning],
        "cautions": [as_html(one.words, spell, "part") for one in screen.other_cautions],
        "left_out": [as_html(one, spell) for one in findings.left_out],
    }


def _map_features(contents: Mapping[str, Any]) -> list[int]:
    """The features of the map, those that tell most first."""
    ordered: list[int] = contents["map"]["features"]
    lines = min(len(contents["subgroups"]), MOST_LINES)
    return ordered[: max(MOST_COLUMNS, MOST_CELLS // max(lines, 1))]


def _map_subgroups(contents: Mapping[str, Any]) -> list[int]:
    """The subgroups of the map, the largest of very many, in its order."""
    rows = [row["rows"] for row in contents["subgroups"]]
    largest = set(sorted(range(len(rows)), key=lambda number: -rows[number])[:MOST_LINES])
    return [number for number in contents["map"]["subgroups"] if number in largest]


def _map_top(contents: Mapping[str, Any]) -> float:
    """The most that a single feature tells, of those that are more than chance if there are any."""
    held = contents["map"]
    cells = [
        (share, faded)
        for shares, fadeds in zip(held["share"], held["faded"], strict=True)
        for share, faded in zip(shares, fadeds, strict=True)
    ]
    sure = [share for share, faded in cells if not faded]
    return max(sure or [share for share, _ in cells], default=0.0)


def _beyond_budget(contents: dict[str, Any]) -> bool:
    """Whether a set is shown that could have been computed, but was predicted."""
    return any(
        one["source"] == "predicted" and not one["missing"]
        for row in contents["subgroups"]
        for one in row["best_sets"]
    )


def _as_script_data(held: dict[str, Any]) -> str:
    """JSON that cannot end the element that holds it."""
    text = json.dumps(held, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join(static_file(PACKAGE, name) for name in names)


def _percent(share: float | None, low: float | None = None, high: float | None = None) -> str:
    return "–" if share is None else _kept_together(percent(share, low, high))


def _share(share: float, low: float, high: float) -> str:
    """A share with its interval, where it has one."""
    told = _percent(share, low, high)
    return f"{told} ({_percent_between(low, high)})" if low < high else told


def _percent_between(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else _kept_together(percent_between(low, high))


def _score(score: float | None, low: float | None = None, high: float | None = None) -> str:
    if score is None:
        return "–"
    return score_words(score, score if low is None else low, score if high is None else high)


def _score_between(low: float, high: float) -> str:
    digits = score_decimals(low, high)
    return f"{low:.{digits}f}–{high:.{digits}f}"


def _kept_together(text: str) -> str:
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def shade_of(value: float | None, top: float) -> int:
    """The shade of a value between 0 and the top of its scale; 0 is the palest.

    Examples
    --------
    >>> shade_of(0.0, 0.5), shade_of(0.26, 0.5), shade_of(0.5, 0.5), shade_of(None, 0.5)
    (0, 5, 9, 0)
    """
    if value is None or top <= 0:
        return 0
    return min(N_SHADES - 1, max(0, int(N_SHADES * value / top)))


@cache
def _templates() -> Environment:
    templates = templates_of(PACKAGE)
    templates.globals["glossary"] = GLOSSARY
    templates.filters |= {
        "score": _score,
        "score_between": _score_between,
        "percent": _percent,
        "p": p_words,
        "share": _share,
        "percent_between": _percent_between,
        "count": lambda value: f"{value:,}",
        "shade": shade_of,
        "slug": slug,
        "support": support_words,
        "estimate": ESTIMATES.__getitem__,
        "columns": column_words,
    }
    return templates
