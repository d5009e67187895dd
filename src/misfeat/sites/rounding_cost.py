"""What rounding counts cost: how far scores of rounded tables are off, and what they are worth.

Whoever combines summaries knows the rounded counts and the multiple, so rounding can be tried out.
Tables like those of the site are drawn, rounded and made consistent again as those that came
(`rounding.told_again`). Their scores, beside those of what was drawn from, give

- the bias: tables made of rounded counts seem to explain more, by some function of what chance
  alone gives them;
- the variance, as the rows that would have it if they were counted exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.count_tables import LARGEST, scores_of_tables, table_starts
from misfeat.lattice import level
from misfeat.sites.rounding import each_size, raked, restricted, told_again

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DRAWS = 8  # Tables are drawn so often once it is known how noisy they are, half as often before
FEATURES = 6  # Each draw has so many features, others every time
BEYOND_NOISE = (1.0, 2.0)
"""Single features and pairs keep what is so many times beyond noise of how they differ from what
is expected; larger sets keep nothing, since their noise is most of it."""
FEWEST_EXPECTED = 0.01  # Cells where fewer rows are expected say nothing about noise
DOUBT = 0.2
"""The standard error of the bias, as a share of it: the tables drawn from are not the true ones."""
VARIES = 0.1
"""What chance gives differs between sets where its standard deviation is such a share of it."""
TINY = 1e-12  # Keeps divisions defined
LEAST_CHANCE = 1e-9
"""Chance that gives less (nats) gives nothing: one value of every feature is left."""
MOST_SEEDS = 2**62
LEAST_WORTH = 1.0  # No site is worth less than a row


class RoundingCost(NamedTuple):
    """What rounding cost a site.

    For sets of one, two and three features, scores above chance are too high by `bias` for every
    nat, and every square of a nat, that chance alone gives a set; and `worth` rows, counted
    exactly, would tell as much. Counts of the largest sets are so many times as noisy as exact ones
    as `noise` says.
    """

    bias: Floats
    worth: Floats
    noise: float


class _Compared(NamedTuple):
    """Scores of one draw of one size, above chance but for `chance` itself and the `true` ones."""

    protected: Floats
    plain: Floats
    chance: Floats
    true: Floats
    freedom: Floats


def rounding_cost(
    by_class: Floats, tables: list[Floats], cards: Ints, least: int, seed: int
) -> RoundingCost:
    """What rounding to multiples cost a site, by trying it out on tables like those of the site."""
    rng = np.random.default_rng([seed, len(cards)])
    noise = _noise(by_class, tables[: len(BEYOND_NOISE)], cards, least, rng)
    by_size: list[list[_Compared]] = [[] for _ in tables]
    changed, counted = 0.0, TINY
    for _ in range(DRAWS):
        held, own = _some(tables, cards, rng)
        smooth = _smoothed(by_class, held, own, noise)
        plain = _drawn(by_class, smooth, own, rng)
        told = told_again(*plain, own, int(rng.integers(MOST_SEEDS)), least=least)
        for found, one in zip(by_size, _compared(smooth, plain, told, own), strict=False):
            found.append(one)
        changed += float(np.sum((told[1][-1] - plain[1][-1]) ** 2))
        counted += float(plain[1][-1].sum())
    rows = float(by_class.sum())
    bias, worth = np.zeros((LARGEST, 2)), np.full(LARGEST, rows)
    for size, compared in enumerate(by_size):
        together = _Compared(*(np.concatenate(parts) for parts in zip(*compared, strict=True)))
        if together.chance.mean() < LEAST_CHANCE:
            worth[size:] = LEAST_WORTH
            continue
        bias[size] = _bias(together)
        worth[size:] = _worth(together, rows, _added(together, bias[size]))
    return RoundingCost(bias, worth, noise=1.0 + changed / counted)


def no_information(rows: float) -> RoundingCost:
    """The cost for a site whose counts show one class only: all they could say of the target."""
    worth = np.full(LARGEST, LEAST_WORTH)
    return RoundingCost(np.zeros((LARGEST, 2)), worth, noise=rows / LEAST_WORTH)


def _noise(
    by_class: Floats, tables: list[Floats], cards: Ints, least: int, rng: np.random.Generator
) -> list[float]:
    """How far rounded tables lie from what smaller ones lead one to expect, by chance alone."""
    by_size: list[list[float]] = [[] for _ in tables]

    def measure(held: Floats, parts: list[Floats], _: tuple[int, ...]) -> Floats:
        by_size[len(parts) - 1].append(_distance(held, _expected(held, parts)))
        return held

    for _ in range(DRAWS // 2):
        held, own = _some(tables, cards, rng)
        plain = _drawn(by_class, _smoothed(by_class, held, own, None), own, rng)
        told = told_again(*plain, own, int(rng.integers(MOST_SEEDS)), least=least)
        each_size(*told, own, measure)
    return [float(np.mean(found)) for found in by_size]


def _some(tables: list[Floats], cards: Ints, rng: np.random.Generator) -> tuple[list[Floats], Ints]:
    """The tables of all sets of some features, and how many values each has."""
    some = np.sort(rng.permutation(len(cards))[:FEATURES])
    return restricted(tables, cards, some), cards[some]


def _smoothed(
    by_class: Floats, tables: list[Floats], cards: Ints, noise: list[float] | None
) -> list[Floats]:
    """Tables drawn towards what smaller ones lead one to expect, all the way without `noise`."""

    def smooth(held: Floats, parts: list[Floats], _: tuple[int, ...]) -> Floats:
        size, least = len(parts), np.inf
        if noise is not None and size <= len(noise):
            least = BEYOND_NOISE[size - 1] * noise[size - 1]
        expected = _expected(held, parts)
        kept = max(0.0, 1.0 - least / max(_distance(held, expected), TINY))
        return expected + kept * (held - expected)

    return each_size(by_class, tables, cards, smooth)


def _expected(table: Floats, parts: list[Floats]) -> Floats:
    """What smaller tables lead one to expect; of a single feature, that it tells nothing."""
    if len(parts) == 1:
        sums, by_class = table.sum(axis=1, keepdims=True), parts[0]
        alone: Floats = sums / max(float(sums.sum()), TINY) * by_class
        return alone
    return raked(np.ones(table.shape), parts)


def _distance(table: Floats, expected: Floats) -> float:
    """The chi-square distance of a table from what is expected, per cell."""
    seen = expected > FEWEST_EXPECTED
    off = (table[seen] - expected[seen]) ** 2 / expected[seen]
    return float(off.sum() / max(seen.sum(), 1))


def _drawn(
    by_class: Floats, tables: list[Floats], cards: Ints, rng: np.random.Generator
) -> tuple[Floats, list[Floats]]:
    """Rows by class and tables as samples of so many rows would give them."""
    classes = rng.poisson(by_class).astype(np.float64)
    classes[by_class.argmax()] += not classes.any()
    drawn = [rng.poisson(np.maximum(table, 0.0)).astype(np.float64) for table in tables]
    return classes, each_size(classes, drawn, cards, lambda held, parts, _: raked(held, parts))


def _compared(
    smooth: list[Floats],
    plain: tuple[Floats, list[Floats]],
    told: tuple[Floats, list[Floats]],
    cards: Ints,
) -> list[_Compared]:
    """Scores of a draw by size."""
    ends = table_starts(level(len(cards), 1), cards)
    in_use = np.add.reduceat(smooth[0].sum(axis=1) > FEWEST_EXPECTED, ends[:-1], dtype=np.float64)
    found = []
    for size, (true, drawn, protected) in enumerate(zip(smooth, plain[1], told[1], strict=True), 1):
        subsets = level(len(cards), size)
        starts = table_starts(subsets, cards)
        scores = scores_of_tables(protected, told[0], starts)
        found.append(
            _Compared(
                protected=scores.above_chance,
                plain=scores_of_tables(drawn, plain[0], starts).above_chance,
                chance=scores.chance,
                true=scores_of_tables(true, true[: starts[1]].sum(axis=0), starts).plug_in,
                freedom=(in_use[subsets].prod(axis=1) - 1.0) * (np.count_nonzero(plain[0]) - 1.0),
            )
        )
    return found


def _bias(found: _Compared) -> Floats:
    """Least squares through the origin on what chance gives a set, and its square if it varies."""
    lines = np.stack([found.chance, found.chance**2], axis=1)
    used = 2 if np.std(found.chance) > VARIES * np.mean(found.chance) else 1
    weight = 1.0 / (found.chance + np.mean(found.chance) + TINY)
    off = found.protected - found.true
    coefficients = np.zeros(2)
    coefficients[:used] = np.linalg.lstsq(lines[:, :used] * weight[:, None], off * weight)[0]
    return coefficients


def _added(found: _Compared, bias: Floats) -> float:
    """What rounding adds to the variance of scores, once they are rid of its bias."""
    off = np.stack([found.chance, found.chance**2], axis=1) @ bias
    left = found.protected - found.plain - off
    left = left - left.mean()  # tables drawn apart do not fit each other where cells are few
    return float(np.mean(left**2 + (DOUBT * off) ** 2))


def _worth(found: _Compared, rows: float, added: float) -> float:
    """The rows of which scores, counted exactly, would vary as much."""
    square, linear = float(found.freedom.mean()) / 2.0, 2.0 * float(found.true.mean())
    wanted = square / rows**2 + linear / rows + added
    each = 2.0 * wanted / (linear + np.sqrt(linear**2 + 4.0 * square * wanted) + TINY)
    return max(min(rows, 1.0 / max(float(each), TINY)), LEAST_WORTH)
