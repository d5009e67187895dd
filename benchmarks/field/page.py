"""The page of the comparison, made from the kept figures of its three parts."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common.output import markdown_table, mean_rows
from benchmarks.field.imputers import ITERATIONS
from benchmarks.field.missing import COMPLETE, POOLED
from benchmarks.field.missing import NOT_RUN as IMPUTERS_NOT_RUN
from benchmarks.field.peers import CUT, NOT_RUN
from benchmarks.field.ranks import Ranking, blocks_of, ranking, wins
from benchmarks.field.selection import EACH, EVERYTHING, OURS, SIZES
from benchmarks.field.selection import POOLED as POOLED_ROWS
from benchmarks.field.tables import WITH_SUBGROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Row = dict[str, Any]

MODELS = {"logistic": "logistic regression", "boosting": "gradient boosting"}
KINDS = {
    "probability": "by probability",
    "blocks": "in blocks",
    "value": "by the value of another feature",
    "shifts": "by probability, levels shifted",
}
IMPUTED = (", own rows", ", all rows")
SHOWN = 8
"""Lines of a table; the others are in the CSV files."""


def page(folder: Path) -> str:
    """The whole page in Markdown; parts that were not run are left out."""
    lines = ["# Which method should choose features?", ""]
    lines.append(
        "Written by `python -m benchmarks field`. Nothing was tuned on these draws, and misfeat "
        "and its peers are called as their documentation advises."
    )
    for name, write in (("selection", _selection), ("missing", _missing), ("recovery", _recovery)):
        rows = _read(folder / f"{name}.csv")
        if rows:
            lines += ["", *write(rows)]
    return "\n".join(lines) + "\n"


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return [{n: _value(n, text) for n, text in row.items()} for row in csv.DictReader(file)]


def _value(name: str, text: str) -> Any:
    if name in ("table", "method", "by", "gaps", "rows"):
        return text
    return float(text) if text else None


def _selection(rows: Sequence[Row]) -> Iterator[str]:
    seeds = len({row["seed"] for row in rows})
    yield "## Models on the chosen features"
    yield ""
    yield (
        "From every subgroup 200 or 1,000 rows are drawn, from tables without subgroups also two "
        "thirds (5,000 at most). Every method chooses 5 and 10 features; a logistic regression "
        "and a gradient boosting (scikit-learn's first settings) are fitted with them to the same "
        f"rows and judged by their AUC on others. {seeds} draws. Ranks are means over tables or "
        "subgroups (1 is best), of equal ones shared; two methods differ where their ranks are "
        "further apart than the critical difference (Friedman and Nemenyi, 5 %). "
        f"{CUT}. Not run: {'; '.join(f'{n} ({why})' for n, why in NOT_RUN.items())}. "
        "[Every figure](selection.csv), with log loss."
    )
    plain = [row for row in rows if row["table"] not in WITH_SUBGROUPS]
    if plain:
        yield from ["", "### Tables without subgroups", ""]
        yield from _ranked(plain, ("table",), "tables")
    grouped = better_of(
        [row for row in rows if row["table"] in WITH_SUBGROUPS], (POOLED_ROWS, EACH), "logistic_auc"
    )
    if grouped:
        yield from ["", "### Tables with subgroups", ""]
        yield (
            "Peers are given the rows of all subgroups together or of each alone; of both the one "
            "with the greater mean AUC of the regression is shown."
        )
        yield ""
        yield from _ranked(grouped, ("table", "subgroup"), "subgroups")


def better_of(rows: Sequence[Row], endings: tuple[str, str], figure: str) -> list[Row]:
    """Of methods in two variants only the one with the greater mean of a figure."""
    means = {
        row["method"]: row[figure]
        for row in mean_rows(rows, ("method",), (figure,))
        if row[figure] is not None
    }
    kept = set()
    for method in means:
        stem = method
        for ending in endings:
            stem = stem.removesuffix(ending)
        pair = [name for name in (stem, *(stem + e for e in endings)) if name in means]
        kept.add(max(pair, key=lambda name: means[name]))
    return [row for row in rows if row["method"] in kept]


def _ranked(rows: Sequence[Row], block: Sequence[str], what: str) -> Iterator[str]:
    """Mean ranks by model and size, a line a method, and sentences about who is ahead."""
    found: dict[tuple[str, int], Ranking] = {}
    won: dict[str, list[float]] = {}
    for model in MODELS:
        for size in SIZES:
            of_size = [row for row in rows if row["size"] == size]
            figures, methods, _ = blocks_of(of_size, block, f"{model}_auc")
            if len(figures) < 2:
                continue
            found[model, size] = ranking(figures, methods)
            for method, share in wins(figures, methods, OURS).items():
                won.setdefault(method, []).append(share)
    if not found:
        yield "Too few draws are done."
        return
    seconds = {
        method: float(np.median([row["seconds"] for row in rows if row["method"] == method]))
        for method in {row["method"] for row in rows}
    }
    first = next(iter(found.values()))
    order = sorted(first.methods, key=lambda m: np.mean([one.of(m) for one in found.values()]))
    head = ["", *(f"{name}, 5 / 10" for name in MODELS.values()), "misfeat wins; CPU s"]
    shown = [m for m in order if m in (*order[:SHOWN], OURS)]
    yield from markdown_table(head, [_line(m, found, won, seconds) for m in shown])
    yield ""
    others = [m for m in first.methods if m not in (OURS, EVERYTHING)]
    apart, behind, ahead = [], set(), []
    for (_, size), one in found.items():
        apart.append(f"{one.apart:.1f} ({size} features, {one.blocks} {what})")
        behind |= {m for m in others if one.of(m) < one.of(OURS) - one.apart}
        ahead.append(str(sum(one.of(m) > one.of(OURS) + one.apart for m in others)))
    yield (
        f"The first {SHOWN} of {len(order)}. Critical differences: "
        f"{', '.join(dict.fromkeys(apart))}. Clearly ahead of misfeat: "
        f"{', '.join(sorted(behind)) or 'no selector'}. It is clearly ahead of "
        f"{', '.join(ahead)} of {len(others)} selectors, in the order of the columns."
    )


def _line(
    method: str,
    found: dict[tuple[str, int], Ranking],
    won: dict[str, list[float]],
    seconds: dict[str, float],
) -> list[str]:
    cells = [
        " / ".join(f"{found[model, s].of(method):.1f}" for s in SIZES if (model, s) in found)
        for model in MODELS
    ]
    share = "" if method == OURS else f"{100 * np.mean(won[method]):.0f} %; "
    name = f"**{method}**" if method == OURS else method
    return [name, *cells, f"{share}{seconds[method]:.1f}"]


def _verdict(one: Ranking) -> str:
    """Who is first, and from whom misfeat differs by more than chance."""
    others = [m for m in one.methods if m not in (OURS, EVERYTHING)]
    best, own = min(others, key=one.of), one.of(OURS)
    ahead = [m for m in others if one.of(m) < own]
    clearly = [m for m in others if one.of(m) > own + one.apart]
    behind = [m for m in others if one.of(m) < own - one.apart]
    words = (
        f"misfeat is first ({own:.1f}, then {best} {one.of(best):.1f})"
        if not ahead
        else f"ahead of misfeat ({own:.1f}): {_names(ahead, one)}"
    )
    more = f"; clearly ahead of it: {', '.join(behind)}" if behind else ""
    return (
        f"{words}; critical difference {one.apart:.1f}; misfeat is clearly ahead of "
        f"{len(clearly)} of {len(others)} selectors{more}."
    )


def _names(methods: Sequence[str], one: Ranking) -> str:
    return ", ".join(f"{m} {one.of(m):.1f}" for m in sorted(methods, key=one.of))


def _missing(rows: Sequence[Row]) -> Iterator[str]:
    tables, seeds = ({row[key] for row in rows} for key in ("table", "seed"))
    yield "## Features that a subgroup never recorded"
    yield ""
    yield (
        "Features are hidden from subgroups with probability .3, in blocks of about three, where "
        "the mean of another feature is high (or low), and with probability .3 while half of the "
        "features of a subgroup are one level higher. Every method scores all sets of three; the "
        "share is what the five best of those with a hidden feature truly explain, over the five "
        "truly best of them: in the known population of generated tables, in the rows that were "
        "not drawn of real ones. Imputers are given the target and the subgroup; then scores above "
        "chance of the subgroup's filled rows, or of all, whichever is better on the mean. "
        f"`{POOLED}` takes the rows that recorded a set, `{COMPLETE}` those without any gap, and "
        f"a lot where there are none. {len(tables)} tables, {len(seeds)} draws; miceforest with "
        f"one data set and {ITERATIONS} iterations. Not run: "
        f"{'; '.join(f'{n} ({why})' for n, why in IMPUTERS_NOT_RUN.items())}. "
        "[Every figure](missing.csv)."
    )
    shown = better_of(rows, (IMPUTED[0], IMPUTED[1]), "hidden")
    for n_rows in sorted({row["rows"] for row in shown}, key=int):
        here = [row for row in shown if row["rows"] == n_rows]
        means = {
            (row["method"], row["gaps"]): row["hidden"]
            for row in mean_rows(here, ("method", "gaps"), ("hidden",))
        }
        methods = list(dict.fromkeys(row["method"] for row in here))
        order = sorted(methods, key=lambda m: -sum(means.get((m, g), 0) for g in KINDS))
        yield ""
        yield f"{int(n_rows):,} rows a subgroup:"
        yield ""
        best = order[:3] if OURS in order[:3] else [*order[:2], OURS]
        table = [[words, *(_share(means.get((m, g))) for m in best)] for g, words in KINDS.items()]
        yield from markdown_table(["hidden", *best], table)
        yield ""
        rest = [f"{m} {_share(_mean(means, m))}" for m in order if m not in best]
        yield f"Means of all others: {', '.join(rest)}."
    figures, methods, _ = blocks_of(
        [{**row, "hidden": row["hidden"]} for row in shown], ("table",), "hidden"
    )
    if len(figures) > 1:
        one = ranking(figures, methods)
        yield ""
        yield f"Over {one.blocks} tables: {_verdict(one)}"


def _mean(means: dict[tuple[str, str], float], method: str) -> float | None:
    known = [means[method, g] for g in KINDS if (method, g) in means]
    return float(np.mean(known)) if known else None


def _share(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.3f}".lstrip("0")


def _recovery(rows: Sequence[Row]) -> Iterator[str]:
    seeds = len({row["seed"] for row in rows})
    yield "## Planted sets"
    yield ""
    yield (
        "Two GAMETES tables (20 features, of which two or three matter together), and generated "
        "ones: a pair and a triple that explain nothing alone, and such a pair beside three that "
        f"do. 500 and 1,500 rows, {seeds} draws. How often all of them are chosen, at their number "
        "/ among ten: means over pairs, triples, and the pair beside others. "
        "[Every figure](recovery.csv)."
    )
    yield ""
    kinds = {
        "pairs": ("2_Way", "planted pair"),
        "triples": ("3_Way", "triple"),
        "beside others": ("beside",),
    }
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        cells, total = [], 0.0
        for words in kinds.values():
            here = [row for row in own if any(word in row["table"] for word in words)]
            mean = mean_rows(here, (), ("at_size", "among_ten"))
            one = mean[0] if mean else {"at_size": 0.0, "among_ten": 0.0}
            total += one["at_size"] + one["among_ten"]
            cells.append(f"{_share(one['at_size'])} / {_share(one['among_ten'])}")
        name = f"**{method}**" if method == OURS else method
        lines.append((-total, [name, *cells]))
    ordered = [line for _, line in sorted(lines, key=lambda pair: pair[0])]
    yield from markdown_table(["", *kinds], ordered[: SHOWN - 2])
    yield ""
    yield f"Of all others {ordered[SHOWN - 2][0]} comes next."
