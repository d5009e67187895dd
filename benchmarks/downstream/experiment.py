"""`python -m benchmarks downstream`: how well do models predict with the features that were chosen?

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

from benchmarks.common.draws import (
    SIZES,
    USUAL,
    book_of,
    check_asked,
    code_of_estimates,
    draw_of,
    estimated,
    made_draws,
    source_of,
)
from benchmarks.common.output import (
    at_every_n,
    in_digits,
    lines,
    markdown_table,
    mean_of,
    mean_rows,
    over_rows,
    panels,
    save,
    styled,
    tables_meant,
    with_legend,
    write_csv,
)
from benchmarks.common.units import Unit
from benchmarks.downstream.peers import PEERS, STEPS
from misfeat.cohorts.feature_removal import without_features
from misfeat.estimation.score_estimate import POPULATION
from misfeat.estimation.search import forward_path
from misfeat.exceptions import MisfeatError
from misfeat.information.measures import MutualInformation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmarks.common.units import Tell
    from misfeat.cohorts import Cohort, Cohorts

    Row = dict[str, Any]
    Chosen = dict[int, list[tuple[int, ...]]]

    Means = dict[tuple[str, int, int], Row]

OURS = ("sample", "population")
"""Scales of `estimate` whose best sets are tried."""
ALL = "all features"
MOST_COMPARED = 7000
"""So many sets of up to a size are scored; where there are more, features are chosen in turn."""
METHODS = (*OURS, *(f"{peer}, {whose}" for peer in PEERS for whose in ("pooled", "each")), ALL)
"""What chooses features; a peer on the rows of all subgroups together, and of each alone."""


@dataclass(frozen=True)
class DownstreamBench:
    """Chooses features on drawn rows, fits models to them, and tests these on other rows.

    Tables are those of `benchmarks.common.draws.SOURCES`, rows are drawn from every subgroup,
    `sizes` are features to choose, methods some of `METHODS`. The figures do not depend on
    `n_jobs`.
    """

    tables: Sequence[str] = USUAL
    rows: Sequence[int] = (200, 500, 1500)
    sizes: Sequence[int] = SIZES
    seeds: Sequence[int] = field(default_factory=lambda: tuple(range(1, 11)))
    methods: Sequence[str] = METHODS
    n_jobs: int | None = 1

    def __post_init__(self) -> None:
        check_asked(self.tables, self.rows, self.seeds, self.sizes)
        for name in self.methods:
            if name not in METHODS:
                raise MisfeatError(f"methods: {name!r} is unknown; use some of {METHODS}.")
        if not self.methods:
            raise MisfeatError("methods: give one at least.")

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
    """Choose features on one draw by one method; a row a size, means over subgroups.

    Sizes that leave no choice, of a table that has no more features, are left out.
    """
    draw = draw_of(source_of(table, seed), n_rows, seed)
    lacking = np.logical_or.reduce(draw.rows.missing, axis=0)
    names = [name for name, gaps in zip(draw.rows.features, lacking, strict=True) if gaps]
    rows, left = (without_features(found, names) for found in (draw.rows, draw.left))
    sizes = [size for size in sizes if size < len(rows.features)]
    chosen = chosen_by(method, rows, sizes, seed) if sizes else {}
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
    many = sum(comb(n_features, m) for m in range(1, size + 1)) > MOST_COMPARED
    if many and estimate != POPULATION:
        measure = MutualInformation(cohorts)
        return [_greedy_set(measure, i, n_features, size) for i in range(len(cohorts))]
    if many:
        listed = book_of(estimate, cohorts).listed()

        def path_of(cohort: int) -> list[int]:
            features, together = range(n_features), listed.together
            return forward_path(lambda sets: listed.of(sets)[0][cohort], features, size, together)

        return [tuple(sorted(path_of(i))) for i in range(len(cohorts))]
    found = estimated(estimate, cohorts, size)
    return [tuple(found.subsets[best].tolist()) for best in found.score.argmax(axis=1)]


def _greedy_set(
    measure: MutualInformation, cohort: int, n_features: int, size: int
) -> tuple[int, ...]:
    """One feature after the other, each the one with which the set scores highest."""
    chosen: list[int] = []
    while len(chosen) < size:
        offered = [feature for feature in range(n_features) if feature not in chosen]
        sets = np.array([sorted([*chosen, feature]) for feature in offered])
        chosen.append(offered[int(np.argmax(measure.of_subsets(cohort, sets, 1)))])
    return tuple(sorted(chosen))


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


FIGURES = ("auc", "log_loss")
"""What is measured of every draw, method and size."""
LABELS = {"auc": "AUC", "log_loss": "log loss"}
MISFEAT = "population"
USUAL_SIZE = 5
"""Of the sets that every method is shown with."""
NO_PEERS = (MISFEAT, "sample", "all features")
"""Methods that the best peer is not chosen from."""


def summary(means: Sequence[Row]) -> Iterator[str]:
    """Lines to print: mean figures over tables of every method, a column a size and n."""
    yield f"Means over {tables_meant(means)}, where they have more features than a set:"
    found = _over_tables(at_every_n(means))
    columns = _columns(found)
    for name in FIGURES:
        heads = "".join(f"{f'm={size} n={n}':>12}" for size, n in columns)
        yield f"{LABELS[name]:28}{heads}"
        for method in _methods(means):
            figures = (found.get((method, *column)) for column in columns)
            shown = "".join(f"{_shown(row, name, 4):>12}" for row in figures)
            yield f"{method:28}{shown}"
    yield from verdicts(means)


def verdicts(means: Sequence[Row]) -> Iterator[str]:
    """In how many columns `estimate="population"` is at least as good as the best peer."""
    found = _over_tables(means)
    for name, sign in (("auc", 1), ("log_loss", -1)):
        margins = []
        for column in _columns(found):
            peers = [
                sign * row[name]
                for (method, *at), row in found.items()
                if tuple(at) == column and method not in NO_PEERS
            ]
            ours = found.get((MISFEAT, *column))
            if peers and ours is not None:
                margins.append(sign * ours[name] - max(peers))
        if margins:
            ahead = sum(margin >= 0 for margin in margins)
            yield (
                f"{LABELS[name]}: at least as good as the best peer in {ahead} of {len(margins)} "
                f"columns; margins {', '.join(f'{margin:+.4f}' for margin in margins)}."
            )


def _over_tables(means: Sequence[Row]) -> Means:
    rows = mean_rows(means, ("method", "size", "rows"), FIGURES)
    return {(row["method"], row["size"], row["rows"]): row for row in rows}


def _columns(found: Means) -> list[tuple[int, int]]:
    return sorted({(size, n_rows) for _, size, n_rows in found})


def _methods(means: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["method"] for row in means))


def draw_plots(means: Sequence[Row], folder: Path) -> Iterator[str]:
    """Draw AUC and log loss by rows, a panel a size, as files."""
    try:
        with styled():
            for name, label in LABELS.items():
                sizes = sorted({row["size"] for row in means})
                figure, axes = panels(len(sizes), 3.4)
                for axis, size in zip(axes, sizes, strict=True):
                    shown = [row for row in at_every_n(means) if row["size"] == size]
                    rows = mean_rows(shown, ("rows", "method"), (name,))
                    lines(axis, rows, "rows", name, "method")
                    over_rows(axis, rows)
                    axis.set_title(f"{size} features")
                axes[0].set_ylabel(label)
                save(with_legend(figure, axes), folder, name)
    except ImportError:
        yield "No plot: pip install 'misfeat[plot]'."


def page(means: Sequence[Row], n_seeds: int) -> str:
    """The whole page in Markdown."""
    return "\n".join(_lines(means, n_seeds)) + "\n"


def _lines(means: Sequence[Row], n_seeds: int) -> Iterator[str]:
    size = _usual_size(means)
    yield "# How well do models predict with the chosen features?"
    yield ""
    yield (
        "Written by `python -m benchmarks downstream`. From every subgroup of a large table n rows "
        "are drawn. Features are chosen on them, a logistic regression (one column a value of each "
        "chosen feature) is fitted to them in every subgroup, and judged on the subgroup's other "
        "rows. `sample` and `population` are the best sets of `SubgroupSelector` by `estimate`; "
        "peers choose on the rows of all subgroups together (pooled) or of each alone; `all "
        "features` leaves the choice to the regression. Features that a subgroup never recorded "
        f"are left out. Means over subgroups, {n_seeds} draws and {tables_meant(means)}. "
        "[Every table](means.csv), [every draw](draws.csv)."
    )
    for name in FIGURES:
        yield ""
        yield f"## {LABELS[name]}"
        yield ""
        yield f"![{LABELS[name]} by rows]({name}.svg)"
        if name == "auc":
            yield ""
            yield "`population` / the best peer of each cell, by features:"
            yield ""
            yield from _beside_the_best(at_every_n(means), name)
            yield ""
            yield f"Every method, {size} features, peers with the better of pooled and each:"
            yield ""
            yield from _figure_table([r for r in at_every_n(means) if r["size"] == size], name)
    yield ""
    yield "Over all tables of each size and n:"
    yield ""
    for verdict in verdicts(means):
        yield f"- {verdict.partition('; margins')[0].rstrip('.')}."


def _usual_size(means: Sequence[Row]) -> int:
    sizes = sorted({row["size"] for row in means})
    return USUAL_SIZE if USUAL_SIZE in sizes else sizes[-1]


def _figure_table(means: Sequence[Row], name: str) -> Iterator[str]:
    """A line a method, a peer with the better of pooled and each; a column an n; one size."""
    found = _over_tables(means)
    columns = _columns(found)
    best = max if name == "auc" else min
    rows = []
    for method in dict.fromkeys(method.partition(", ")[0] for method in _methods(means)):
        shown = f"**{method}**" if method == MISFEAT else method
        cells = [
            best(
                row[name]
                for (m, *at), row in found.items()
                if m.partition(", ")[0] == method and at == [*c]
            )
            for c in columns
        ]
        rows.append([shown, *(in_digits(cell, 3) for cell in cells)])
    yield from markdown_table(["", *(f"n = {n:,}" for _, n in columns)], rows)


def _shown(row: Row | None, name: str, digits: int = 3) -> str:
    return in_digits(None if row is None else row[name], digits)


def _beside_the_best(means: Sequence[Row], name: str) -> Iterator[str]:
    """A line a size, a column an n: misfeat's figure and that of the best peer."""
    found = _over_tables(means)
    numbers = sorted({n for _, n in _columns(found)})
    best = max if name == "auc" else min
    rows = []
    for size in sorted({size for size, _ in _columns(found)}):
        cells = []
        for n in numbers:
            peers = [
                row[name]
                for (m, *at), row in found.items()
                if at == [size, n] and m not in NO_PEERS
            ]
            beside = in_digits(best(peers) if peers else None, 3)
            cells.append(f"{_shown(found.get((MISFEAT, size, n)), name)} / {beside}")
        rows.append([str(size), *cells])
    yield from markdown_table(["features", *(f"n = {n:,}" for n in numbers)], rows)
