"""How far guesses are off on this very table, learned by hiding features that it does have.

In every round some recorded features of a few cohorts are hidden, about as many as a cohort lacks;
the other cohorts stay as they are, so that nearly as much can help as for a feature that is missing
indeed. Hidden scores are guessed and compared with the truth. Errors are set in relation to what is
known beforehand to make them large: sampling (the spread that it alone gives), the guessed gain
over the recorded part, a pair of features that nobody recorded together, and a constant. The errors
of one hidden feature in one cohort hang together, so it is they that are counted when a quantile is
chosen (conformal prediction over clusters).
"""

from __future__ import annotations

from itertools import chain, count, islice
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from misfeat.completion.model import SINGLES, guess_of, support_of
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Iterator

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
N_CAUSES = 3
LEAST_SCALE = 0.05  # an error is never expected to be smaller than this share of the mean error


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


class HiddenErrors(NamedTuple):
    """How far guesses of hidden features were off."""

    errors: Scores  # (n,): truth minus guess
    causes: Scores  # (n, N_CAUSES): see `error_causes`
    clusters: NDArray[np.int64]  # (n,): which cohort and hidden feature an error belongs to


def hidden_errors(
    completer: Any, known: Known, size: int, rounds: int, seed: int | None
) -> HiddenErrors:
    """Hide features in rounds, let a completer guess, and compare with what is known."""
    rng = np.random.default_rng(0 if seed is None else seed)
    masks = [mask for mask in hiding_rounds(known.exact.missing, rounds, rng) if mask.any()]
    progress = known.progress or (lambda *_: None)
    progress(WHAT, 0, rounds)
    nothing = HiddenErrors(np.empty(0), np.empty((0, N_CAUSES)), np.empty(0, dtype=np.int64))
    by_round = [nothing]
    for done, mask in enumerate(masks, start=1):
        by_round.append(_errors_with(completer, known, size, mask))
        progress(WHAT, done, rounds)
    progress(WHAT, rounds, rounds)
    return HiddenErrors(*map(np.concatenate, zip(*by_round, strict=True)))


def _errors_with(completer: Any, known: Known, size: int, mask: NDArray[np.bool_]) -> HiddenErrors:
    """The errors of guesses when the features that a mask marks are hidden."""
    hidden = known.hidden(mask)
    guess = guess_of(completer, hidden, size)
    score = completer.combined(guess, hidden.exact)
    truth = known.exact.by_size[size]
    tested = np.isnan(hidden.exact.by_size[size]) & ~np.isnan(truth)
    subsets = level(mask.shape[1], size)
    last_hidden = np.where(mask[:, subsets], subsets, -1).max(axis=2)
    cluster = np.arange(len(mask))[:, None] * mask.shape[1] + last_hidden
    causes = error_causes(guess, score, hidden.exact)
    return HiddenErrors((truth - score)[tested], causes[tested], cluster[tested])


def error_causes(guess: Guess, score: Scores, exact: ExactScores) -> Scores:
    """What may make each guess wrong, of shape (n_cohorts, n_subsets, N_CAUSES).

    Sampling, the guessed gain, and whether some pair was recorded together nowhere.
    """
    size = len(guess.by_size) - 1
    floor, _ = exact.bounds(size)
    gain = np.maximum(score - floor, 0.0)
    apart = support_of(exact.missing, level(exact.missing.shape[1], size)) <= SINGLES
    return np.stack([np.nan_to_num(guess.deviation), gain, apart], axis=2)


class ErrorModel:
    """How far guesses are off: half the width of an interval with a target coverage.

    It `knows` nothing where too few features were hidden to learn from.
    """

    def __init__(self, hidden: HiddenErrors, confidence: float) -> None:
        n_clusters = len(np.unique(hidden.clusters))
        self.knows = n_clusters >= FEWEST_CLUSTERS
        if not self.knows:
            return
        sizes = np.abs(hidden.errors)
        self._usual = max(float(sizes.mean()), np.finfo(float).tiny)
        self._weights, _ = nnls(self._with_constant(hidden.causes), sizes)
        self._sampling = NormalDist().inv_cdf((1 + confidence) / 2)
        relative = sizes / self._scale(hidden.causes)
        share = min(1.0, confidence * (1 + CLUSTER_CORRECTION / n_clusters))
        self._quantile = float(np.quantile(relative, share))

    def half_width(self, causes: Scores) -> Scores:
        """Half the width for guesses with these causes of error.

        Never less than sampling alone asks for: hidden features that explain little say little of
        how far off the guess for one that explains much may be.
        """
        flat = causes.reshape(-1, causes.shape[-1])
        learned = (self._quantile * self._scale(flat)).reshape(causes.shape[:-1])
        half: Scores = np.maximum(learned, self._sampling * causes[..., 0])
        return half

    def _scale(self, causes: Scores) -> Scores:
        scale: Scores = self._with_constant(causes) @ self._weights
        return scale + LEAST_SCALE * self._usual

    def _with_constant(self, causes: Scores) -> Scores:
        sampling, gain, apart = causes.T
        constant = np.full(len(causes), self._usual)
        return np.column_stack([sampling, gain, apart * self._usual, constant])
