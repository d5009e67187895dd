"""Estimated scores of populations beside the prototype that they grew from, on the same draws.

    python benchmarks/population/against_prototype.py --prototype FILE [--jobs 16]

FILE is population_prototype.py, beside the two files that it imports. Both are run on every draw
of `misfeat bench population` that the options name, and a run that was stopped goes on. Printed
for every table, number of rows and share of hidden features: the share of the five best that ours
and the prototype find, the difference, and a mark where ours is behind by more than 0.01.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

from misfeat.bench.completion import write_csv
from misfeat.bench.draws import USUAL, WORK, at_hand, draw_of, mask_of, source_of
from misfeat.bench.population import PopulationBench, ranked
from misfeat.bench.summaries import mean_rows
from misfeat.bench.units import Unit, finished, run_units
from misfeat.lattice import level

ALLOWED = 0.01
"""So far ours may be behind."""
KEYS = ("table", "rows", "hidden", "size", "method")


def rows_of(cohorts):
    """Every row of a table once, as the prototype takes them; it reads nothing that is hidden."""
    cohort = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    rows = np.repeat(np.arange(len(cohort)), cohorts.weights)
    codes = np.ascontiguousarray(cohorts.codes.T[rows]).astype(np.int64)
    return np.maximum(codes, 0), cohorts.target_codes[rows].astype(np.int64), cohort[rows]


def one_draw(path, table, n_rows, share, seed, size):
    """The prototype's figures on one draw."""
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    prototype = import_module(Path(path).stem)
    source = source_of(table, seed)
    draw = draw_of(source, n_rows, seed)
    missing = source.cohorts.missing
    tables = prototype.prep(*rows_of(draw.rows))
    hidden = missing | mask_of(missing, share, seed)
    numbers, score, _, _ = prototype.posterior(tables, hidden, size)
    place = {tuple(tables.S[number]): i for i, number in enumerate(numbers)}
    order = [place[tuple(s)] for s in level(missing.shape[1], size).tolist()]
    truth = source.truth(size, draw.left)
    return [{"method": "prototype", **ranked(truth, np.nan_to_num(score[:, order]))}]


def prototype_units(bench, path):
    for unit in bench.units():
        about = unit.about
        asked = (about[name] for name in ("table", "rows", "hidden", "seed", "size"))
        yield Unit("prototype", about, {}, partial(one_draw, path, *asked))


def differences(rows):
    """A row a table, number of rows and share: both shares, and how far ours is ahead."""
    rows = [row for row in rows if row["method"] in ("population", "prototype")]
    means = {tuple(row[k] for k in KEYS): row for row in mean_rows(rows, KEYS, ("share", "ndcg"))}
    for *cell, method in means:
        if method == "population":
            ours, theirs = (means[*cell, m] for m in ("population", "prototype"))
            yield {
                **dict(zip(KEYS, cell, strict=False)),
                "ours": ours["share"],
                "prototype": theirs["share"],
                "difference": ours["share"] - theirs["share"],
                "ndcg_difference": ours["ndcg"] - theirs["ndcg"],
            }


def numbers(text):
    return tuple(float(part) if "." in part else int(part) for part in text.split(","))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prototype", required=True)
    parser.add_argument("--tables", default=";".join(USUAL))
    parser.add_argument("--rows", type=numbers, default=(100, 300, 1000, 3000))
    parser.add_argument("--hide", type=numbers, default=(0, 0.2, 0.5))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default=str(Path(__file__).parent))
    given = parser.parse_args()
    bench = PopulationBench(
        tables=given.tables.split(";"),
        rows=given.rows,
        shares=tuple(map(float, given.hide)),
        seeds=tuple(range(given.first_seed, given.first_seed + given.seeds)),
        size=given.size,
        n_jobs=given.jobs,
    )
    place = Path(given.out)
    place.mkdir(parents=True, exist_ok=True)
    units = [*bench.units(), *prototype_units(bench, str(Path(given.prototype).resolve()))]
    units = at_hand(units, finished(place / WORK), print)
    found = list(differences(list(run_units(units, place / WORK, print, given.jobs))))
    write_csv(found, place / "against_prototype.csv")
    for row in found:
        mark = " BEHIND" if row["difference"] < -ALLOWED else ""
        figures = "".join(f"{row[name]:10.3f}" for name in ("ours", "prototype", "difference"))
        print(f"{row['table']:28}{row['rows']:6}{row['hidden']:6}{figures}{mark}")
    behind = sum(row["difference"] < -ALLOWED for row in found)
    mean = np.mean([row["difference"] for row in found])
    print(f"{behind} of {len(found)} cells are behind by more than {ALLOWED}; mean {mean:+.4f}.")


if __name__ == "__main__":
    main()
