"""What noise cost: how far scores of denoised tables are off, and the rows that they are worth.

Whoever combines summaries knows how much noise they have, so it can be tried out. Tables like those
behind the noise are taken for a population, samples of it get noise and are denoised again, and
their scores are held against those of the population. How far these are off on the mean is taken
off the site's own scores; how much they vary is what fewer rows would, were these counted exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.count_tables import LARGEST, table_starts
from misfeat.information.tabled import scores_of_tables
from misfeat.lattice import level
from misfeat.sites.denoising import noised_again
from misfeat.sites.fitting import restricted
from misfeat.sites.losing import LEAST_WORTH, Lost

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.sites.denoising import Denoised

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DRAWS = 8
"""Each is tried out twice, with chance turned the other way round."""
FEATURES = 8
"""Each draw has so many features, others every time."""
LEAST_CHANCE = 1e-9
"""Chance that gives less (nats) gives nothing: all sets have one cell."""
TINY = 1e-300


class _Seen(NamedTuple):
    """Scores above chance of a draw, what chance gives, the truth, and degrees of freedom."""

    scores: Floats
    chance: Floats
    true: Floats
    freedom: Floats


def noise_cost(found: Denoised, by_class: Floats, cards: Ints, seed: int) -> Lost:
    """What noise cost a site, by trying it out on tables like those behind the noise."""
    rng = np.random.default_rng([seed, len(cards)])
    seen: list[list[_Seen]] = [[] for _ in found.tables]
    for _ in range(DRAWS):
        some = np.sort(rng.permutation(len(cards))[:FEATURES])
        held = restricted(found.alike, cards, some)
        turn = int(rng.integers(2**62))
        for sign in (1.0, -1.0):
            told, tables = noised_again(
                by_class,
                held,
                cards[some],
                turn,
                trust=found.trust,
                noise=found.noise,
                sign=sign,
            )
            for size, (true, table) in enumerate(zip(held, tables, strict=True), start=1):
                seen[size - 1].append(_seen(size, true, table, told, cards[some]))
    rows = float(by_class.sum())
    bias, worth = np.zeros((LARGEST, 2)), np.full(LARGEST, rows)
    for size, draws in enumerate(seen):
        together = _Seen(*(np.concatenate(parts) for parts in zip(*draws, strict=True)))
        bias[size, 0], worth[size:] = _of_size(together, rows)
    return Lost(bias, worth, np.ones(LARGEST), rows / float(worth[-1]))


def _seen(size: int, true: Floats, table: Floats, told: Floats, cards: Ints) -> _Seen:
    """The scores of a draw of one size, beside the truth."""
    subsets = level(len(cards), size)
    starts = table_starts(subsets, cards)
    scores = scores_of_tables(table, told, starts)
    truth = scores_of_tables(true, true[: starts[1]].sum(axis=0), starts).plug_in
    used = np.add.reduceat((true.sum(axis=1) > 0).astype(np.float64), starts[:-1])
    n_classes = int((told > 0).sum())
    return _Seen(scores.above_chance, scores.chance, truth, (used - 1.0) * (n_classes - 1.0))


def _of_size(seen: _Seen, rows: float) -> tuple[float, float]:
    """The bias by what chance gives, and the rows whose scores vary as much.

    Where noise leaves one value of every feature, nothing is told.
    """
    if seen.chance.mean() < LEAST_CHANCE:
        return 0.0, LEAST_WORTH
    off = seen.scores - seen.true
    bias = float(off.sum() / seen.chance.sum())
    found = max(float(((off - bias * seen.chance) ** 2).mean()), TINY)
    square, linear = float(seen.freedom.mean()) / 2.0, 2.0 * float(seen.true.mean())
    each = 2.0 * found / max(linear + np.sqrt(linear**2 + 4.0 * square * found), TINY)
    return bias, float(max(min(rows, 1.0 / each), LEAST_WORTH))
