"""Evidence drawn from populations that are known, for tests of posteriors."""

from __future__ import annotations

import numpy as np

from misfeat.datasets import make_cohorts
from misfeat.information.chance import ChanceTable, n_log_n
from misfeat.information.count_tables import table_starts
from misfeat.lattice import level
from misfeat.population.posterior import Evidence
from misfeat.population.variance import null_variance
from tests.population.reference import shrink_levels


def counted(codes, target, cards, n_classes, subsets):
    """Tables of sets, laid end to end."""
    tables = []
    for subset in subsets:
        cells = np.ravel_multi_index(codes[subset], cards[subset])
        size = int(cards[subset].prod()) * n_classes
        tables.append(
            np.bincount(cells * n_classes + target, minlength=size).reshape(-1, n_classes)
        )
    return np.concatenate(tables).astype(float)


def scores_above_chance(table, starts, by_class):
    """Scores of all sets of a cohort: a table of chance, looked up once a cell."""
    chance = ChanceTable.of(by_class).values
    cells = n_log_n(table).sum(axis=1) - chance[table.sum(axis=1).astype(int)]
    return np.add.reduceat(cells, starts[:-1]) / sum(by_class)


def evidence_of(codes, target, cards, n_classes, size):
    """Evidence of cohorts that recorded everything; codes are (cohort, feature, row)."""
    subsets = [level(len(cards), m).astype(np.int64) for m in range(1, size + 1)]
    pooled = shrink_levels(
        subsets,
        [
            sum(counted(x, y, cards, n_classes, s) for x, y in zip(codes, target, strict=True))
            for s in subsets
        ],
        cards,
    )
    starts = table_starts(subsets[-1], cards)
    scores = np.array(
        [
            scores_above_chance(
                counted(x, y, cards, n_classes, subsets[-1]),
                starts,
                np.bincount(y, minlength=n_classes),
            )
            for x, y in zip(codes, target, strict=True)
        ]
    )
    n_rows = np.full(len(codes), float(codes.shape[2]))
    return Evidence(
        scores=scores,
        null=null_variance(n_rows, cards[subsets[-1]].prod(axis=1), n_classes),
        n_rows=n_rows,
        predicted=np.zeros(scores.shape, dtype=bool),
        pooled=pooled[-1].information,
    )


def drawn(similarity, n_rows, n_cohorts, seed, size=3, n_features=7):
    """Evidence of generated cohorts, the populations' scores, and the entropies of the target."""
    data = make_cohorts(
        n_cohorts, n_rows, n_features, similarity=similarity, hide=0, random_state=seed
    )
    columns = np.array([data.complete[f"f{f + 1}"] for f in range(n_features)])
    codes = columns.reshape(n_features, n_cohorts, n_rows).transpose(1, 0, 2)
    target = data.complete["target"].reshape(n_cohorts, n_rows)
    populations = data.populations.values()
    truth = np.array([[p.mutual_info(s) for s in level(n_features, size)] for p in populations])
    entropy = np.array([-(p.classes * np.log(p.classes)).sum() for p in populations])
    return evidence_of(codes, target, np.full(n_features, 3), 2, size), truth, entropy
