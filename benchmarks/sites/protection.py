"""What protecting counts costs: the best sets, and how often intervals hold the truth.

    python -m benchmarks.sites.protection --processes 16 --out benchmarks/sites

Rows are drawn from large tables as in `python -m benchmarks population`, every subgroup is a site
that shares tables of pairs (or of three features, `--share`). Answers are held against the
population where it is known (generated cohorts); of real tables, against the scores above chance of
the rows that were not drawn. Heart and NHANES have too few rows for that: their populations are
learnt from them (`learnt`), and samples of these are taken, of as many rows as a hospital or
stratum has.
Sampled scores of what tells nothing lie below 0 half of the time, where no population's can: they
count as 0. The ways to share are exact counts ("1"), which answer as rows do, and counts rounded to
multiples ("5", "10", "20"). Figures go into the file that is there in place of those of the same
settings, so that tables can be run one by one.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from joblib import Parallel, delayed

from benchmarks.common.draws import Source, draw_of, mask_of, source_of
from benchmarks.population.experiment import LOOKED_AT, ranked
from benchmarks.sites.learnt import learnt_source
from misfeat.cohorts.feature_removal import hide_features
from misfeat.exceptions import MisfeatError
from misfeat.lattice.levels import level
from misfeat.reading.coders import CodedRows
from misfeat.sites import Codebook, ColumnCode, Summary, combine
from misfeat.sites.codebook import CATEGORY
from misfeat.sites.rounding import rounded_summary
from misfeat.sites.site_counts import tables_of_rows
from misfeat.sites.summary import TABLES as TABLES_OF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.completer_data import CompletedScores

GENERATED = ("similarity 20", "similarity 100", "similarity 1000")
LEARNT = ("heart", "nhanes")
"""Tables whose populations are learnt from them."""
TABLES = ("heart", "attrition", "nhanes", "adult", "diabetes130", *GENERATED)
WAYS = ("1", "5", "10", "20")
USUAL = (300, 1000)
"""Rows of a site."""
ROWS = {"heart": (120, 300)}
"""The same of tables whose subgroups are smaller: heart's hospitals have 123 to 303."""
ABOUT = ("table", "rows", "hidden", "size", "way")
FIGURES = ("share", "ndcg", "recorded", "predicted", "best", "width")
"""Means over draws; `least` is `recorded` of the worst draw."""


def summaries_of(cohorts: Cohorts, share: str) -> list[Summary]:
    """Every subgroup as a site with exact counts."""
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
        subsets = level(len(cards), min(TABLES_OF[share], len(cards))).astype(np.int64)
        tables, _ = tables_of_rows(rows, cards, n_classes, subsets)
        by_class = np.bincount(cohort.target, cohort.weights, n_classes).astype(np.int64)
        found.append(
            Summary(
                site=name,
                codebook=codebook,
                share=share,
                recorded=cohort.recorded,
                by_class=by_class,
                tables=tables.astype(np.int64),
            )
        )
    return found


def source(table: str, seed: int) -> Source:
    """What rows are drawn from."""
    return learnt_source(table) if table in LEARNT else source_of(table, seed)


def _values(many: int) -> tuple[str, ...]:
    return tuple(f"v{number:03}" for number in range(many))


def one_draw(
    table: str, n_rows: int, hidden: float, seed: int, ways: list[str], share: str
) -> list[dict]:
    whole = source(table, seed)
    draw = draw_of(whole, n_rows, seed)
    known = hide_features(draw.rows, mask_of(whole.cohorts.missing, hidden, seed))
    exact = summaries_of(known, share)
    truths = {size: whole.truth(size, draw.left) for size in (1, 2, 3)}
    rows = []
    for way in ways:
        rng = np.random.default_rng([seed, n_rows, crc32(f"{table} {way}".encode())])
        try:
            told = [rounded_summary(one, int(way), rng.bytes(32)) for one in exact]
        except MisfeatError:  # a site has too few rows to tell anything in this way
            continue
        selection = combine(told).selection
        for size, truth in truths.items():
            found = selection.completed(size)
            figures = covered(truth, found)
            about = {"table": table, "rows": n_rows, "hidden": hidden, "seed": seed}
            rows.append(
                {**about, "way": way, "size": size, **ranked(truth, found.score), **figures}
            )
    return rows


def covered(truth: NDArray[np.float64], found: CompletedScores) -> dict[str, float | None]:
    """How often intervals hold the truth, where it is known, and how wide they are."""
    judged, truth = ~np.isnan(truth), np.maximum(truth, 0.0)
    inside = (found.low <= truth) & (truth <= found.high)
    first = np.argsort(-found.score, axis=1, kind="stable")[:, :LOOKED_AT]
    best = np.take_along_axis(inside, first, axis=1)[np.take_along_axis(judged, first, axis=1)]
    return {
        "recorded": _mean(inside[judged & ~found.predicted]),
        "predicted": _mean(inside[judged & found.predicted]),
        "best": _mean(best),
        "width": float((found.high - found.low)[judged].mean() / truth[judged].mean()),
    }


def means(rows: list[dict]) -> list[dict]:
    by = defaultdict(list)
    for row in rows:
        by[tuple(row[name] for name in ABOUT)].append(row)
    return [
        {
            **dict(zip(ABOUT, key, strict=True)),
            "draws": int(sum(row.get("draws", 1) for row in found)),
            **{name: _rounded([row[name] for row in found]) for name in FIGURES},
            "least": round(min(row.get("least", row["recorded"]) for row in found), 4),
        }
        for key, found in sorted(by.items())
    ]


def over_generated(found: list[dict]) -> list[dict]:
    """The means over all kinds of generated cohorts, where the truth is known."""
    rows = [{**row, "table": "generated"} for row in found if row["table"] in GENERATED]
    return means(
        [
            {**row, **{name: _number(row[name]) for name in (*FIGURES, "draws", "least")}}
            for row in rows
        ]
    )


def _number(value: object) -> float | None:
    return None if value == "" else float(value)  # type: ignore[arg-type]


def _mean(values: NDArray[np.bool_]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _rounded(values: list) -> float | str:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 4) if known else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=";".join(TABLES))
    parser.add_argument("--share", default="tables2")
    parser.add_argument("--rows", default="120,300,1000")
    parser.add_argument("--hidden", default="0,0.2,0.5")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", default="")
    asked = parser.parse_args()
    ways = asked.ways.split(",")
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    for table in asked.tables.split(";"):
        work = product(
            [table], map(int, asked.rows.split(",")), map(float, asked.hidden.split(",")), seeds
        )
        done = Parallel(n_jobs=asked.processes)(
            delayed(one_draw)(*about, ways, asked.share)
            for about in work
            if _can_be_drawn(*about[:2], about[3])
        )
        found = means([row for rows in done for row in rows])
        for row in found:
            row["seeds"] = f"{seeds[0]}-{seeds[-1]}"
            print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        if asked.out:
            write(Path(asked.out) / "protection.csv", found)


def write(file: Path, found: list[dict]) -> None:
    """Put figures into a file in place of those of the same settings; means of generated anew."""
    held = list(csv.DictReader(file.open(newline=""))) if file.exists() else []
    known = [{**row, **{name: str(row[name]) for name in ABOUT}} for row in [*held, *found]]
    rows = {tuple(row[name] for name in ABOUT): row for row in known}
    kept = [row for row in rows.values() if row["table"] != "generated"]
    kept += over_generated(kept)
    with file.open("w", newline="") as opened:
        lines = csv.DictWriter(opened, [*ABOUT, "draws", *FIGURES, "least", "seeds"], restval="")
        lines.writeheader()
        lines.writerows(sorted(kept, key=lambda row: [row[name] for name in ABOUT]))


def _can_be_drawn(table: str, n_rows: int, seed: int) -> bool:
    """Whether a table is looked at with so many rows a site, and has some more to judge by."""
    least = min(cohort.size for cohort in source(table, seed).cohorts)
    return least >= 4 / 3 * n_rows and n_rows in ROWS.get(table, USUAL)


if __name__ == "__main__":
    main()
