"""What noise costs: the best sets, and how often intervals hold the truth.

    python -m benchmarks.sites.epsilon --processes 16 --out benchmarks/sites

As `protection`, for counts with noise. The ways to share are exact counts ("exact"), and noisy
tables of three or two features, or scores worked out from them, with an epsilon each, such as
"tables3 2"; delta is 1e-6. Noise is simulated here, since no release is made.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from benchmarks.sites.protection import summaries_of
from joblib import Parallel, delayed

from misfeat.bench.draws import draw_of, mask_of, source_of
from misfeat.bench.population import held, ranked
from misfeat.cohorts.hiding import hide_features
from misfeat.sites import Summary, combine
from misfeat.sites.noise import noisy_summary
from misfeat.sites.scoring import scored_summary
from misfeat.sites.summary import margins

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLES = ("attrition", "adult", "similarity 20", "similarity 100", "similarity 1000")
WAYS = ("exact", "tables3 1", "tables3 2", "tables3 4", "tables3 8", "tables2 2", "scores 8")
FIGURES = ("share", "ndcg", "recorded", "predicted", "best", "width", "worth")


def one_draw(table: str, n_rows: int, hidden: float, seed: int, ways: list[str]) -> list[dict]:
    source = source_of(table, seed)
    draw = draw_of(source, n_rows, seed)
    known = hide_features(draw.rows, mask_of(source.cohorts.missing, hidden, seed))
    exact = summaries_of(known)
    rows = []
    for way in ways:
        rng = np.random.default_rng([seed, n_rows, crc32(way.encode())])
        told = [shared(one, way, rng) for one in exact]
        selection = combine(told).selection
        worth = selection.book.measure.tables or selection.book.measure.alone
        for size in range(1, worth.largest + 1):
            truth, found = source.truth(size, draw.left), selection.completed(size)
            rows.append(
                {
                    "table": table,
                    "rows": n_rows,
                    "hidden": hidden,
                    "way": way,
                    "size": size,
                    **ranked(truth, found.score),
                    **held(truth, found, exact=source.populations is not None),
                    "worth": float(np.median(worth.rows_worth(size))),
                }
            )
    return rows


def shared(summary: Summary, way: str, rng: np.random.Generator) -> Summary:
    """What a site shares in some way."""
    if way == "exact":
        return summary
    share, epsilon = way.split()

    def simulated(counts: NDArray[np.int64], scale: float, _: int) -> NDArray[np.int64]:
        return counts + np.rint(rng.normal(0.0, scale, counts.shape)).astype(np.int64)

    if share == "tables2":
        pairs = summary.tables
        if summary.size == 3:
            pairs = margins(summary.tables, summary.cards, 3)
        summary = replace(summary, share=share, tables=pairs)
    noisy = noisy_summary(summary, float(epsilon), draw=simulated)
    return scored_summary(noisy) if share == "scores" else noisy


def means(rows: list[dict]) -> list[dict]:
    about = ("table", "rows", "hidden", "size", "way")
    by = defaultdict(list)
    for row in rows:
        by[tuple(row[name] for name in about)].append(row)
    return [
        {
            **dict(zip(about, key, strict=True)),
            "draws": len(found),
            **{name: _mean([row[name] for row in found]) for name in FIGURES},
        }
        for key, found in sorted(by.items())
    ]


def _mean(values: list) -> float | str:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 4) if known else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=";".join(TABLES))
    parser.add_argument("--rows", default="300,1000,3000")
    parser.add_argument("--hidden", default="0,0.5")
    parser.add_argument("--ways", default=";".join(WAYS))
    parser.add_argument("--first-seed", type=int, default=101)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", default="")
    asked = parser.parse_args()
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    done: list[dict] = []
    for table in asked.tables.split(";"):
        work = product(
            [table],
            sorted(map(int, asked.rows.split(",")), reverse=True),
            map(float, asked.hidden.split(",")),
            seeds,
        )
        found = Parallel(n_jobs=asked.processes)(
            delayed(one_draw)(*about, asked.ways.split(";"))
            for about in work
            if _can_be_drawn(*about[:2], about[3])
        )
        new = [row for rows in found for row in rows]
        done += new
        for row in means(new):
            print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        if asked.out and done:
            lines = means(done)
            with (Path(asked.out) / "epsilon.csv").open("w", newline="") as file:
                written = csv.DictWriter(file, list(lines[0]))
                written.writeheader()
                written.writerows(lines)


def _can_be_drawn(table: str, n_rows: int, seed: int) -> bool:
    """Whether every subgroup has enough rows to draw so many, and some more to judge by."""
    return all(cohort.size >= 4 / 3 * n_rows for cohort in source_of(table, seed).cohorts)


if __name__ == "__main__":
    main()
