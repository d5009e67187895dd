"""From rows with imputed values to guessed scores: what all completers that impute share.

Scores of imputed rows are read only where the cohort's own scores do not say; a cohort that
recorded every feature is not imputed at all.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.model import NOT_RECORDED
from misfeat.completion.model import Guess
from misfeat.completion.parts import recorded_sets_filled
from misfeat.information import level_mutual_info

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.model import ExactScores

    Codes = NDArray[np.integer]
    Mask = NDArray[np.bool_]
    Scores = NDArray[np.float64]


def recorded_codes(cohorts: Cohorts, missing: Mask) -> tuple[Codes, NDArray[np.int64]]:
    """The codes without those of features that count as missing, and the cohort of every row."""
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    return np.where(missing[cohort_of].T, NOT_RECORDED, cohorts.codes), cohort_of


def most_frequent(values: Codes, weights: NDArray[Any]) -> int:
    """The most frequent value, the smallest one of equals, 0 of none."""
    return int(np.bincount(values, weights, minlength=1).argmax())


def all_recorded(cohorts: Cohorts, codes: Codes) -> Cohorts:
    """The cohorts as if they had recorded all features, with these codes."""
    return replace(
        cohorts,
        codes=codes,
        missing=np.zeros_like(cohorts.missing),
        # A feature that no cohort recorded has one category now.
        categories=tuple(labels or ("",) for labels in cohorts.categories),
    )


def imputed_scores(
    imputed: Cohorts, exact: ExactScores, size: int, n_jobs: int | None = None
) -> list[Scores]:
    """The scores of imputed rows, by size from 0 on, each of shape (n_cohorts, n_subsets).

    They are on the scale of the exact ones. A cohort that lacked nothing is not scored and gets 0.
    """
    missing = exact.missing
    scores = [np.zeros((len(imputed), comb(missing.shape[1], m))) for m in range(size + 1)]
    for i, cohort in enumerate(imputed):
        if missing[i].any():
            found = level_mutual_info(
                cohort, 1, size, above_chance=exact.above_chance, n_jobs=n_jobs
            )
            for of_size, own in zip(scores[1:], found, strict=True):
                of_size[i] = np.nan_to_num(own)  # 0 where no row has the set
    return scores


def guess_of(exact: ExactScores, scores: list[Scores]) -> Guess:
    """A guess from scores by size, read where a cohort's own scores say nothing."""
    filled = recorded_sets_filled(exact, len(scores) - 1)
    by_size = [
        np.where(np.isnan(own), guess, own) for own, guess in zip(filled, scores, strict=True)
    ]
    return Guess.of(by_size)
