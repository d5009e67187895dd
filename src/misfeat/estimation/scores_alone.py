"""Estimates where nothing but scores of sets is at hand, as sites may share them.

The pool of a set is the mean of its scores over all subgroups, each by its rows, with predicted
ones where a subgroup did not record it. That mean is noisy where subgroups are small, so it is
shrunk towards what the pools of smaller sets lead one to expect: a regression of the pools of a
size on the sums of those of their parts.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.completion.interactions import InteractionsCompleter
from misfeat.estimation.pooling import SHARED_NOISE, Evidence, Posterior, effects_of, posterior_of
from misfeat.estimation.scale import InformationScale
from misfeat.lattice import level, rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import Known
    from misfeat.information.count_tables import ScoresAlone

    Floats = NDArray[np.float64]
    Integers = NDArray[np.integer]


def posteriors_of_scores(
    known: Known, alone: ScoresAlone, size: int, guesses: Sequence[Floats] | None = None
) -> list[Posterior]:
    """Estimates of all sets of size 1, 2, … up to one, recorded and predicted.

    `guesses` are predicted scores from size 0 on, by default those of `InteractionsCompleter`.
    """
    if guesses is None:
        guesses = InteractionsCompleter().guess(known, size).by_size
    pools: list[Floats] = [np.zeros(1)]
    found = []
    for m in range(1, size + 1):
        subsets = level(known.exact.missing.shape[1], m)
        evidence = _evidence(known, alone, subsets)
        scores = np.where(evidence.recorded, evidence.own, guesses[m])
        pools.append(np.maximum(_pooled(evidence, scores, subsets, pools), 0.0))
        part = _of_recorded_part(known.exact.missing, subsets, [[pool] for pool in pools])
        evidence = replace(evidence, pooled=np.tile(pools[m], (len(part), 1)), part=part)
        found.append(posterior_of(evidence, effects_of(evidence), guesses[m]))
    return found


def _evidence(known: Known, alone: ScoresAlone, subsets: Integers) -> Evidence:
    """Scores of one size and how they vary; what is pooled is not known yet."""
    missing, size = known.exact.missing, subsets.shape[1]
    own = _of_recorded_part(missing, subsets, known.exact.by_size)
    fitted = [_fitted(alone, level(len(alone.cards), m)) for m in range(size + 1)]
    shares = alone.by_class / alone.by_class.sum(axis=1, keepdims=True)
    scales = [InformationScale(line) for line in shares]
    return Evidence(
        own=np.nan_to_num(own),
        part=np.zeros(own.shape),
        pooled=np.zeros(own.shape),
        recorded=np.isfinite(known.exact.by_size[size]),
        fitted=np.tile(fitted[size], (len(missing), 1)),
        fitted_part=_of_recorded_part(missing, subsets, [[one] for one in fitted]),
        rows=alone.rows_worth(size),
        row_variance=lambda x: np.stack(
            [scale.row_variance(line) for scale, line in zip(scales, x, strict=True)]
        ),
        rounding=alone.steps**2 / 12.0,
        noisy=alone.noisy,
    )


def _fitted(alone: ScoresAlone, subsets: Integers) -> Floats:
    """Cells of the joint tables of sets but one, times classes but one."""
    cells = alone.cards[subsets].prod(axis=1)
    found: Floats = (cells - 1.0) * (alone.by_class.shape[1] - 1.0)
    return found


def _of_recorded_part(
    missing: NDArray[np.bool_], subsets: Integers, by_size: Sequence[Any]
) -> Floats:
    """Of every set and subgroup, the number of the features that the subgroup recorded.

    `by_size` has numbers of all sets from size 0 on, a line for every subgroup or one for all.
    """
    found = np.zeros((len(missing), len(subsets)))
    for k, lacks in enumerate(missing[:, subsets]):
        n_recorded = (~lacks).sum(axis=1)
        for m in range(1, subsets.shape[1] + 1):
            chosen = np.flatnonzero(n_recorded == m)
            if len(chosen):
                numbers = by_size[m][k % len(by_size[m])]
                found[k, chosen] = numbers[rank(subsets[chosen][~lacks[chosen]].reshape(-1, m))]
    return found


def _pooled(
    evidence: Evidence, scores: Floats, subsets: Integers, pools: Sequence[Floats]
) -> Floats:
    """The mean score of every set, shrunk towards what its parts lead one to expect."""
    share = (evidence.rows / evidence.rows.sum())[:, None]
    mean: Floats = (share * scores).sum(axis=0)
    noise = (share**2 * evidence.noise(scores)).sum(axis=0)
    noise = noise / np.maximum((share * evidence.recorded).sum(axis=0), share.min())
    size = subsets.shape[1]
    if size == 1 or len(subsets) <= size + 2:
        return mean
    parts = [
        np.sum([pools[m][rank(subsets[:, chosen])] for chosen in combinations(range(size), m)], 0)
        for m in range(1, size)
    ]
    design = np.stack([np.ones(len(mean)), *parts], axis=1)
    root = np.sqrt(noise)
    slopes = np.linalg.lstsq(design / root[:, None], mean / root, rcond=None)[0]
    expected = design @ slopes
    noise *= 1.0 - SHARED_NOISE  # what all sets have in common, the regression took up
    beyond = max(0.0, float(np.mean((mean - expected) ** 2 - noise)))
    pooled: Floats = expected + (mean - expected) * beyond / (beyond + noise)
    return pooled
