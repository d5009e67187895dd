"""Hide features from subgroups on purpose, and see how well completers and oracles predict them."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common.metrics import ndcg_at, precision_at, share_closed
from misfeat.answers.validation import captured_at
from misfeat.cohorts.feature_removal import hide_features
from misfeat.completion.completer_data import ExactScores, Known
from misfeat.information.measures import MutualInformation
from misfeat.lattice.levels import level, rank, ranks_below, unrank
from misfeat.lattice.sampling import SAMPLERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion import BaseCompleter, CompletedScores

    Scores = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Redraw = Callable[[Mask, np.random.Generator], Cohorts]

RANKED = (5, 10)
"""The K of nDCG@K and precision@K."""
ROUNDING = 1e-12
"""Scores that differ by no more count as equal."""
DRAWS = 20
"""How often an oracle draws what is hidden."""


@dataclass(frozen=True, eq=False)
class Truth:
    """A table of which everything is known: the scores of every subset up to some size."""

    cohorts: Cohorts
    exact: ExactScores

    @classmethod
    def of(cls, cohorts: Cohorts, reach: int, n_jobs: int | None = None) -> Truth:
        """Score every subset of up to `reach` features."""
        return cls(cohorts, exact_scores(cohorts, reach, n_jobs))

    def hidden(self, mask: Mask, n_jobs: int | None = None) -> Known:
        """What would be known, had the features that a mask marks not been recorded."""
        return Known(self.exact.hidden(mask), hide_features(self.cohorts, mask), n_jobs)


def exact_scores(cohorts: Cohorts, reach: int, n_jobs: int | None = None) -> ExactScores:
    """The joint mutual information of every subset of up to `reach` features."""
    measure = MutualInformation(cohorts)
    by_cohort = [measure.of_levels(i, 0, reach, n_jobs) for i in range(len(cohorts))]
    by_size = tuple(np.array(scores) for scores in zip(*by_cohort, strict=True))
    return ExactScores(by_size, measure.missing, measure.ceiling, measure.closed)


def sampled(
    exact: ExactScores, budget: float, sampler: str, rng: np.random.Generator
) -> ExactScores:
    """Keep a share of each subgroup's known scores, chosen by a sampler; the others become NaN."""
    if budget == 1:
        return exact
    kept = [exact.by_size[0], *(np.full_like(scores, np.nan) for scores in exact.by_size[1:])]
    for cohort, missing in enumerate(exact.missing):
        recorded = np.flatnonzero(~missing)
        largest = min(len(recorded), len(exact.by_size) - 1)
        if largest == 0:
            continue
        sample = SAMPLERS[sampler](len(recorded), 1, largest, budget, rng)
        for size, ranks in enumerate(sample, start=1):
            places = rank(recorded[unrank(ranks, size)])
            kept[size][cohort, places] = exact.by_size[size][cohort, places]
    return replace(exact, by_size=tuple(kept))


def outcome_of(
    completer: BaseCompleter, truth: Truth, mask: Mask, size: int, n_jobs: int | None = None
) -> dict[str, float]:
    """Hide features, let a completer predict the scores of one size, and compare with the truth.

    Returns
    -------
    dict of str to float
        What `completed_figures` gives, ``closure`` (the share of pairs of a set and a part one
        smaller in which the set does not score lower) and ``seconds``.
    """
    known = truth.hidden(mask, n_jobs)
    start = time.perf_counter()
    completed = completer.complete(known, size)
    seconds = time.perf_counter() - start
    return {
        **completed_figures(truth, known, completed),
        "closure": closure_of(completer, known, completed),
        "seconds": seconds,
    }


def completed_figures(truth: Truth, known: Known, completed: CompletedScores) -> dict[str, float]:
    """How completed scores compare with the truth, over the sets of `sets_to_test`.

    Returns
    -------
    dict of str to float
        What `ranking_figures` gives, and ``relative_error`` (the root mean square error over the
        mean true score), ``coverage`` (how often the truth lies between ``low`` and ``high``) and
        ``width`` (their mean distance over the mean true score).
    """
    size = completed.subsets.shape[1]
    true = truth.exact.by_size[size]
    tested = sets_to_test(truth, known, size)
    errors = (completed.score - true)[tested]
    inside = (completed.low <= true + 1e-9) & (true <= completed.high + 1e-9)
    mean = true[tested].mean()
    return {
        **ranking_figures(true, completed.score, tested),
        "relative_error": float(np.sqrt(np.mean(errors**2)) / mean),
        "coverage": float(inside[tested].mean()),
        "width": float((completed.high - completed.low)[tested].mean() / mean),
    }


def sets_to_test(truth: Truth, known: Known, size: int) -> Mask:
    """The paper's test set: sets of a size that hold a missing feature, or were not sampled.

    Of shape (n_cohorts, n_subsets).
    """
    return np.isnan(known.exact.by_size[size]) & ~np.isnan(truth.exact.by_size[size])


def ranking_figures(true: Scores, guessed: Scores, tested: Mask) -> dict[str, float]:
    """How well guessed scores rank sets; means over subgroups.

    Guessed scores are exact where that is possible; tested are sets whose scores were not known.

    Returns
    -------
    dict of str to float
        ``ndcg_K`` and ``precision_K`` over the tested sets, ``ndcg_K_all`` and ``precision_K_all``
        over all sets of the size, which is what a user sees, and ``captured_5``, the share of the
        true five best sets' score that the five that look best hold.
    """
    figures = [
        {
            **_at_ranks(true[i, t], guessed[i, t], ""),
            **_at_ranks(true[i], guessed[i], "_all"),
            "captured_5": captured_at(5, true[i], guessed[i]),
        }
        for i, t in enumerate(tested)
        if t.any()
    ]
    return {name: float(np.mean([f[name] for f in figures])) for name in figures[0]}


def _at_ranks(true: Scores, guessed: Scores, suffix: str) -> dict[str, float]:
    return {
        f"{name}_{k}{suffix}": figure(k, true, guessed)
        for name, figure in (("ndcg", ndcg_at), ("precision", precision_at))
        for k in RANKED
    }


def closure_of(completer: BaseCompleter, known: Known, completed: CompletedScores) -> float:
    """The share of pairs one size apart in which the larger set does not score lower."""
    size = completed.subsets.shape[1]
    if size == 1:
        return 1.0
    quick: Any = copy(completer)  # a copy, since a clone would forget what was chosen
    quick.confidence = None  # no intervals, to save time
    parts = quick.complete(known, size - 1).score
    return share_closed(completed.score, parts, ranks_below(completed.subsets), ROUNDING)


def population_ceiling(
    truth: Truth, mask: Mask, size: int, rng: np.random.Generator, redraw: Redraw
) -> dict[str, float]:
    """The figures of an oracle that knows the population, and the rows but for what is hidden.

    It draws the hidden values from the population, given all that is recorded, and says what scores
    they give on average. Nothing can be expected to come closer.

    `redraw` takes the mask and `rng`, and returns cohorts whose hidden features are drawn anew.
    """
    drawn = [exact_scores(redraw(mask, rng), size).by_size[size] for _ in range(DRAWS)]
    return _figures(truth.exact.by_size[size], np.mean(drawn, axis=0), mask, size)


def bootstrap_ceiling(
    truth: Truth, mask: Mask, size: int, rng: np.random.Generator
) -> dict[str, float]:
    """The figures of an oracle that takes the rows for the population, on rows drawn from them.

    For tables whose population nobody knows. Too low, since drawing from rows that are few makes
    them noisier than they are.
    """
    drawn = [rng.multinomial(cohort.size, cohort.weights / cohort.size) for cohort in truth.cohorts]
    again = replace(truth.cohorts, weights=np.concatenate(drawn).astype(np.int64))
    noisy = exact_scores(again, size).by_size[size]
    return _figures(noisy, truth.exact.by_size[size], mask, size)


def _figures(
    true: NDArray[np.float64], said: NDArray[np.float64], mask: Mask, size: int
) -> dict[str, float]:
    tested = np.logical_or.reduce(mask[:, level(mask.shape[1], size)], axis=2)
    return ranking_figures(true, said, tested)
