"""Small counts kept back: every count that is told is a multiple of n, drawn up or down at random.

In which order, and why so, is in docs/how_to/sites.md (small counts). As every true count enters
one rounded number only, averaging over many tables that share a small count reveals no more
about it. Chance of a line comes from the line and from the site's key (`chance_of`), so that asking
again does not help. Tables are fitted to smaller ones by iterative proportional fitting.

Rounding has a cost. Whoever combines summaries knows the rounded counts and the multiple, so it can
be tried out: tables like those of the site are drawn, rounded and made consistent again as those
that came (`rerounded`). Their scores, beside those of what was drawn from, give the bias, by some
function of what chance alone gives them, and the variance, as the rows that would have it if they
were counted exactly.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from misfeat.completion.transfer.contingency_tables import rake_parts
from misfeat.exceptions import MisfeatError
from misfeat.information.count_tables import LARGEST, scores_of_tables, table_starts
from misfeat.lattice.levels import level, rank
from misfeat.messages import Setting
from misfeat.runtime.array_types import Floats, Indices, Integers
from misfeat.sites.summary import Summary

SWEEPS = 25  # Rounds of fitting
PRIOR = 0.05
"""What a rounded table gets of what its smaller tables lead one to expect, before it is fitted: no
cell is impossible because it was rounded down."""
DRAWS = 8  # Tables are drawn so often once it is known how noisy they are, half as often before
FEATURES = 6  # Each draw has so many features, others every time
BEYOND_NOISE = (1.0, 2.0)
"""Single features and pairs keep what is so many times beyond noise of how they differ from what
is expected; larger sets keep nothing, since their noise is most of it."""
FEWEST_EXPECTED = 0.01  # Cells where fewer rows are expected say nothing about noise
DOUBT = 0.2  # The standard error of the bias as a share of it: drawn tables are not the true ones
VARIES = 0.1  # Chance differs between sets where its standard deviation is such a share of it
TINY = 1e-12  # Keeps divisions defined
LEAST_CHANCE = 1e-9  # Chance of less (nats) gives nothing: one value of every feature is left
MOST_SEEDS = 2**62
LEAST_WORTH = 1.0  # No site is worth less than a row
BYTES = 8  # Bytes that a number between 0 and 1 is made of


def rounded_from(key: int, counts: Any, least: int, *about: str) -> Integers:
    """Counts rounded by chance drawn from a key and a name, so that sums are right on the mean."""
    name = int.from_bytes(hashlib.sha256(repr(about).encode()).digest())
    chance = np.random.default_rng([key, name]).random(np.shape(counts))
    return rounded_by(counts, chance, least)


def rounded_by(counts: Any, chance: Floats, least: int) -> Integers:
    """Counts rounded up or down to multiples by chance, a number between 0 and 1 for each."""
    multiples = np.asarray(counts) / least
    below = np.floor(multiples)
    told: Integers = (below + (chance < multiples - below)).astype(np.int64)
    return told * least


def each_size(
    by_class: Floats, tables: list[Floats], cards: Integers, make: Callable[..., Floats]
) -> list[Floats]:
    """What ``make(table, parts, members)`` gives for every set, sizes from 1 on."""
    # The parts of a set are what was made of its subsets with one feature less, in the order of
    # that feature; that of a single feature is the classes.
    smaller, ends, found = by_class[None], np.array([0, 1]), []
    for size, table in enumerate(tables, start=1):
        subsets = level(len(cards), size)
        starts = table_starts(subsets, cards)
        places = np.zeros((1, len(subsets)), dtype=np.int64)
        if size > 1:
            places = np.array([rank(np.delete(subsets, lacks, axis=1)) for lacks in range(size)])
        first, last = ends[places].T.tolist(), ends[places + 1].T.tolist()
        made = np.empty(table.shape)
        for number, subset in enumerate(subsets.tolist()):
            shape = tuple(cards[subset].tolist())
            parts = [
                smaller[start:end].reshape(*shape[:lacks], *shape[lacks + 1 :], -1)
                for lacks, (start, end) in enumerate(zip(first[number], last[number], strict=True))
            ]
            lines = slice(starts[number], starts[number + 1])
            of_set = make(table[lines].reshape(*shape, -1), parts, tuple(subset))
            made[lines] = of_set.reshape(-1, table.shape[1])
        smaller, ends = made, starts
        found.append(made)
    return found


def raked(table: Floats, parts: list[Floats]) -> Floats:
    """A table scaled until its sums over each feature are those of the parts without it."""
    cards = np.array(table.shape[:-1], dtype=np.int64)
    fitted = np.array(table, dtype=np.float64).reshape(-1)
    wanted, width = [part.ravel() for part in reversed(parts)], table.shape[-1]
    starts = np.cumsum([0, *(part.size // width for part in wanted[:-1])])
    sums = np.empty(fitted.size)
    rake_parts(fitted, cards, width, np.concatenate(wanted), starts, sums, SWEEPS)
    return fitted.reshape(table.shape)


def rounded_summary(summary: Summary, least: int, secret: bytes = b"") -> Summary:
    """The same summary with all counts rounded to multiples; chance is drawn from `secret`, too."""
    if least < 2:
        return summary
    columns = summary.features

    def draw(exact: Floats, fitted: Floats, members: tuple[int, ...]) -> Integers:
        of_table = [columns[member] for member in members]
        return rounded_by(fitted, chance_of(exact.astype(np.int64), of_table, secret), least)

    told = rounded_by(summary.by_class, chance_of(summary.by_class, [], secret), least)
    if not told.any():
        raise MisfeatError(
            f"The site has too few rows of every class for {Setting('min_cell', least)}; lower it."
        )
    exact = [table.astype(np.float64) for table in summary.of_sizes()]
    tables = [table.astype(np.int64) for table in _rounded(told, exact, summary.cards, draw)]
    return replace(
        summary, by_class=told, tables=tables[-1], smaller=tuple(tables[:-1]), min_cell=least
    )


def hidden_rows(least: int) -> int:
    """Rows that a class is taken to have of which none are told: as many as on the mean."""
    return max(1, round(least / 3.0))


def fitted_tables(summary: Summary) -> list[Floats]:
    """The tables of a rounded summary, made consistent: larger ones have the smaller in common."""
    tables = [table.astype(np.float64) for table in (*summary.smaller, summary.tables)]
    return each_size(summary.by_class.astype(np.float64), tables, summary.cards, _fitted)


def rerounded(
    by_class: Floats, tables: list[Floats], cards: Integers, seed: int, *, least: int
) -> tuple[Floats, list[Floats]]:
    """Rows by class and tables, rounded by chance of their own and made consistent again."""
    told = rounded_from(seed, by_class, least, "classes").astype(np.float64)
    if not told.any():
        told[by_class.argmax()] = least

    def draw(_: Floats, fitted: Floats, members: tuple[int, ...]) -> Integers:
        return rounded_from(seed, fitted, least, "tables", "-".join(map(str, members)))

    rounded = _rounded(told, tables, cards, draw)
    believed = np.where((told == 0) & (by_class > 0), hidden_rows(least), told)
    return believed, each_size(believed, rounded, cards, _fitted)


def _rounded(
    told: Integers | Floats,
    tables: list[Floats],
    cards: Integers,
    draw: Callable[[Floats, Floats, tuple[int, ...]], Integers],
) -> list[Floats]:
    """Tables by size, each fitted to the rounded ones below it and then rounded."""

    def make(counts: Floats, parts: list[Floats], members: tuple[int, ...]) -> Floats:
        return draw(counts, raked(counts, parts), members).astype(np.float64)

    return each_size(told.astype(np.float64), tables, cards, make)


def _fitted(table: Floats, parts: list[Floats], _members: tuple[int, ...]) -> Floats:
    """A rounded table fitted to smaller ones that are consistent."""
    if len(parts) == 1:  # a single feature: classes that no value was told of are shared out
        sums = table.sum(axis=0)
        told = table.sum(axis=1, keepdims=True)
        shared = np.where(sums > 0, table, told if told.any() else 1.0)
        return np.asarray(shared * parts[0] / np.maximum(shared.sum(axis=0), 1.0))
    expected = raked(np.ones(table.shape), parts)
    sums, whole = table.sum(axis=tuple(range(table.ndim - 1))), parts[0].reshape(-1, len(table.T))
    scale = np.divide(whole.sum(axis=0), sums, out=np.zeros_like(sums), where=sums > 0)
    return raked(table * scale + PRIOR * expected, parts)


def chance_of(counts: Indices, columns: Sequence[str], secret: bytes) -> Floats:
    """A number between 0 and 1 for every count of a table, an axis a column and one of classes."""
    # Whoever could have the same rows rounded by other chance would find the counts by averaging.
    # So it is drawn from the columns of the table, the exact counts of the line, and a secret of
    # the site, and depends on nothing else that a codebook could change.
    order = np.argsort(columns, kind="stable").tolist()
    lines = counts.transpose(*order, -1).reshape(-1, counts.shape[-1])
    name = repr(sorted(columns)).encode()
    found = np.zeros(lines.shape)
    seen: Counter[bytes] = Counter()
    for place in np.flatnonzero(lines.any(axis=1)).tolist():
        line = lines[place].astype("<i8").tobytes()
        about = name + line + seen[line].to_bytes(BYTES)
        drawn = hashlib.shake_256(len(secret).to_bytes(BYTES) + secret + about)
        found[place] = np.frombuffer(drawn.digest(BYTES * len(lines.T)), dtype="<u8") / 2.0**64
        seen[line] += 1
    ordered = found.reshape(*(counts.shape[axis] for axis in order), counts.shape[-1])
    return ordered.transpose(*np.argsort(order).tolist(), -1)


class RoundingCost(NamedTuple):
    """What rounding cost a site.

    For sets of one, two and three features, scores above chance are too high by `bias` for every
    nat, and every square of a nat, that chance alone gives a set; and `worth` rows, counted
    exactly, would inform as much. Counts of the largest sets are so many times as noisy as exact
    ones as `noise` says.
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
    by_class: Floats, tables: list[Floats], cards: Integers, least: int, seed: int
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
        told = rerounded(*plain, own, int(rng.integers(MOST_SEEDS)), least=least)
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
        bias[size], worth[size:] = _bias_and_worth(together, rows)
    return RoundingCost(bias, worth, noise=1.0 + changed / counted)


def _noise(
    by_class: Floats, tables: list[Floats], cards: Integers, least: int, rng: np.random.Generator
) -> list[float]:
    """How far rounded tables lie from what smaller ones lead one to expect, by chance alone."""
    by_size: list[list[float]] = [[] for _ in tables]

    def measure(held: Floats, parts: list[Floats], _: tuple[int, ...]) -> Floats:
        by_size[len(parts) - 1].append(_distance(held, _expected(held, parts)))
        return held

    for _ in range(DRAWS // 2):
        held, own = _some(tables, cards, rng)
        plain = _drawn(by_class, _smoothed(by_class, held, own, None), own, rng)
        told = rerounded(*plain, own, int(rng.integers(MOST_SEEDS)), least=least)
        each_size(*told, own, measure)
    return [float(np.mean(found)) for found in by_size]


def _some(
    tables: list[Floats], cards: Integers, rng: np.random.Generator
) -> tuple[list[Floats], Integers]:
    """The tables of all sets of some features, and how many values each has."""
    some, found = np.sort(rng.permutation(len(cards))[:FEATURES]), []
    for size, held in enumerate(tables[: len(some)], start=1):
        starts = table_starts(level(len(cards), size), cards)
        places = rank(some[level(len(some), size)])
        found.append(np.concatenate([held[starts[p] : starts[p + 1]] for p in places]))
    return found, cards[some]


def _smoothed(
    by_class: Floats, tables: list[Floats], cards: Integers, noise: list[float] | None
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
    """What smaller tables lead one to expect; of a single feature, that it explains nothing."""
    if len(parts) == 1:
        sums, by_class = table.sum(axis=1, keepdims=True), parts[0]
        return np.asarray(sums / max(float(sums.sum()), TINY) * by_class)
    return raked(np.ones(table.shape), parts)


def _distance(table: Floats, expected: Floats) -> float:
    """The chi-square distance of a table from what is expected, per cell."""
    seen = expected > FEWEST_EXPECTED
    off = (table[seen] - expected[seen]) ** 2 / expected[seen]
    return float(off.sum() / max(seen.sum(), 1))


def _drawn(
    by_class: Floats, tables: list[Floats], cards: Integers, rng: np.random.Generator
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
    cards: Integers,
) -> list[_Compared]:
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


def _bias_and_worth(found: _Compared, rows: float) -> tuple[Floats, float]:
    """How far scores are too high, and the rows of which exact ones would vary as much."""
    # Least squares through the origin on what chance gives a set, and its square if it varies.
    lines = np.stack([found.chance, found.chance**2], axis=1)
    used = 2 if np.std(found.chance) > VARIES * np.mean(found.chance) else 1
    weight = 1.0 / (found.chance + np.mean(found.chance) + TINY)
    too_high = (found.protected - found.true) * weight
    bias = np.zeros(2)
    bias[:used] = np.linalg.lstsq(lines[:, :used] * weight[:, None], too_high)[0]
    off = lines @ bias
    left = found.protected - found.plain - off
    left = left - left.mean()  # tables drawn apart do not fit each other where cells are few
    added = float(np.mean(left**2 + (DOUBT * off) ** 2))  # to the variance, by rounding
    square, linear = float(found.freedom.mean()) / 2.0, 2.0 * float(found.true.mean())
    wanted = square / rows**2 + linear / rows + added
    each = 2.0 * wanted / (linear + np.sqrt(linear**2 + 4.0 * square * wanted) + TINY)
    return bias, max(min(rows, 1.0 / max(float(each), TINY)), LEAST_WORTH)
