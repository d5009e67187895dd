"""Small cohorts, and their scores by scikit-learn."""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.stats import hypergeom
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import expected_mutual_information

from misfeat.cohorts import Cohort
from misfeat.information.null_expectation import expected_n_log_n, n_log_n
from misfeat.lattice.levels import level


def cohort_of(codes: np.ndarray, target: np.ndarray, weights: np.ndarray | None = None) -> Cohort:
    return Cohort(
        name="test",
        codes=codes,
        target=target,
        weights=np.ones(len(target), dtype=np.int64) if weights is None else weights,
        recorded=np.ones(len(codes), dtype=bool),
        cardinalities=codes.max(axis=1, initial=0).astype(np.int64) + 1,
        n_classes=int(target.max(initial=0)) + 1,
    )


def random_cohort(
    n: int = 8,
    rows: int = 400,
    cardinality: int = 4,
    n_classes: int = 3,
    heaviest: int = 1,
    seed: int = 0,
) -> Cohort:
    rng = np.random.default_rng(seed)
    codes = rng.integers(cardinality, size=(n, rows))
    noise = rng.integers(2, size=rows)
    target = (codes[0] + codes[1] * codes[min(2, n - 1)] + noise) % n_classes
    return cohort_of(codes, target, rng.integers(1, heaviest + 1, size=rows))


def with_gaps(seed: int = 0) -> Cohort:
    base = random_cohort(5, 300, 3, seed=seed)
    codes = base.codes.astype(np.int8)
    codes[np.random.default_rng(seed).random(codes.shape) < 0.15] = -1
    return Cohort(**{**vars(base), "codes": codes})


def contingency(cohort: Cohort, subset: np.ndarray) -> np.ndarray:
    """Rows by cell and class, of rows that lack no value; only cells that have any."""
    rows = (cohort.codes[subset] >= 0).all(axis=0)
    keys = np.unique(cohort.codes[subset][:, rows], axis=1, return_inverse=True)[1].ravel()
    table = np.zeros((keys.max() + 1, cohort.n_classes), dtype=np.int64)
    np.add.at(table, (keys, cohort.target[rows]), cohort.weights[rows])
    return table


def reference(cohort: Cohort, subset: np.ndarray) -> float:
    return mutual_info_score(None, None, contingency=contingency(cohort, subset))


def reference_above_chance(cohort: Cohort, subset: np.ndarray) -> float:
    table = contingency(cohort, subset)
    counts = csr_matrix(table[:, table.any(axis=0)])
    plug_in = mutual_info_score(None, None, contingency=counts)
    return plug_in - expected_mutual_information(counts, int(counts.sum()))


def everything(cohort: Cohort, n: int, score=reference) -> list[float]:
    return [score(cohort, np.array(s)) for m in range(1, n + 1) for s in level(n, m)]


def mean_n_log_n(cell: int, n_class: int, n_rows: int) -> float:
    n = np.arange(2, min(cell, n_class) + 1)
    return float((hypergeom(n_rows, n_class, cell).pmf(n) * n * np.log(n)).sum())


def above_chance(counts) -> float:
    """The plug-in information of a table of cells and classes less its null expectation."""
    table = np.asarray(counts, dtype=np.int64)
    expected = expected_n_log_n(table.sum(axis=1), table.sum(axis=0)).sum()
    return float((n_log_n(table).sum() - expected) / max(table.sum(), 1))


def plug_in(table) -> float:
    """The information of a table of cells and classes, as it is defined."""
    joint = table / table.sum()
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    held = joint > 0
    return float((joint[held] * np.log(joint[held] / outer[held])).sum())
