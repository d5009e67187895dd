"""How far guesses are off, learned by hiding recorded features, and intervals that follow.

Errors are relative to what makes them large: sampling, the guessed gain, a pair recorded together
nowhere, and a constant. Those of one hidden feature in one cohort make a cluster, and clusters
count when a quantile is chosen (conformal prediction over clusters).
"""

from collections.abc import Iterable, Iterator
from itertools import chain, count, islice
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from misfeat.completion import completer_data
from misfeat.completion.completer_data import SINGLES, ExactScores, Guess, Known
from misfeat.lattice.levels import level
from misfeat.runtime.array_types import Flags, Floats, Integers

WHAT = "Learning how far predictions are off"
LEAST_SHARE, MOST_SHARE = 0.2, 0.5  # as large a share is hidden as a cohort lacks, within these
COHORTS_A_ROUND = 0.25  # the share of cohorts that features are hidden from; one at least
FEWEST_CLUSTERS = 5  # with fewer hidden features there is no interval but what is certain
CLUSTER_CORRECTION = 0.5  # of that for few clusters; features of one cohort help each other
N_CAUSES = 3
LEAST_SCALE = 0.05  # an error is never expected to be smaller than this share of the mean error


def hiding_rounds(missing: Flags, rounds: int, rng: np.random.Generator) -> Iterator[Flags]:
    """Features to hide, a mask a round: cohorts and features take turns."""
    share = np.clip(missing.mean(axis=1), LEAST_SHARE, MOST_SHARE)
    turns = chain.from_iterable(rng.permutation(len(missing)) for _ in count())
    at_once = max(1, round(COHORTS_A_ROUND * len(missing)))
    return hidden_in_turns(missing, share, (islice(turns, at_once) for _ in range(rounds)), rng)


def hidden_in_turns(
    missing: Flags, share: Floats, turns: Iterable[Iterable[int]], rng: np.random.Generator
) -> Iterator[Flags]:
    """A mask a round, of a share of what each cohort recorded whose turn it is, one at least."""
    # Only features that another cohort has left are hidden, those first that seldom were, and every
    # cohort keeps at least one.
    recorded, n_recorded = ~missing, (~missing).sum(axis=1)
    wanted = np.maximum(1, np.round(share * n_recorded)).astype(int)
    wanted = np.maximum(np.minimum(wanted, n_recorded - 1), 0)
    times_hidden = np.zeros(missing.shape, dtype=int)
    for cohorts in turns:
        mask = np.zeros_like(missing)
        for cohort in cohorts:
            elsewhere = (recorded & ~mask).sum(axis=0) - recorded[cohort]
            able = np.flatnonzero(recorded[cohort] & ~mask[cohort] & (elsewhere > 0))
            turn = np.lexsort((rng.random(len(able)), times_hidden[cohort, able]))
            mask[cohort, able[turn[: wanted[cohort]]]] = True
        times_hidden += mask
        yield mask


class HiddenErrors(NamedTuple):
    """How far guesses of hidden features were off."""

    errors: Floats  # (n,): truth minus guess
    causes: Floats  # (n, N_CAUSES): see `error_causes`
    clusters: Integers  # (n,): which cohort and hidden feature an error belongs to


def hidden_errors(
    completer: Any, known: Known, size: int, rounds: int, seed: int | None
) -> HiddenErrors:
    """Hide features in rounds, let a completer guess, and compare with what is known."""
    rng = np.random.default_rng(0 if seed is None else seed)
    masks = [mask for mask in hiding_rounds(known.exact.missing, rounds, rng) if mask.any()]
    progress = known.progress or (lambda *_: None)
    progress(WHAT, 0, rounds)
    nothing = HiddenErrors(np.empty(0), np.empty((0, N_CAUSES)), np.empty(0, dtype=np.int64))
    by_round, truth = [nothing], known.exact.by_size[size]
    subsets = level(known.exact.missing.shape[1], size)
    for done, mask in enumerate(masks, start=1):
        hidden = known.hidden(mask)
        guess = completer_data.guess_of(completer, hidden, size)
        score = completer.combined(guess, hidden.exact)
        tested = np.isnan(hidden.exact.by_size[size]) & ~np.isnan(truth)
        last_hidden = np.where(mask[:, subsets], subsets, -1).max(axis=2)
        cluster = np.arange(len(mask))[:, None] * mask.shape[1] + last_hidden
        causes = error_causes(guess, score, hidden.exact)
        by_round.append(HiddenErrors((truth - score)[tested], causes[tested], cluster[tested]))
        progress(WHAT, done, rounds)
    progress(WHAT, rounds, rounds)
    return HiddenErrors(*map(np.concatenate, zip(*by_round, strict=True)))


def error_causes(guess: Guess, score: Floats, exact: ExactScores) -> Floats:
    """Sampling, guessed gain, a pair recorded nowhere: (n_cohorts, n_subsets, N_CAUSES)."""
    size = len(guess.by_size) - 1
    floor, _ = exact.bounds(size)
    gain = np.maximum(score - floor, 0.0)
    apart = completer_data.support_of(exact.missing, level(exact.missing.shape[1], size)) <= SINGLES
    return np.stack([np.nan_to_num(guess.deviation), gain, apart], axis=2)


def half_widths(hidden: HiddenErrors, causes: Floats, confidence: float) -> Floats | None:
    """Half the widths of intervals around guesses; None where too few features were hidden."""
    # A size of error is expected by its causes, and a quantile of errors relative to that is taken;
    # no interval is narrower than sampling asks for.
    n_clusters = len(np.unique(hidden.clusters))
    if n_clusters < FEWEST_CLUSTERS:
        return None
    from scipy.optimize import nnls

    sizes = np.abs(hidden.errors)
    usual = max(float(sizes.mean()), np.finfo(float).tiny)

    def with_constant(causes: Floats) -> Floats:
        sampling, gain, apart = causes.T
        return np.column_stack([sampling, gain, apart * usual, np.full(len(causes), usual)])

    weights, _ = nnls(with_constant(hidden.causes), sizes)
    relative = sizes / (with_constant(hidden.causes) @ weights + LEAST_SCALE * usual)
    share = min(1.0, confidence * (1 + CLUSTER_CORRECTION / n_clusters))
    expected = with_constant(causes.reshape(-1, N_CAUSES)) @ weights + LEAST_SCALE * usual
    learned = float(np.quantile(relative, share)) * expected
    sampling = NormalDist().inv_cdf((1 + confidence) / 2) * causes[..., 0]
    return np.asarray(np.maximum(learned.reshape(sampling.shape), sampling))
