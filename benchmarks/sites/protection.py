"""What protecting counts costs: the best sets, and how often intervals hold the truth.

    python -m benchmarks.sites.protection --processes 16 --out benchmarks/sites

Rows are drawn from large tables as in `misfeat bench population`, every subgroup is a site that
shares tables of three features, and answers are held against the population where it is known, or
against the rows that were not drawn. The ways to share are exact counts ("1"), which answer as rows
do, counts rounded to multiples ("5", "10", "20"), and scores alone ("scores").
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed

from misfeat.bench.draws import draw_of, mask_of, source_of
from misfeat.bench.population import held, ranked
from misfeat.cohorts.coders import CodedRows
from misfeat.cohorts.hiding import hide_features
from misfeat.lattice import level
from misfeat.sites import Codebook, ColumnCode, Summary, combine
from misfeat.sites.codebook import CATEGORY
from misfeat.sites.rounding import rounded_summary
from misfeat.sites.scoring import scored_summary
from misfeat.sites.summarising import tables_of_rows

if TYPE_CHECKING:
    from misfeat.cohorts import Cohorts

TABLES = (
    *("attrition", "nhanes", "adult"),
    *("similarity 20", "similarity 100", "similarity 1000"),
)
FIGURES = ("share", "ndcg", "recorded", "predicted", "best", "width")


def summaries_of(cohorts: Cohorts) -> list[Summary]:
    """Every subgroup as a site with exact counts of three features."""
    target = ColumnCode(cohorts.target, CATEGORY, values=_values(len(cohorts.classes)))
    features = tuple(
        ColumnCode(name, CATEGORY, values=_values(len(labels)))
        for name, labels in zip(cohorts.features, cohorts.categories, strict=True)
    )
    names = [f"{number:03}" for number in range(len(cohorts))]
    codebook = Codebook(target, features, dict.fromkeys(names))
    n_classes, found = len(target.labels), []
    for name, cohort in zip(names, cohorts, strict=True):
        cards = np.array(codebook.cards, dtype=np.int64)[cohort.recorded]
        codes = cohort.codes[cohort.recorded].astype(np.int64)
        codes = np.where(codes < 0, cards[:, None] - 1, codes)
        rows = CodedRows(np.vstack([codes, cohort.target]), cohort.weights)
        subsets = level(len(cards), min(3, len(cards))).astype(np.int64)
        tables, _ = tables_of_rows(rows, cards, n_classes, subsets)
        by_class = np.bincount(cohort.target, cohort.weights, n_classes).astype(np.int64)
        found.append(
            Summary(
                site=name,
                codebook=codebook,
                share="tables3",
                recorded=cohort.recorded,
                by_class=by_class,
                tables=tables.astype(np.int64),
            )
        )
    return found


def _values(many: int) -> tuple[str, ...]:
    return tuple(f"v{number:03}" for number in range(many))


def one_draw(table: str, n_rows: int, hidden: float, seed: int, ways: list[str]) -> list[dict]:
    source = source_of(table, seed)
    draw = draw_of(source, n_rows, seed)
    known = hide_features(draw.rows, mask_of(source.cohorts.missing, hidden, seed))
    exact = summaries_of(known)
    truths = {size: source.truth(size, draw.left) for size in (1, 2, 3)}
    rows = []
    for way in ways:
        selection = combine([shared(one, way) for one in exact]).selection
        for size, truth in truths.items():
            found = selection.completed(size)
            figures = held(truth, found, exact=source.populations is not None)
            about = {"table": table, "rows": n_rows, "hidden": hidden, "seed": seed}
            rows.append(
                {**about, "way": way, "size": size, **ranked(truth, found.score), **figures}
            )
    return rows


def shared(summary: Summary, way: str) -> Summary:
    """What a site shares in some way."""
    return scored_summary(summary) if way == "scores" else rounded_summary(summary, int(way))


def means(rows: list[dict]) -> list[dict]:
    by = defaultdict(list)
    for row in rows:
        by[tuple(row[name] for name in ("table", "rows", "hidden", "size", "way"))].append(row)
    return [
        {
            **dict(zip(("table", "rows", "hidden", "size", "way"), key, strict=True)),
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
    parser.add_argument("--hidden", default="0,0.2,0.5")
    parser.add_argument("--ways", default="1,5,10,20,scores")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", default="")
    asked = parser.parse_args()
    ways = asked.ways.split(",")
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    work = product(
        asked.tables.split(";"),
        map(int, asked.rows.split(",")),
        map(float, asked.hidden.split(",")),
        seeds,
    )
    done = Parallel(n_jobs=asked.processes)(
        delayed(one_draw)(*about, ways) for about in work if _can_be_drawn(*about[:2], about[3])
    )
    found = means([row for rows in done for row in rows])
    for row in found:
        print(", ".join(f"{name} {value}" for name, value in row.items()))
    if asked.out:
        with (Path(asked.out) / "protection.csv").open("w", newline="") as file:
            lines = csv.DictWriter(file, list(found[0]))
            lines.writeheader()
            lines.writerows(found)


def _can_be_drawn(table: str, n_rows: int, seed: int) -> bool:
    """Whether every subgroup has enough rows to draw so many, and some more to judge by."""
    return all(cohort.size >= 4 / 3 * n_rows for cohort in source_of(table, seed).cohorts)


if __name__ == "__main__":
    main()
