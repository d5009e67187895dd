"""Cohorts drawn from known populations, with scores above chance of what they recorded."""

import numpy as np

from misfeat.completion import ExactScores, Known
from misfeat.datasets import make_cohorts
from misfeat.information.count_tables import CountTables
from misfeat.lattice.levels import level
from tests.completion.coded import cohorts_of
from tests.information.generated import above_chance


def generated(n_cohorts, n_rows, n_features, hide, similarity=100, seed=0):
    """Cohorts that lack some features, and what they were drawn from."""
    data = make_cohorts(
        n_cohorts, n_rows, n_features, similarity=similarity, hide=0, random_state=seed
    )
    codes = np.array([data.complete[f"f{f + 1}"] for f in range(n_features)], dtype=np.int32)
    missing = np.random.default_rng(seed).random((n_cohorts, n_features)) < hide
    missing[:, missing.all(axis=0)] = False
    return with_missing(codes, data.complete["target"], missing), data


def with_missing(codes, target, missing, n_values=3):
    """Equally large cohorts, one after the other."""
    offsets = np.linspace(0, len(target), len(missing) + 1)
    weights = np.ones(len(target), np.int64)
    return cohorts_of(codes, target, weights, offsets, missing, [n_values] * len(codes))


def scores_of_rows(cohorts, size):
    """Scores above chance by size, from size 0 on; NaN where a cohort lacks a feature."""
    cards = np.array([len(labels) for labels in cohorts.categories])
    n_classes = len(cohorts.classes)
    by_size = [np.zeros((len(cohorts), 1))]
    for m in range(1, size + 1):
        subsets = level(len(cards), m)
        scores = np.full((len(cohorts), len(subsets)), np.nan)
        for i, cohort in enumerate(cohorts):
            for s in np.flatnonzero(~cohorts.missing[i, subsets].any(axis=1)):
                table = np.zeros((*cards[subsets[s]], n_classes))
                np.add.at(table, (*cohort.codes[subsets[s]], cohort.target), cohort.weights)
                scores[i, s] = above_chance(table.reshape(-1, n_classes))
        by_size.append(scores)
    return by_size


def known_with_scores(cohorts, size, n_jobs=1):
    """What is known of cohorts, and scores above chance of what they recorded."""
    ceiling = []
    for cohort in cohorts:
        shares = np.bincount(cohort.target, cohort.weights) / cohort.size
        ceiling.append(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())
    exact = ExactScores((), cohorts.missing, np.array(ceiling))
    return Known(exact, cohorts, n_jobs), scores_of_rows(cohorts, size)


def counted(cohorts):
    """Count tables of all sets of up to three features."""
    cards = [len(labels) for labels in cohorts.categories]
    n_classes = len(cohorts.classes)
    sizes = []
    for size in (1, 2, 3):
        lines = []
        for k, cohort in enumerate(cohorts):
            tables = []
            for members in level(len(cards), size):
                table = np.zeros((*(cards[f] for f in members), n_classes))
                if not cohorts.missing[k, members].any():
                    np.add.at(table, (*cohort.codes[members], cohort.target), cohort.weights)
                tables.append(table.reshape(-1, n_classes))
            lines.append(np.concatenate(tables))
        sizes.append(np.array(lines))
    by_class = np.array([np.bincount(c.target, c.weights, minlength=n_classes) for c in cohorts])
    return CountTables(cohorts.features, cohorts.categories, cohorts.missing, by_class, *sizes)


def wide_columns(n_features=24, n_rows=1200, seed=0):
    """Two features that explain only together, one alone, and many that explain nothing."""
    rng = np.random.default_rng(seed)
    columns = {f"f{i:02d}": rng.integers(0, 2 + i % 3, n_rows) for i in range(n_features)}
    differ = (columns["f03"] > 0) ^ (columns["f09"] > 0)
    odds = np.where(differ, 0.75, 0.25) + np.where(columns["f05"] > 0, 0.1, -0.1)
    columns["site"] = rng.choice(["a", "b", "c"], n_rows)
    columns["y"] = (rng.random(n_rows) < odds).astype(int)
    return columns
