"""What no method can exceed by much: oracles that know where the rows come from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.bench.hiding import exact_scores, ranking_figures
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.bench.hiding import Truth
    from misfeat.cohorts import Cohorts

    Mask = NDArray[np.bool_]
    Redraw = Callable[[Mask, np.random.Generator], Cohorts]

DRAWS = 20
"""How often an oracle draws what is hidden."""


def population_ceiling(
    truth: Truth, mask: Mask, size: int, rng: np.random.Generator, redraw: Redraw
) -> dict[str, float]:
    """The figures of an oracle that knows the population, and the rows but for what is hidden.

    It draws the hidden values from the population, given all that is recorded, and says what scores
    they give on average. Nothing can be expected to come closer.

    `redraw` returns cohorts whose hidden features are drawn anew.
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
