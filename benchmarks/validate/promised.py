"""Does `validate` promise what then comes out?

    python -m benchmarks.validate.promised [--tables T/T] [--rows N,N] [--hide P,P] [--seeds A:B]

Rows are drawn from large tables and features hidden from them. `validate` then sees nothing but
these rows. What it says is held against the truth: the known population of generated tables, else
the rows that were not drawn (their scores above chance). Writes a line a draw into promised.csv
beside this file and prints the means. Coverage is compared on generated tables alone: scores of the
rows left have noise of their own, so that intervals seem to hold less.
"""

from __future__ import annotations

import argparse
import csv
import time
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.common.draws import draw_of, mask_of, source_of
from misfeat.answers.validation import captured_at, trust
from misfeat.cohorts.feature_removal import hide_features
from misfeat.completion import AutoCompleter, CompletedScores, ExactScores, Known
from misfeat.estimation.score_estimate import Estimate
from misfeat.information.measures import MutualInformation

SIZE, K, ROUNDS = 3, 5, 4
SEEDS = range(10, 16)
"""How truth is judged was chosen on seeds below 6, and on six of the tables."""
FIGURES = ("captured", "coverage", "error")
TABLES = (
    "similarity 20",
    "similarity 100",
    "similarity 1000",
    "similarity 20, 4 subgroups",
    "similarity 100, 4 subgroups",
    "similarity 1000, 4 subgroups",
    "adult",
    "attrition",
    "diabetes130",
)


def main() -> None:
    asked = parsed()
    rows = []
    for seed, table, n, p in product(asked.seeds, asked.tables, asked.rows, asked.hide):
        rows.append(compared(table, n, p, seed))
        print(*rows[-1].values(), sep="\t", flush=True)
    with Path(asked.out).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=rows[0])
        writer.writeheader()
        writer.writerows(rows)
    for by in (("rows", "hide"), ("table", "rows", "hide"), ("table",)):
        summed_up(rows, by)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=lambda text: text.split("/"), default=TABLES)
    parser.add_argument("--rows", type=_numbers(int), default=(300, 1000))
    parser.add_argument("--hide", type=_numbers(float), default=(0.2, 0.5))
    parser.add_argument("--seeds", type=_seeds, default=SEEDS)
    parser.add_argument("--out", default=str(Path(__file__).with_suffix(".csv")))
    return parser.parse_args()


def _numbers(kind: type) -> object:
    return lambda text: [kind(part) for part in text.split(",")]


def _seeds(text: str) -> range:
    return range(*map(int, text.split(":")))


def compared(table: str, n: int, p: float, seed: int) -> dict[str, object]:
    source = source_of(table, seed)
    draw = draw_of(source, n, seed)
    cohorts = hide_features(draw.rows, mask_of(draw.rows.missing, p, seed))
    measure = MutualInformation(cohorts, above_chance=True)
    scores = [measure.of_levels(i, 0, SIZE, 1) for i in range(len(cohorts))]
    by_size = tuple(np.array(found) for found in zip(*scores, strict=True))
    exact = ExactScores(by_size, measure.missing, measure.ceiling, closed=False, above_chance=True)
    known, estimate = Known(exact, cohorts, 1), Estimate("population", AutoCompleter())
    start = time.perf_counter()
    found = estimate.complete(known, SIZE)
    fitted = time.perf_counter()
    said = trust(known, estimate, SIZE, K, ROUNDS, seed)
    validated = time.perf_counter()
    real = real_figures(found, source.truth(SIZE, draw.left))
    if source.populations is None:
        real["coverage"] = np.nan
    return {
        "table": table,
        "rows": n,
        "hide": p,
        "seed": seed,
        **{
            f"{name} {kind}": f"{value:.4f}"
            for name in FIGURES
            for kind, value in (
                ("promised", np.mean([getattr(one, name) for one in said])),
                ("real", real[name]),
            )
        },
        "seconds of a fit": f"{fitted - start:.2f}",
        "seconds of validate": f"{validated - fitted:.2f}",
    }


def real_figures(found: CompletedScores, truth: np.ndarray) -> dict[str, float]:
    """The figures of `Trust` against the truth, means over subgroups."""
    by_cohort = []
    for i, of_sets in enumerate(truth):
        known = ~np.isnan(of_sets)
        score, low, high = (array[i][known] for array in (found.score, found.low, found.high))
        true = of_sets[known]
        by_cohort.append(
            {
                "captured": captured_at(K, true, score),
                "coverage": ((low <= true + 1e-9) & (true <= high + 1e-9)).mean(),
                "error": np.sqrt(np.mean((score - true) ** 2)),
            }
        )
    return {name: float(np.mean([one[name] for one in by_cohort])) for name in FIGURES}


def summed_up(rows: list[dict[str, object]], by: tuple[str, ...]) -> None:
    print("\n" + "\t".join([*by, *(f"{f} promised/real" for f in FIGURES), "draws"]))
    for key in sorted({tuple(row[name] for name in by) for row in rows}):
        own = [row for row in rows if tuple(row[name] for name in by) == key]
        cells = [
            "/".join(f"{mean(own, f'{f} {kind}'):.3f}" for kind in ("promised", "real"))
            for f in FIGURES
        ]
        print(*key, *cells, len(own), sep="\t")


def mean(rows: list[dict[str, object]], name: str) -> float:
    """Where the real coverage is not known, the promised one does not count either."""
    about = name.split()[0]
    values = [float(row[name]) for row in rows if not np.isnan(float(row[f"{about} real"]))]
    return float(np.mean(values)) if values else np.nan


if __name__ == "__main__":
    main()
