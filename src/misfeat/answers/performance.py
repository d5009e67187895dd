"""How well a plain model does on rows that were left out: what a share of uncertainty comes to.

Two classes are predicted by logistic regression on the coded features, more by a linear one of each
class, each row by a model of the other folds; with all pairs of values of up to five features where
these lower the Bayesian information criterion. The area under the ROC curve (AUC) is the mean over
classes, one against the rest. Of a numeric target, R² of its ranks is taken, and of `measure="r2"`
the R² that least squares is expected to reach on further rows, from sums of products alone. Of a
time to an event, Uno's C and the integrated Brier score of a Cox model.

The Cox model has a column for every value of every feature but one, slopes with a penalty of 1, and
Breslow's baseline hazard; an event that rules out the one of interest ends following. Until the
last horizon, with inverse chances of being followed as weights (Uno et al., Statistics in Medicine
30, 2011; Graf et al., Statistics in Medicine 18, 1999).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple, cast

import numpy as np

from misfeat.answers.nested_cross_validation import FOLDS, FoldChoice, JudgedRows, happened
from misfeat.answers.selection_base import FitResult
from misfeat.cohorts.cohort_data import Cohorts, distinct_columns
from misfeat.cohorts.product_sums import ProductSums
from misfeat.cohorts.survival import EVENT, STATES, counts_of, survival_of, weights_at
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.runtime.array_types import Array, Flags, Floats, Indices

FOLDS_VARY = 1.25  # times the standard error of an area: models of folds differ, too
MOST_PAIRED = 5  # features whose pairs of values may have effects of their own
SMALL_STEP = 0.1  # after which curvatures are no longer worked out anew
MOST_LOGIT = 30.0  # no chance is nearer to 0 or 1
UNOS_C, MEAN_AUC = "concordance (Uno's C)", "mean AUC"  # the latter of more than two classes
USUAL_CONFIDENCE = 0.9  # of intervals, where those of scores are certain bounds
MOST_STEPS, CONVERGED = 50, 1e-6  # of Newton's method, and changes that end it
MOST_LOG_HAZARD = 15.0  # no hazard differs from the mean by a larger factor, as a logarithm
RESAMPLES = 100  # of rows, for the standard error of C


@dataclass(frozen=True, eq=False)
class Performance:
    """What a model reaches on rows left out, with its interval.

    `probabilities` and `truth` are those of the second of two classes, by row; else None.
    """

    features: tuple[str, ...]
    metric: str  # "AUC", `MEAN_AUC`, "R²", "R² (of ranks)" or `UNOS_C`
    value: float
    low: float
    high: float
    error: float = nan  # root mean square, in the target's unit; NaN where values are not kept
    brier: float = nan  # of a time to an event, the integrated Brier score; lower is better
    truth: Flags | None = field(default=None, repr=False)
    probabilities: Floats | None = field(default=None, repr=False)
    weights: Floats | None = field(default=None, repr=False)
    looked: bool = False  # whether rows left out had a say in which features these are

    @property
    def words(self) -> str:
        """The value with its interval."""
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"

    def net_benefit(self, threshold: float) -> tuple[float, float]:
        """What acting on a predicted risk of at least the threshold gains, and acting on all.

        True positives a row, less false positives at the odds of the threshold (Vickers and
        Elkin, Medical Decision Making 26, 2006).
        """
        if not isinstance(threshold, float | int) or not 0 < threshold < 1:
            raise MisfeatError(f"{Setting('threshold', threshold)}; it must lie between 0 and 1.")
        if self.truth is None or self.probabilities is None:
            raise MisfeatError("A net benefit needs a target of two classes, and rows.")
        odds = threshold / (1 - threshold)
        gains = np.where(self.truth, 1.0, -odds)
        act = self.probabilities >= threshold
        return (
            float(np.average(gains * act, weights=self.weights)),
            float(np.average(gains, weights=self.weights)),
        )


def model_performance(
    selection: FitResult,
    subgroup: str,
    features: Sequence[str],
    choice: FoldChoice | None = None,
    paired: Sequence[str] = (),
) -> Performance | None:
    """How well a model of some recorded features does; None where there are too few rows.

    With a `choice` they stand for the best set of their size, which is chosen anew in every fold.
    Of more than five, pairs of values of those that are `paired` may have effects of their own.
    """
    named = tuple(features)

    def performance() -> Performance | None:
        cohort = selection.cohorts.position(subgroup)
        measure = selection.set_scores.measure
        z = NormalDist().inv_cdf((1 + (selection.confidence or USUAL_CONFIDENCE)) / 2)
        members = [selection.feature_names.index(name) for name in named]
        if measure.sums is not None:
            return _least_squares(measure.sums, cohort, members, named, z)
        if selection.set_scores.rows_withheld:
            return None
        chosen = None if choice is None else choice.sets(cohort, len(members))
        rows = JudgedRows.of(selection, cohort)
        sets = [np.array(members)] if chosen is None else chosen
        pairs = [named.index(name) for name in paired] or range(len(named))
        models = _Models(rows, [_Design.of(rows.codes[one], pairs) for one in sets])
        shrink = min(rows.effective / max(len(rows.target), 1), 1.0)
        if selection.cohorts.horizons:
            found = _times(models, selection.cohorts, named, z, shrink)
        elif selection.cohorts.is_number:
            found = _ranks(models, named, z, shrink)
        else:
            found = _classes(models, named, z, shrink)
        return found and replace(found, looked=choice is not None and choice.is_open(cohort))

    question = ("performance", subgroup, named, choice is not None, tuple(paired))
    return selection.remembered(question, performance)


class _Design(NamedTuple):
    """One-hot columns of cells: of rows that agree in all features of a set."""

    columns: tuple[Floats, ...]  # of features by themselves, and with their pairs
    cell: Indices  # of every row

    @classmethod
    def of(cls, codes: Indices, paired: Sequence[int]) -> "_Design":
        first, cell = distinct_columns(codes)
        cells = codes[:, first]
        hot = [(line[:, None] == np.unique(line)[1:]).astype(np.float64) for line in cells]
        pairs = [
            (one[:, :, None] * other[:, None, :]).reshape(cells.shape[1], -1)
            for one, other in combinations([hot[number] for number in paired], 2)
            if len(paired) <= MOST_PAIRED
        ]
        alone = np.hstack([*hot, np.zeros((cells.shape[1], 1))])
        return cls((alone, np.hstack([alone, *pairs])) if pairs else (alone,), cell)


@dataclass(frozen=True, eq=False)
class _Models:
    """Rows, and the design of a model for each fold, or of one for all folds."""

    rows: JudgedRows
    designs: list[_Design]

    def folds(self) -> Iterator[tuple[_Design, Any, Any]]:
        """Designs, rows to learn from and rows that are left out."""
        fold = self.rows.fold
        for number in range(FOLDS):
            train = np.flatnonzero((fold != number) & (fold >= 0))
            yield self.designs[number % len(self.designs)], train, np.flatnonzero(fold == number)

    def out_of_fold(self, values: Array, fit: Callable[..., tuple[Floats, float]]) -> Floats:
        """What models of the other folds predict for every row."""
        # `fit` takes the design of all cells, and cells, values and weights to learn from; it gives
        # predictions for all cells and the deviance. Of the designs, the one with the lower
        # Bayesian information criterion is taken.
        predicted: Floats | None = None
        for design, train, test in self.folds():
            # Rows of one cell and value are learned from as one.
            lines = np.stack([design.cell[train], values[train]])
            first, line = distinct_columns(lines)
            cells, kinds = lines[:, first]
            weights = np.bincount(line, self.rows.weights[train])
            fits = [
                (deviance + np.log(len(train)) * columns.shape[1], number, of_cells)
                for number, columns in enumerate(design.columns)
                for of_cells, deviance in [fit(columns, cells, kinds, weights)]
            ]
            _, _, of_cells = min(fits, key=lambda one: one[:2])
            if predicted is None:
                predicted = np.zeros((len(values), *of_cells.shape[1:]))
            predicted[test] = of_cells[design.cell[test]]
        assert predicted is not None  # noqa: S101
        return predicted


def _classes(
    models: _Models, features: tuple[str, ...], z: float, shrink: float
) -> Performance | None:
    rows = models.rows
    kept = rows.fold >= 0
    classes, target = np.unique(np.where(kept, rows.target, -1), return_inverse=True)
    n_classes = len(np.unique(rows.target[kept]))
    if n_classes < 2:
        return None
    target = target - (len(classes) - n_classes)  # rows in no fold are of none
    starts: dict[tuple[int, ...], Floats] = {}  # what one fold ends with, the next begins with

    def logistic(design: Floats, cells: Any, kinds: Any, weights: Floats) -> tuple[Floats, float]:
        slopes = starts.setdefault(design.shape, np.zeros(design.shape[1] + 1))
        chance = _logistic(design, cells, kinds, weights, slopes)
        chances = np.column_stack([1 - chance, chance])
        return chances, float(-2 * weights @ np.log(chances[cells, kinds]))

    def linear(design: Floats, cells: Any, kinds: Any, weights: Floats) -> tuple[Floats, float]:
        classes = np.eye(n_classes)[kinds]
        of_cells = _ridge(design, cells, classes, weights)
        squares = weights @ (classes - of_cells[cells]) ** 2
        return of_cells, float(weights.sum() * np.log(squares.sum()) * n_classes)

    fit = logistic if n_classes == 2 else linear
    predicted = models.out_of_fold(target, fit)[kept]
    target, weights = target[kept], rows.weights[kept]
    found = [_area(target == one, predicted[:, one], weights, shrink) for one in range(n_classes)]
    area, error = np.mean(found, axis=0).tolist()
    ends = max(0.0, area - z * error), min(1.0, area + z * error)
    two: Any = {}
    if kept.all() and n_classes == 2:
        two = {"truth": target == 1, "probabilities": predicted[:, 1], "weights": weights}
    metric = "AUC" if n_classes == 2 else MEAN_AUC
    return Performance(features, metric, area, *ends, **two)


def _ridge(design: Floats, cells: Any, values: Floats, weights: Floats) -> Floats:
    """What least squares with a penalty of 1 predicts for all cells; the intercept is free."""
    share = weights / weights.sum()
    centre, mean = share @ design[cells], share @ values
    columns = design[cells] - centre
    products = (columns * weights[:, None]).T @ columns + np.eye(design.shape[1])
    across = (columns * weights[:, None]).T @ (values - mean)
    return np.asarray((design - centre) @ np.linalg.solve(products, across) + mean)


def _logistic(design: Floats, cells: Any, kinds: Any, weights: Floats, slopes: Floats) -> Floats:
    """Chances of the second class by cell: logistic regression, slopes with a penalty of 1."""
    from scipy.linalg import cho_factor, cho_solve

    columns = np.hstack([design, np.ones((len(design), 1))])
    penalty = np.append(np.ones(design.shape[1]), 1e-9)
    n_rows = np.bincount(cells, weights, len(design))
    cases = np.bincount(cells, weights * kinds, len(design))
    largest, factor = np.inf, None
    for _ in range(MOST_STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(columns @ slopes, -MOST_LOGIT, MOST_LOGIT)))
        gradient = columns.T @ (n_rows * chance - cases) + penalty * slopes
        if largest > SMALL_STEP:
            scaled = columns * np.sqrt(n_rows * chance * (1 - chance))[:, None]
            curved = scaled.T @ scaled  # of a matrix with itself, which takes half as long
            factor = cho_factor(curved + np.diag(penalty), overwrite_a=True, check_finite=False)
        step = cho_solve(factor, gradient, check_finite=False)
        slopes -= step
        largest = np.abs(step).max()
        if largest < CONVERGED:
            break
    chance = 1.0 / (1.0 + np.exp(-np.clip(columns @ slopes, -MOST_LOGIT, MOST_LOGIT)))
    if largest > SMALL_STEP:  # nothing to begin with
        slopes[:] = 0.0
    return np.asarray(chance)


def _area(truth: Flags, score: Floats, weights: Floats, shrink: float) -> tuple[float, float]:
    """The area under the ROC curve, and its standard error (Hanley and McNeil, 1982).

    It is wider by what models of folds vary by besides, as `benchmarks.answers.models` finds.
    """
    value = np.unique(score, return_inverse=True)[1]
    cases, others = (np.bincount(value, weights * of) for of in (truth, ~truth))
    below = np.cumsum(others) - others / 2  # ties count half
    area = float(cases @ below / (cases.sum() * others.sum()))
    positive, negative = shrink * truth.sum(), shrink * (~truth).sum()
    both = area / (2 - area) - area**2, 2 * area**2 / (1 + area) - area**2
    variance = area * (1 - area) + (positive - 1) * both[0] + (negative - 1) * both[1]
    return area, FOLDS_VARY * sqrt(max(variance, 0.0) / (positive * negative))


def _ranks(
    models: _Models, features: tuple[str, ...], z: float, shrink: float
) -> Performance | None:
    rows = models.rows
    _, kinds, counts = np.unique(rows.target, return_inverse=True, return_counts=True)
    values = (np.cumsum(counts) - counts / 2) / len(kinds)  # ranks, from 0 to 1
    if len(kinds) < 2 * FOLDS or len(values) < 2:
        return None

    def fit(design: Floats, cells: Any, own: Any, weights: Floats) -> tuple[Floats, float]:
        of_cells = _ridge(design, cells, values[own], weights)
        squares = weights @ (values[own] - of_cells[cells]) ** 2
        return of_cells, float(weights.sum() * np.log(squares / weights.sum()))

    predicted, target = models.out_of_fold(kinds, fit), values[kinds]
    squares = np.average((target - predicted) ** 2, weights=rows.weights)
    mean = np.average(target, weights=rows.weights)
    r2 = 1 - squares / np.average((target - mean) ** 2, weights=rows.weights)
    return _with_interval("R² (of ranks)", features, float(r2), shrink * len(target), z)


def _times(
    models: _Models, cohorts: Cohorts, features: tuple[str, ...], z: float, shrink: float
) -> Performance | None:
    """Uno's C and the Brier score of a Cox model, until the last horizon."""
    rows, n_bins = models.rows, cohorts.grids.shape[1] // STATES
    ranks, horizon = rows.target.astype(np.int64), cohorts.last_bin(-1)
    if happened(ranks, cohorts).sum() < FOLDS:
        return None
    score, chances = np.zeros(len(ranks)), np.zeros((len(ranks), n_bins))
    for design, train, test in models.folds():
        found = fit_cox(design.columns[0], design.cell[train], ranks[train], rows.weights[train])
        score[test] = found.log_hazard[design.cell[test]]
        own = found.incidence[design.cell[test]]
        chances[test] = np.hstack([own, np.repeat(own[:, -1:], n_bins - own.shape[1], axis=1)])
    of_rows = ranks, rows.weights, horizon
    value = concordance(score, *of_rows)
    reach = z * concordance_error(score, *of_rows) / sqrt(shrink)
    audit = next(audit for audit in cohorts.columns if audit.column == cohorts.target)
    ends = np.array(audit.edges, dtype=np.float64)
    low, high = max(0.0, value - reach), min(1.0, value + reach)
    return Performance(features, UNOS_C, value, low, high, brier=brier(chances, *of_rows, ends))


def _with_interval(
    metric: str, features: tuple[str, ...], r2: float, n_rows: float, z: float, error: float = nan
) -> Performance:
    """R² with its interval (Olkin and Finn, Psychological Bulletin 118, 1995)."""
    spread = z * sqrt(4 * max(r2, 0.0) * (1 - r2) ** 2 / n_rows)
    return Performance(features, metric, r2, r2 - spread, min(1.0, r2 + spread), error)


def _least_squares(
    sums: ProductSums, cohort: int, members: Sequence[int], features: tuple[str, ...], z: float
) -> Performance | None:
    """What least squares is expected to reach on further rows, from sums of products."""
    products, n_rows = sums.products[cohort], int(sums.rows[cohort])
    p = len(members)
    if n_rows <= p + 2 or not products[-1, -1] > 0:
        return None
    inside, across = products[np.ix_(members, members)], products[members, -1]
    slopes, *_ = np.linalg.lstsq(inside, across, rcond=None)
    residual = max(float(products[-1, -1] - slopes @ across), 0.0)
    squares = residual / (n_rows - p - 1) * (1 + (p + 1) / n_rows)
    whole = cast("float", products[-1, -1]) / (n_rows - 1)
    return _with_interval("R²", features, 1 - squares / whole, n_rows, z, sqrt(squares))


class Risks(NamedTuple):
    """What a model predicts for all cells: the logarithm of the hazard, and the chance by bin."""

    log_hazard: Floats  # (n_cells,)
    incidence: Floats  # (n_cells, n_bins): of the event by the end of each bin


def fit_cox(design: Floats, cells: Indices, ranks: Indices, weights: Floats) -> Risks:
    """Fit a Cox model to rows by their cell and rank; predictions for every cell."""
    bins, states = np.divmod(ranks, STATES)
    n_bins, n_cells = int(bins.max(initial=0)) + 1, len(design)
    left = np.bincount(bins * n_cells + cells, weights, n_bins * n_cells).reshape(n_bins, -1)
    at_risk = np.cumsum(left[::-1], axis=0)[::-1]
    happened = states == EVENT
    events = np.bincount(bins[happened], weights[happened], n_bins)
    cases = np.bincount(cells[happened], weights[happened], n_cells)
    columns = design - weights @ design[cells] / weights.sum()
    slopes = np.zeros(design.shape[1])
    for _ in range(MOST_STEPS):
        hazard = _hazard(columns @ slopes)
        each = events / np.maximum(at_risk @ hazard, 1e-300)  # Breslow's baseline, by bin
        expected = each @ at_risk * hazard
        means = (at_risk * hazard) @ columns / np.maximum(at_risk @ hazard, 1e-300)[:, None]
        gradient = columns.T @ (cases - expected) - slopes
        curved = (columns * expected[:, None]).T @ columns - (means * events[:, None]).T @ means
        step = np.linalg.solve(curved + np.eye(len(slopes)), gradient)
        slopes += step
        if np.abs(step).max(initial=0.0) < CONVERGED:
            break
    hazard = _hazard(columns @ slopes)
    baseline = np.cumsum(events / np.maximum(at_risk @ hazard, 1e-300))
    return Risks(columns @ slopes, 1.0 - np.exp(-hazard[:, None] * baseline))


def _hazard(logarithm: Floats) -> Floats:
    return np.asarray(np.exp(np.clip(logarithm, -MOST_LOG_HAZARD, MOST_LOG_HAZARD)))


def concordance(score: Floats, ranks: Indices, weights: Floats, horizon: int) -> float:
    """Uno's C: how often the higher score has the earlier event, until the end of a bin."""
    bins, states = np.divmod(ranks, STATES)
    place = np.unique(score, return_inverse=True)[1]
    n_bins, n_scores = int(bins.max()) + 1, int(place.max()) + 1
    later = np.zeros((n_bins, n_scores))
    np.add.at(later, (bins, place), weights)
    later = np.cumsum(later[::-1], axis=0)[::-1] - later  # rows that leave after each bin
    below = np.cumsum(later, axis=1) - later / 2.0  # ties count half
    followed = survival_of(counts_of(ranks, weights, n_bins * STATES)).followed
    until = np.concatenate([[1.0], followed[:-1]])
    first = (states == EVENT) & (bins <= horizon)
    inverse = weights[first] / np.maximum(until[bins[first]], 1e-300) ** 2
    pairs = inverse @ later.sum(axis=1)[bins[first]]
    return float(inverse @ below[bins[first], place[first]] / pairs) if pairs > 0 else np.nan


def concordance_error(score: Floats, ranks: Indices, weights: Floats, horizon: int) -> float:
    """The standard error of C, by drawing rows again and again."""
    draws = np.random.default_rng(0).poisson(1.0, (RESAMPLES, len(ranks)))
    kept = [drawn > 0 for drawn in draws]
    found = [
        concordance(score[own], ranks[own], weights[own] * drawn[own], horizon)
        for own, drawn in zip(kept, draws, strict=True)
    ]
    return float(np.nanstd(found))


def brier(incidence: Floats, ranks: Indices, weights: Floats, horizon: int, ends: Floats) -> float:
    """The Brier score of chances (n_rows, n_bins), integrated over time until the end of a bin."""
    counts = counts_of(ranks, weights, incidence.shape[1] * STATES)
    bins, states = np.divmod(ranks, STATES)
    scores = []
    for end in range(horizon + 1):
        known = weights * weights_at(counts, end)[ranks]
        truth = (states == EVENT) & (bins <= end)
        scores.append(known @ (truth - incidence[:, end]) ** 2 / weights.sum())
    lengths = np.diff(ends[: horizon + 1], prepend=0.0)
    return float(np.array(scores) @ lengths / lengths.sum())
