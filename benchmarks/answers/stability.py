"""Do sets that are called stable come out again in a fresh table?

    python -m benchmarks.answers.stability [--seeds A:B] [--fresh N] [--jobs N]
    python -m benchmarks.answers.stability --ways
    python -m benchmarks.answers.stability --picture

Rows are drawn from large tables, features hidden from some. The selection of these rows says how
often each of its five best sets comes out again (`Selection.stability`). That is held against fresh
draws of as many other rows from the same table: the share of them in which the set is among the
five best. Writes a line a set into stability.csv beside this file, and the curve (what was called
against what came out, by bins) into stability_curve.csv.

With ``--ways``, ways to draw are compared on seeds of their own; stability_ways.csv and
stability_ways_curve.csv are what the way and its share were chosen by. With ``--picture``, the
curve is drawn into stability_curve.svg.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed

from benchmarks.common import output as plots
from benchmarks.common.draws import draw_of, draw_rows, mask_of, source_of
from misfeat.answers.selection_base import FitOptions
from misfeat.answers.stability import resampled, stability_of
from misfeat.answers.top_sets import best_sets
from misfeat.cohorts.feature_removal import hide_features
from misfeat.cohorts.resampled_rows import reweighted, subsample
from misfeat.completion import AutoCompleter
from misfeat.estimation.score_estimate import Estimate
from misfeat.estimation.set_scores import SetScores
from misfeat.information.measures import MutualInformation
from misfeat.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from misfeat.cohorts import Cohorts
    from misfeat.runtime.array_types import Floats

    Drawn = Callable[[Cohorts, np.random.Generator], Cohorts]
    Line = dict[str, object]

HERE = Path(__file__).parent
SIZE, K = 3, 5
SEEDS = range(10, 18)
"""The way to draw was chosen on seeds below 6."""
SEEDS_OF_WAYS = range(3)
DRAWS_OF_WAYS = 25
FEWEST_DRAWN = 10
"""A point of the picture stands for so many sets at least."""
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
CASES = (
    ("attrition", 500, 0.0, "population"),
    ("attrition", 500, 0.25, "population"),
    ("attrition", 1500, 0.0, "population"),
    ("attrition", 500, 0.0, "above_chance"),
    ("adult", 500, 0.0, "population"),
    ("similarity 20", 500, 0.25, "population"),
    ("similarity 100", 500, 0.0, "population"),
)
"""Table, rows a subgroup, share of features hidden, and estimate."""
CASES_OF_WAYS = (
    ("attrition", 500, 0.0, "population"),
    ("adult", 500, 0.0, "population"),
    ("attrition", 500, 0.0, "above_chance"),
)


def put_back(cohorts: Cohorts, rng: np.random.Generator, share: float) -> Cohorts:
    """Rows drawn one by one, each put back before the next."""
    drawn = [
        rng.multinomial(round(share * cohort.size), cohort.weights / cohort.size)
        for cohort in cohorts
    ]
    return reweighted(cohorts, np.concatenate(drawn).astype(np.int64))


def not_put_back(cohorts: Cohorts, rng: np.random.Generator, share: float) -> Cohorts:
    return subsample(cohorts, share, rng)


WAYS: dict[str, Drawn] = {
    "all, put back": partial(put_back, share=1.0),
    "half, put back": partial(put_back, share=0.5),
    "half": partial(not_put_back, share=1 / 2),
    "third": partial(not_put_back, share=1 / 3),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ways", action="store_true")
    parser.add_argument("--picture", action="store_true")
    parser.add_argument("--seeds", type=lambda text: range(*map(int, text.split(":"))))
    parser.add_argument("--fresh", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    cases, seeds = (CASES_OF_WAYS, SEEDS_OF_WAYS) if asked.ways else (CASES, SEEDS)
    work = [
        delayed(compared)(*case, seed, asked.fresh, ways=asked.ways)
        for seed, case in product(asked.seeds or seeds, cases)
    ]
    by = ("table", "rows", "hidden", "estimate", "way")
    name = "stability_ways" if asked.ways else "stability"
    lines: list[Line] = []
    if asked.picture:
        picture(HERE / "stability_curve.csv")
        return
    for found in Parallel(asked.jobs, return_as="generator")(work):
        lines += found
        print(*list(found[0].values())[:5], flush=True)
        # Written after every draw, so that a run that is stopped leaves what it has.
        write(lines, HERE / f"{name}.csv")
        write(list(curve(lines, by)), HERE / f"{name}_curve.csv")


def selection_of(rows: Cohorts, estimate: str, seed: int) -> Selection:
    confidence = None if estimate == "sample" else 0.9
    how = Estimate(estimate, AutoCompleter(confidence=confidence), confidence)
    measure = MutualInformation(rows, above_chance=how.above_chance)
    return Selection(rows, SetScores(measure, how, n_jobs=1), FitOptions(SIZE, K, seed=seed))


def compared(
    table: str, n_rows: int, hidden: float, estimate: str, seed: int, n_fresh: int, *, ways: bool
) -> list[Line]:
    """A line for every set that is shown, and every way to draw."""
    source = source_of(table, seed)
    mask = mask_of(source.cohorts.missing, hidden, seed)
    draw = draw_of(source, n_rows, seed)
    selection = selection_of(hide_features(draw.rows, mask), estimate, seed)
    shown = [(best.subgroup, best.features) for best in best_sets(selection)]
    again = dict.fromkeys(shown, 0)
    for number in range(n_fresh):
        rng = np.random.default_rng([seed, n_rows, number])
        fresh = hide_features(draw_rows(draw.left, n_rows, rng).rows, mask)
        for best in best_sets(selection_of(fresh, estimate, seed)):
            if (best.subgroup, best.features) in again:
                again[best.subgroup, best.features] += 1
    if ways:
        called = {way: frequencies(selection, drawn, seed) for way, drawn in WAYS.items()}
    else:
        called = {"as released": [one.frequency for one in stability_of(selection).sets]}
    about = {"table": table, "rows": n_rows, "hidden": hidden, "estimate": estimate, "seed": seed}
    return [
        {
            **about,
            "way": way,
            "subgroup": subgroup,
            "features": " ".join(features),
            "called": round(frequency, 4),
            "fresh": round(again[subgroup, features] / n_fresh, 4),
        }
        for way, of_sets in called.items()
        for (subgroup, features), frequency in zip(shown, of_sets, strict=True)
    ]


def frequencies(selection: Selection, drawn: Drawn, seed: int) -> list[float]:
    """How often the shown sets come out again when rows are drawn in another way."""

    def answer(seed_of_draw: np.random.SeedSequence) -> Floats:
        rows = drawn(selection.cohorts, np.random.default_rng(seed_of_draw))
        return selection_of(rows, selection.set_scores.estimate.name, seed).completed(SIZE).score

    seeds = np.random.SeedSequence(seed).spawn(DRAWS_OF_WAYS)
    found = resampled(selection.completed(SIZE), K, map(answer, seeds))
    often: list[float] = (found.ranks <= K).mean(axis=0).ravel().tolist()
    return often


def curve(lines: Sequence[Line], by: Sequence[str]) -> Iterator[Line]:
    """What was called and what came out, in bins of the former; all sets in a line of their own.

    The last column is a standard error over draws, since sets of one draw err together.
    """
    kinds: dict[tuple[object, ...], list[Line]] = defaultdict(list)
    for line in lines:
        kinds[tuple(line[name] for name in by)].append(line)
    for kind, own in kinds.items():
        called = np.array([line["called"] for line in own], dtype=float)
        fresh = np.array([line["fresh"] for line in own], dtype=float)
        seeds = np.array([line["seed"] for line in own])
        about = dict(zip(by, kind, strict=True))
        square = float(((called - fresh) ** 2).mean())
        yield {**about, "bin": "all", **_means(called, fresh, seeds), "square": round(square, 4)}
        for low, high in pairwise(BINS):
            inside = (called >= low) & ((called < high) | (high == 1.0))
            if inside.any():
                found = _means(called[inside], fresh[inside], seeds[inside])
                yield {**about, "bin": f"{low:.1f}-{high:.1f}", **found, "square": ""}


def _means(called: np.ndarray, fresh: np.ndarray, seeds: np.ndarray) -> Line:
    off = np.array([(fresh - fresh.mean())[seeds == seed].sum() for seed in np.unique(seeds)])
    error = float(np.sqrt((off**2).sum()) / len(fresh))
    return {
        "sets": len(called),
        "called": round(float(called.mean()), 3),
        "fresh": round(float(fresh.mean()), 3),
        "error": round(error, 3),
    }


def picture(path: Path) -> None:
    """Draw the curve of every case beside what would be perfect."""
    with path.open(newline="", encoding="utf-8") as file:
        found = [line for line in csv.DictReader(file) if line["bin"] != "all"]
    rows = [
        {
            "called": float(line["called"]),
            "fresh": float(line["fresh"]),
            "case": case_of(line),
        }
        for line in found
        if int(line["sets"]) >= FEWEST_DRAWN
    ]
    with plots.styled():
        figure, (axis,) = plots.panels(1, height=3.6)
        axis.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, linestyle=":")
        plots.lines(axis, rows, "called", "fresh", "case")
        axis.set(
            xlabel="called: share of the resamples",
            ylabel="came out: share of fresh tables",
            xlim=(0, 1.02),
            ylim=(0, 1.02),
        )
        axis.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None}, bbox_inches="tight")


def case_of(line: Line) -> str:
    hidden = float(str(line["hidden"]))
    parts = [f"{line['table']}, {int(str(line['rows'])):,} rows"]
    parts += [f"{100 * hidden:.0f} % hidden"] if hidden else []
    parts += ["above chance"] if line["estimate"] == "above_chance" else []
    return ", ".join(parts)


def write(lines: Sequence[Line], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
