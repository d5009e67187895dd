"""What keeps the transfer from the noise ceiling: what donors lack, or how cohorts differ.

    python -m benchmarks.completion.what_is_left

Every cohort is predicted twice: with all cohorts as the mask leaves them, and with the other
cohorts complete, so that every set has been recorded together somewhere. The difference between the
two is what donors lack; what is left to the noise ceiling is how cohorts differ, and how few rows
they have. Writes what_is_left.csv beside this file: nDCG@5 and nDCG@10, means over ten masks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.common.output import write_csv
from benchmarks.common.tables import TABLES
from benchmarks.completion.experiment import ceiling_of, means
from benchmarks.completion.hiding import Truth, ranking_figures
from misfeat.completion import TransferCompleter
from misfeat.datasets.population import random_mask
from misfeat.lattice.levels import level

SIZE = 3
SHARES = (0.2, 0.5)
SEEDS = range(1, 11)


def with_complete_donors(truth, mask):
    """Scores of every cohort, predicted as if the others had recorded everything."""
    completer = TransferCompleter(confidence=None)
    rows = []
    for cohort in range(len(mask)):
        alone = np.zeros_like(mask)
        alone[cohort] = mask[cohort]
        rows.append(completer.complete(truth.hidden(alone, -1), SIZE).score[cohort])
    return np.array(rows)


def outcomes(table, truth, mask, seed):
    yield "noise ceiling", ceiling_of(table, truth, mask, SIZE, seed)
    tested = mask[:, level(mask.shape[1], SIZE)].any(axis=2)
    true = truth.exact.by_size[SIZE]
    yield "complete donors", ranking_figures(true, with_complete_donors(truth, mask), tested)
    completer = TransferCompleter(confidence=None)
    score = completer.complete(truth.hidden(mask, -1), SIZE).score
    yield "as it is", ranking_figures(true, score, tested)


def main() -> None:
    rows = []
    for name, load in TABLES.items():
        for seed in SEEDS:
            table = load(seed)
            truth = Truth.of(table.cohorts, SIZE, -1)
            for share in SHARES:
                mask = random_mask(*truth.exact.missing.shape, share, np.random.default_rng(seed))
                about = {"table": name, "hidden": share, "size": SIZE}
                rows += [
                    {**about, "completer": what, "seed": seed, **figures}
                    for what, figures in outcomes(table, truth, mask, seed)
                ]
    averages = means(rows)
    for share in SHARES:
        for what in ("noise ceiling", "complete donors", "as it is"):
            found = [r for r in averages if r["hidden"] == share and r["completer"] == what]
            averages.append(
                {
                    "table": "mean of the tables",
                    "hidden": share,
                    "size": SIZE,
                    "completer": what,
                    **{k: float(np.mean([r[k] for r in found])) for k in ("ndcg_5", "ndcg_10")},
                }
            )
    for row in averages:
        print(row["table"], row["hidden"], row["completer"], f"{row['ndcg_5']:.3f}",
              f"{row['ndcg_10']:.3f}")  # fmt: skip
    write_csv(averages, Path(__file__).with_suffix(".csv"))


if __name__ == "__main__":
    main()
