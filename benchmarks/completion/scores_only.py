"""What can be predicted from scores of other subgroups where there are no rows.

    python -m benchmarks.completion.scores_only --save scores    # scores of all tables, once
    python -m benchmarks.completion.scores_only --scores scores [--processes 15] [--out FOLDER]

The first command needs the tables (docs/reference/data.md), the second only what the first saved.
Features are hidden with p = 0.2 and 0.5 by the masks of `python -m benchmarks completion`, sets
have three features. The CSV beside this script has means over ten masks: nDCG@5, nDCG@10,
relative error.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
from pathlib import Path

import numpy as np

from benchmarks.completers import AddCompleter, GainCompleter
from benchmarks.completion.hiding import ranking_figures
from misfeat.completion import ExactScores, InteractionsCompleter, Known, MultiplexCompleter
from misfeat.datasets.population import random_mask

SEEDS = range(1, 11)
SHARES = (0.2, 0.5)
SIZE = 3
COMPLETERS = {
    "gain": GainCompleter(confidence=None),
    "add": AddCompleter(confidence=None),
    "interactions": InteractionsCompleter(confidence=None),
    "multiplex, untrained": MultiplexCompleter(confidence=None, steps=0, device="cpu"),
    "multiplex, no messages": MultiplexCompleter(confidence=None, layers=0, device="cpu"),
    "multiplex": MultiplexCompleter(confidence=None, device="cpu"),
}


def save(folder: Path) -> None:
    from benchmarks.common.tables import TABLES
    from benchmarks.completion.hiding import Truth

    folder.mkdir(parents=True, exist_ok=True)
    for table, load in TABLES.items():
        for seed in SEEDS:
            exact = Truth.of(load(seed).cohorts, SIZE, -1).exact
            by_size = {f"size{m}": scores for m, scores in enumerate(exact.by_size)}
            path = folder / f"{table}.{seed}.npz"
            np.savez_compressed(path, missing=exact.missing, ceiling=exact.ceiling, **by_size)


def one(job):
    folder, table, share, seed, name = job
    import torch

    torch.set_num_threads(1)
    saved = np.load(folder / f"{table}.{seed}.npz")
    by_size = tuple(saved[f"size{m}"] for m in range(SIZE + 1))
    truth = ExactScores(by_size, saved["missing"], saved["ceiling"])
    n_cohorts, n_features = truth.missing.shape
    mask = random_mask(n_cohorts, n_features, share, np.random.default_rng(seed))
    completed = COMPLETERS[name].complete(Known(truth.hidden(mask)), SIZE)
    tested, true = completed.predicted, by_size[SIZE]
    figures = ranking_figures(true, completed.score, tested)
    error = np.sqrt(np.mean((completed.score - true)[tested] ** 2)) / true[tested].mean()
    return (table, share, name), (figures["ndcg_5"], figures["ndcg_10"], error)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", type=Path)
    parser.add_argument("--scores", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    chosen = parser.parse_args()
    if chosen.save:
        save(chosen.save)
        return
    tables = sorted({path.name.split(".")[0] for path in chosen.scores.glob("*.npz")})
    jobs = [
        (chosen.scores, table, share, seed, name)
        for seed in SEEDS
        for table in tables
        for share in SHARES
        for name in reversed(COMPLETERS)
    ]
    found: dict[tuple, list] = {}
    with multiprocessing.get_context("spawn").Pool(chosen.processes) as pool:
        for key, figures in pool.imap_unordered(one, jobs):
            found.setdefault(key, []).append(figures)
    rows = [
        [table, share, name, *np.mean(found[table, share, name], axis=0).round(4)]
        for share in SHARES
        for table in tables
        for name in COMPLETERS
    ]
    for share in SHARES:
        for name in COMPLETERS:
            means = [row[3:] for row in rows if row[1] == share and row[2] == name]
            rows.append(["mean of the tables", share, name, *np.mean(means, axis=0).round(4)])
            print(*rows[-1], flush=True)
    with (chosen.out / "scores_only.csv").open("w", newline="") as file:
        header = ["table", "hidden", "completer", "ndcg_5", "ndcg_10", "relative_error"]
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()
