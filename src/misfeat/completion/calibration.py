"""How far guesses are off on this very table, learned by hiding features that it does have.

In every round some recorded features of a few cohorts are hidden, about as many as a cohort lacks;
the other cohorts stay as they are, so that nearly as much can help as for a feature that is missing
indeed. Hidden scores are guessed and compared with the truth. Errors are set in relation to what is
known beforehand to make them large: chance (the spread that sampling alone gives), the guessed gain
over the recorded part, a pair of features that nobody recorded together, and a constant. The errors
of one hidden feature in one cohort hang together, so it is they that are counted when a quantile is
chosen (conformal prediction over clusters).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, count, islice
from statistics import NormalDist
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.optimize import nnls

from misfeat.completion.model import SINGLES, guess_of, support_of
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import ExactScores, Guess, Known

    Scores = NDArray[np.float64]

WHAT = "Learning how far predictions are off"
LEAST_SHARE, MOST_SHARE = 0.2, 0.5
"""Of a cohort's recorded features as large a share is hidden as it lacks, within these."""
COHORTS_A_ROUND = 0.25
"""The share of cohorts that features are hidden from in a round; one at least."""
FEWEST_CLUSTERS = 5
"""With fewer hidden features to learn from there is no interval but what is certain."""
CLUSTER_CORRECTION = 0.5
"""How much of the correction for few clusters is made; features of one cohort help each other."""
N_REASONS = 3
LEAST_SCALE = 0.05
"""An error is never expected to be smaller than this share of the mean error."""


def hiding_rounds(
    missing: NDArray[np.bool_], rounds: int, rng: np.random.Generator
) -> Iterator[NDArray[np.bool_]]:
    """Features to hide, a mask of shape (n_cohorts, n_features) a round.

    The cohorts take turns, a few a round, and so do the features of a cohort. Only features that
    another cohort has left are hidden, and every cohort keeps at least one.
    """
    recorded = ~missing
    share = np.clip(missing.mean(axis=1), LEAST_SHARE, MOST_SHARE)
    wanted = np.maximum(1, np.round(share * recorded.sum(axis=1))).astype(int)
    n_cohorts = len(missing)
    times_hidden = np.zeros(missing.shape, dtype=int)
    turns = chain.from_iterable(rng.permutation(n_cohorts) for _ in count())
    for _ in range(rounds):
        mask = np.zeros_like(missing)
        for cohort in islice(turns, max(1, round(COHORTS_A_ROUND * n_cohorts))):
            elsewhere = (recorded & ~mask).sum(axis=0) - recorded[cohort]
            able = np.flatnonzero(recorded[cohort] & ~mask[cohort] & (elsewhere > 0))
            n_hidden = min(wanted[cohort], recorded[cohort].sum() - 1)
            turn = np.lexsort((rng.random(len(able)), times_hidden[cohort, able]))
            mask[cohort, able[turn[: max(0, n_hidden)]]] = True
        times_hidden += mask
        yield mask


@dataclass(frozen=True, eq=False)
class Trial:
    """How one way to guess did on hidden features.

    Attributes
    ----------
    errors : ndarray of shape (n,)
        Truth minus guess.
    reasons : ndarray of shape (n, N_REASONS)
        What may make an error large: see `reasons_for_errors`.
    clusters : ndarray of shape (n,)
        Which cohort and hidden feature an error belongs to.
    """

    errors: Scores
    reasons: Scores
    clusters: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Sequence[Trial]) -> Trial:
        """Several trials as one; of none at all it is empty."""
        return cls(
            np.concatenate([np.empty(0), *(part.errors for part in parts)]),
            np.concatenate([np.empty((0, N_REASONS)), *(part.reasons for part in parts)]),
            np.concatenate([np.empty(0, dtype=np.int64), *(part.clusters for part in parts)]),
        )

    @property
    def n_clusters(self) -> int:
        """How many features were hidden, each in its cohort."""
        return len(np.unique(self.clusters))


class Guessing(Protocol):
    """What can be tried out: any completer with guesses."""

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        ...

    def combined(self, guess: Guess, exact: ExactScores) -> Scores:
        """Scores of the asked size: exact where they are known, guessed elsewhere."""
        ...


def try_out(completer: Guessing, known: Known, size: int, rounds: int, seed: int | None) -> Trial:
    """Hide features in rounds, guess, and compare with what is known."""
    rng = np.random.default_rng(0 if seed is None else seed)
    masks = [mask for mask in hiding_rounds(known.exact.missing, rounds, rng) if mask.any()]
    if known.progress is not None:
        known.progress(WHAT, 0, rounds)
    parts = []
    for mask in masks:
        parts.append(_tried_with(completer, known, size, mask))
        if known.progress is not None:
            known.progress(WHAT, len(parts), rounds)
    if known.progress is not None:
        known.progress(WHAT, rounds, rounds)
    return Trial.joined(parts)


def _tried_with(completer: Guessing, known: Known, size: int, mask: NDArray[np.bool_]) -> Trial:
    """How guesses do when the features that a mask marks are hidden."""
    hidden = known.hidden(mask)
    guess = guess_of(completer, hidden, size)
    score = completer.combined(guess, hidden.exact)
    truth = known.exact.by_size[size]
    tested = np.isnan(hidden.exact.by_size[size]) & ~np.isnan(truth)
    subsets = level(mask.shape[1], size)
    last_hidden = np.where(mask[:, subsets], subsets, -1).max(axis=2)
    cluster = np.arange(len(mask))[:, None] * mask.shape[1] + last_hidden
    return Trial(
        errors=(truth - score)[tested],
        reasons=reasons_for_errors(guess, score, hidden.exact)[tested],
        clusters=cluster[tested],
    )


def reasons_for_errors(guess: Guess, score: Scores, exact: ExactScores) -> Scores:
    """What may make each guess wrong, of shape (n_cohorts, n_subsets, N_REASONS).

    Chance, the guessed gain, and whether some pair was recorded together nowhere.
    """
    size = len(guess.by_size) - 1
    floor, _ = exact.bounds(size)
    gain = np.maximum(score - floor, 0.0)
    apart = support_of(exact.missing, level(exact.missing.shape[1], size)) <= SINGLES
    return np.stack([np.nan_to_num(guess.deviation), gain, apart], axis=2)


class ErrorModel:
    """How far guesses are off: half the width of an interval with a target coverage.

    Attributes
    ----------
    knows : bool
        Whether there were enough hidden features to learn from.
    """

    def __init__(self, trial: Trial, confidence: float) -> None:
        self.knows = trial.n_clusters >= FEWEST_CLUSTERS
        if not self.knows:
            return
        sizes = np.abs(trial.errors)
        self._usual = max(float(sizes.mean()), np.finfo(float).tiny)
        self._weights, _ = nnls(self._with_constant(trial.reasons), sizes)
        self._chance = NormalDist().inv_cdf((1 + confidence) / 2)
        relative = sizes / self._scale(trial.reasons)
        share = min(1.0, confidence * (1 + CLUSTER_CORRECTION / trial.n_clusters))
        self._quantile = float(np.quantile(relative, share))

    def half_width(self, reasons: Scores) -> Scores:
        """Half the width for guesses with these reasons to be wrong.

        Never less than chance alone asks for: hidden features that tell little say little of how
        far off the guess for one that tells much may be.
        """
        flat = reasons.reshape(-1, reasons.shape[-1])
        learned = (self._quantile * self._scale(flat)).reshape(reasons.shape[:-1])
        half: Scores = np.maximum(learned, self._chance * reasons[..., 0])
        return half

    def _scale(self, reasons: Scores) -> Scores:
        scale: Scores = self._with_constant(reasons) @ self._weights
        return scale + LEAST_SCALE * self._usual

    def _with_constant(self, reasons: Scores) -> Scores:
        chance, gain, apart = reasons.T
        constant = np.full(len(reasons), self._usual)
        return np.column_stack([chance, gain, apart * self._usual, constant])
