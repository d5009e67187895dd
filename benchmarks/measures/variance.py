"""How the variance of a score is estimated best: by small changes of cells, or by a bootstrap.

    python benchmarks/measures/variance.py > benchmarks/measures/variance.md

Tables of all pairs of 8 features are drawn many times from generated populations (seeds below 100),
which gives the true sampling variance of plug-in scores. Estimates come from single tables: the
mean square of influences less that of dealt tables, plus the variance over deals, as
`misfeat.information.measured_noise` has it before its curve is fitted; or the variance over tables
that are drawn anew from the table itself. A ratio of 1 is right.
"""

from __future__ import annotations

import numpy as np
from intervals import MEASURES

from misfeat.datasets import make_cohorts
from misfeat.information.count_measure import CountMeasure, scores_of
from misfeat.information.measured_noise import row_variances
from misfeat.lattice import level

DRAWS, TRIED, RESAMPLED, DEALT = 400, 12, 40, 20


def dealt_out(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Tables with the same cells and classes, the target dealt out anew."""
    cells = np.repeat(np.arange(len(table)), table.sum(axis=1).astype(int))
    classes = np.repeat(np.arange(table.shape[1]), table.sum(axis=0).astype(int))
    found = np.zeros((DEALT, *table.shape))
    for deal in found:
        np.add.at(deal, (cells, rng.permutation(classes)), 1.0)
    return found


def ratios(measure: CountMeasure, n_rows: int, seed: int) -> np.ndarray:
    """Estimated over true variance, by small changes and by the bootstrap, of every pair."""
    data = make_cohorts(n_cohorts=1, n_rows=10, hide=0.0, random_state=seed)
    (population,) = data.populations.values()
    rng, found = np.random.default_rng(seed), []
    for pair in level(8, 2):
        joint = population.joint(pair.tolist())
        tables = rng.multinomial(n_rows, joint.ravel(), DRAWS).reshape(DRAWS, *joint.shape)
        tables = tables.astype(np.float64)
        true = scores_of(measure, tables).var(ddof=1)
        changed, bootstrap = [], []
        for table in tables[:TRIED]:
            dealt = dealt_out(table, rng)
            own, chance = row_variances(measure, table[None])[0], row_variances(measure, dealt[:4])
            null = scores_of(measure, dealt).var(ddof=1)
            changed.append(null + max(own - chance.mean(), 0.0) / n_rows)
            again = rng.multinomial(n_rows, (table / n_rows).ravel(), RESAMPLED)
            drawn = again.reshape(RESAMPLED, *joint.shape).astype(np.float64)
            bootstrap.append(scores_of(measure, drawn).var(ddof=1))
        found.append([np.mean(changed) / true, np.mean(bootstrap) / true])
    return np.array(found)


def main() -> None:
    """Print a table."""
    print("Estimated over true variance of the scores of pairs: median (10th to 90th percentile)")
    print()
    print("| measure | rows | small changes of cells | bootstrap |")
    print("| --- | --- | --- | --- |")
    for name in ("information", "gini"):
        for n_rows in (300, 1000):
            found = np.concatenate([ratios(MEASURES[name], n_rows, seed) for seed in range(3)])
            low, middle, high = np.percentile(found, (10, 50, 90), axis=0)
            cells = [f"{middle[i]:.2f} ({low[i]:.2f}–{high[i]:.2f})" for i in range(2)]
            print(f"| {name} | {n_rows:,} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
