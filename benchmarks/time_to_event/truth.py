"""Scores and intervals of times to an event against known populations.

    python -m benchmarks.time_to_event.truth [--jobs 2] [--draws 10] [--first 500]

With censoring, tables have as many rows more as keeps the number of events. ``truth.csv`` has, by
distribution, kind and share of censoring: the share of the truly best five sets' information that
the five best-looking sets hold, and how often 90 % intervals hold the truth, for sets of one, two
and three features, recorded ones and such of which a feature was hidden in a subgroup.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.time_to_event.populations import NAMES, SITES, Population, censored_table
from misfeat import Coding, SubgroupSelector

OUTPUT = Path(__file__).with_suffix(".csv")
HEAD = ("distribution", "censoring", "share censored", "size", "draws", "rows", "share of best")
HEAD += ("recorded in interval", "predicted in interval")
KINDS = ("random", "study end", "by subgroup")
SHARES = (0.0, 0.3, 0.5, 0.7)
ROWS = 300  # of a subgroup, without censoring


def one(task: tuple[int, str, str, float]) -> list[tuple[int, float, float, float, int]]:
    """Share of the best, and coverage of recorded and of predicted sets, by size, of a draw."""
    seed, distribution, kind, share = task
    warnings.simplefilter("ignore")
    population = Population.draw(seed, 1.0 if distribution == "exponential" else 1.7)
    rng = np.random.default_rng([seed, KINDS.index(kind), int(100 * share)])
    table = censored_table(population, round(ROWS / (1.0 - share)), kind, share, rng)
    hidden = rng.choice(len(NAMES), len(SITES))
    for site, feature in zip(SITES, hidden, strict=True):
        table.loc[table["site"] == site, NAMES[feature]] = np.nan
    found = []
    for size in (1, 2, 3):
        horizons = Coding(bins={"time": list(population.horizons)}, min_rows=1)
        selector = SubgroupSelector(groups="site", size=size, coding=horizons)
        selector.fit(table, ("time", "event"))
        scores = selector.scores()
        number = [SITES.index(name.removeprefix("site=")) for name in scores["subgroup"]]
        members = [[NAMES.index(name) for name in names] for names in scores["features"]]
        looked_at: Any = selector.cohorts_.horizons  # those that all subgroups reached
        sets = zip(number, members, strict=True)
        truth = np.array([population.score(k, m, looked_at) for k, m in sets])
        low, high, score = (scores[c].to_numpy() for c in ("low", "high", "score"))
        inside = (low <= truth + 1e-9) & (truth <= high + 1e-9)
        recorded = (scores["source"] == "recorded").to_numpy()
        shares = []
        for k in range(len(SITES)):
            own = np.flatnonzero(np.array(number) == k)
            looks = own[np.argsort(-score[own])[:5]]
            shares.append(truth[looks].sum() / np.sort(truth[own])[-5:].sum())
        of = np.mean(shares), inside[recorded].mean(), inside[~recorded].mean()
        found.append((size, *map(float, of), len(table)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=500)
    parser.add_argument("--out", type=Path, default=OUTPUT)
    given = parser.parse_args()
    settings = [
        (distribution, kind, share)
        for distribution, kind, share in product(("exponential", "Weibull"), KINDS, SHARES)
        if share > 0 or kind == KINDS[0]
    ]
    seeds = range(given.first, given.first + given.draws)
    tasks = [(seed, *setting) for setting in settings for seed in seeds]
    with ProcessPoolExecutor(given.jobs) as pool:
        found = dict(zip(tasks, pool.map(one, tasks, chunksize=1), strict=True))
    with given.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        for setting, size in product(settings, (1, 2, 3)):
            lines = np.array([found[(seed, *setting)][size - 1] for seed in seeds])
            _, *means, rows = np.nanmean(lines, axis=0)
            line = (*setting, size, given.draws, round(rows), *(f"{m:.3f}" for m in means))
            writer.writerow(line)
            print(*line)


if __name__ == "__main__":
    main()
