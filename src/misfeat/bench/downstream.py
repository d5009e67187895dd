"""`misfeat bench downstream`: how well do models predict with the features that were chosen?

From every subgroup of a large table some rows are drawn. Features are chosen on them, a logistic
regression is fitted to them in every subgroup, and judged on the subgroup's other rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from misfeat.bench.completion import write_csv
from misfeat.bench.downstream_page import FIGURES, draw_plots, page, summary
from misfeat.bench.draws import USUAL, check_asked, draw_of, made_draws, source_of
from misfeat.bench.estimates import book_of, code_of_estimates, estimated
from misfeat.bench.peers import PEERS, STEPS
from misfeat.bench.summaries import mean_of, mean_rows
from misfeat.bench.units import Unit
from misfeat.cohorts.features import without_features
from misfeat.estimation.estimates import POPULATION
from misfeat.exceptions import MisfeatError, check_count
from misfeat.selection.path import best_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.bench.units import Tell
    from misfeat.cohorts import Cohort, Cohorts

    Row = dict[str, Any]
    Chosen = dict[int, list[tuple[int, ...]]]

OURS = ("sample", "population")
"""Scales of `estimate` whose best sets are tried."""
ALL = "all features"
MOST_COMPARED = 5000
"""So many sets are compared with each other; where there are more, features are chosen in turn."""
METHODS = (*OURS, *(f"{peer}, {whose}" for peer in PEERS for whose in ("pooled", "each")), ALL)
"""What chooses features; a peer on the rows of all subgroups together, and of each alone."""


@dataclass(frozen=True)
class DownstreamBench:
    """Chooses features on drawn rows, fits models to them, and tests these on other rows.

    Tables are those of `misfeat.bench.draws.SOURCES`, rows are drawn from every subgroup, `sizes`
    are features to choose, methods some of `METHODS`. The figures do not depend on `n_jobs`.
    """

    tables: Sequence[str] = USUAL
    rows: Sequence[int] = (200, 500, 1500)
    sizes: Sequence[int] = (2, 3)
    seeds: Sequence[int] = field(default_factory=lambda: tuple(range(1, 11)))
    methods: Sequence[str] = METHODS
    n_jobs: int | None = 1

    def __post_init__(self) -> None:
        check_asked(self.tables, self.rows, self.seeds)
        for name in self.methods:
            if name not in METHODS:
                raise MisfeatError(f"methods: {name!r} is unknown; use some of {METHODS}.")
        for what in ("sizes", "methods"):
            if not getattr(self, what):
                raise MisfeatError(f"{what}: give one at least.")
        for size in self.sizes:
            check_count(size, "sizes")

    def run(self, folder: str | Path, tell: Tell) -> list[str]:
        """Make the draws that are not made yet; write figures, plots and a page to a folder.

        An interrupted run goes on there. Returns the lines of a summary; `tell` is told what is
        done.
        """
        place = Path(folder)
        rows = made_draws(list(self.units()), place, tell, self.n_jobs)
        means = mean_rows(rows, ("table", "rows", "size", "method"), FIGURES)
        write_csv(means, place / "means.csv")
        (place / "page.md").write_text(page(means, len(self.seeds)), encoding="utf-8")
        return [*summary(means), *draw_plots(means, place), f"Figures: {place}"]

    def units(self) -> Iterator[Unit]:
        """Every method on every draw as a piece of work, those of one table after each other."""
        of_peers = {"sizes": list(self.sizes)}
        of_ours = {**of_peers, "code": code_of_estimates()}
        for table in self.tables:
            for seed in self.seeds:
                for n_rows in self.rows:
                    for method in self.methods:
                        about = {"table": table, "rows": n_rows, "seed": seed, "method": method}
                        work = partial(one_choice, table, n_rows, seed, method, tuple(self.sizes))
                        settings = of_ours if method in OURS else of_peers
                        yield Unit("downstream", about, settings, work)


def one_choice(table: str, n_rows: int, seed: int, method: str, sizes: Sequence[int]) -> list[Row]:
    """Choose features on one draw by one method; a row a size, means over subgroups."""
    draw = draw_of(source_of(table, seed), n_rows, seed)
    lacking = np.logical_or.reduce(draw.rows.missing, axis=0)
    names = [name for name, gaps in zip(draw.rows.features, lacking, strict=True) if gaps]
    rows, left = (without_features(found, names) for found in (draw.rows, draw.left))
    if max(sizes) > len(rows.features):
        raise MisfeatError(f"sizes: {max(sizes)} is more than the features of {table}.")
    chosen = chosen_by(method, rows, sizes, seed)
    found = []
    for size in sizes:
        tested = [
            judged(fit, test, features)
            for fit, test, features in zip(rows, left, chosen[size], strict=True)
        ]
        found.append({"size": size, **{n: mean_of(t[n] for t in tested) for n in FIGURES}})
    return found


def chosen_by(method: str, cohorts: Cohorts, sizes: Sequence[int], seed: int) -> Chosen:
    """The features that a method chooses for every subgroup, by size."""
    if method == ALL:
        return {size: [tuple(range(len(cohorts.features)))] * len(cohorts) for size in sizes}
    if method in OURS:
        return {size: _best_sets(method, cohorts, size) for size in sizes}
    peer, whose = method.split(", ")
    if whose == "pooled":
        together = PEERS[peer](*_expanded(list(cohorts)), sizes, seed)
        return {size: [together[size]] * len(cohorts) for size in sizes}
    alone = [PEERS[peer](*_expanded([cohort]), sizes, seed) for cohort in cohorts]
    return {size: [found[size] for found in alone] for size in sizes}


def _best_sets(estimate: str, cohorts: Cohorts, size: int) -> list[tuple[int, ...]]:
    """The best set of every subgroup; of many sets, the one at the end of its path."""
    n_features = len(cohorts.features)
    if estimate == POPULATION and comb(n_features, size) > MOST_COMPARED:
        listed = book_of(estimate, cohorts).listed()
        each = np.eye(len(cohorts))
        return [tuple(sorted(best_path(listed, n_features, size, one))) for one in each]
    found = estimated(estimate, cohorts, size)
    return [tuple(found.subsets[best].tolist()) for best in found.score.argmax(axis=1)]


def _expanded(cohorts: Sequence[Cohort]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every row of some subgroups once, a column a feature, and the target."""
    codes = [np.repeat(cohort.codes, cohort.weights, axis=1) for cohort in cohorts]
    target = [np.repeat(cohort.target, cohort.weights) for cohort in cohorts]
    return np.hstack(codes).T.astype(np.int64), np.concatenate(target).astype(np.int64)


def judged(fit: Cohort, test: Cohort, features: tuple[int, ...]) -> dict[str, float | None]:
    """Fit a logistic regression to some rows of a subgroup, and judge it on others.

    Features become one column a value. Where the rows hold one class only, its probability is that
    of the class (of one row more in each class), which tells nothing.

    Without both classes to judge on, ``auc`` is None.
    """
    of_fit, of_test = (_collapsed(cohort, features) for cohort in (fit, test))
    X, y, weights = of_test
    if len(np.unique(of_fit[1])) < 2:
        rows = np.bincount(of_fit[1], of_fit[2], minlength=2) + 1
        probability = np.full(len(y), rows[1] / rows.sum())
    else:
        model = LogisticRegression(max_iter=STEPS).fit(of_fit[0], of_fit[1], of_fit[2])
        probability = model.predict_proba(X)[:, 1]
    both = len(np.unique(y)) == 2
    return {
        "auc": float(roc_auc_score(y, probability, sample_weight=weights)) if both else None,
        "log_loss": float(log_loss(y, probability, sample_weight=weights, labels=[0, 1])),
    }


def _collapsed(
    cohort: Cohort, features: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows of some features and the target: one column a value, class, and count."""
    lines = np.vstack([cohort.codes[list(features)], cohort.target]).astype(np.int64)
    distinct, where = np.unique(lines, axis=1, return_inverse=True)
    counts = np.bincount(where.ravel(), cohort.weights).astype(np.int64)
    columns = [
        np.equal.outer(codes, np.arange(cohort.cardinalities[feature]))
        for codes, feature in zip(distinct, features, strict=False)
    ]
    return np.hstack(columns).astype(np.float64), distinct[-1], counts
