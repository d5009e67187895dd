"""Small cells of a site, worked out from all the tables of its summary.

    python -m tests.attacks.site_cells --cases 200 --out benchmarks/reliability/after

Whoever has a summary with `min_cell` knows the rounded classes, and the rounded tables of all
single features, pairs and sets of three. Each tells a range for a sum of the true counts of three
features with the target. Linear programming finds the least and the most that every true count
below `min_cell`, of one, two and three features, can be. A case ends wrong where the two are the
same and the truth, or where any number told is a small count. Ranges are those of one rounding,
which is what an attacker would hope for; where these contradict each other, those of two.
"""

import sys
from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

from misfeat.sites import agree, propose, summarise
from tests.attacks.tally import Tally, run_script

NAMES = ("f", "g", "h")


def drawn_table(rng, n_rows):
    """Three features that tell about a target, and about each other; some cells are rare."""
    cards = rng.integers(2, 4, size=3)
    codes = [rng.choice(card, n_rows, p=rng.dirichlet(np.full(card, 1.5))) for card in cards]
    copied = rng.random(n_rows) < rng.random() * 0.6
    codes[2] = np.where(copied, np.minimum(codes[0], cards[2] - 1), codes[2])
    slope = rng.normal(size=3)
    target = rng.random(n_rows) < 1 / (1 + np.exp(-(slope @ np.array(codes) - 0.5)))
    return dict(zip(NAMES, codes, strict=True)) | {"y": target}


def masks_and_counts(summary):
    """Every count that is told: which cells of the whole table it sums over, and its value."""
    shape = (*summary.cards, len(summary.by_class))
    for y, told in enumerate(summary.by_class.tolist()):
        yield _mask(shape, {3: y}), told
    for size, tables in enumerate(summary.of_sizes(), start=1):
        start = 0
        # In the order of ranks, as the tables are laid out.
        for members in sorted(combinations(range(3), size), key=lambda one: one[::-1]):
            cards = summary.cards[list(members)]
            for line, values in enumerate(product(*map(range, cards))):
                for y in range(shape[-1]):
                    fixed = {**dict(zip(members, values, strict=True)), 3: y}
                    yield _mask(shape, fixed), int(tables[start + line, y])
            start += int(cards.prod())


def _mask(shape, fixed):
    mask = np.zeros(shape, dtype=bool)
    mask[tuple(fixed.get(axis, slice(None)) for axis in range(4))] = True
    return mask.ravel()


def worked_out(summary, truth, least, reach):
    """How many true counts below the least have one possible value, by ranges of so many steps.

    None where the ranges contradict each other.
    """
    masks, told = zip(*masks_and_counts(summary), strict=True)
    lines, told = np.array(masks, dtype=float), np.array(told, dtype=float)
    above = np.vstack([lines, -lines])
    width = reach * least - 1
    limits = np.concatenate([told + width, -np.maximum(told - width, 0.0)])
    counts = lines @ truth.ravel()
    found = 0
    for aim, count in zip(lines, counts, strict=True):
        if not 0 < count < least:
            continue
        ends = []
        for sign in (1, -1):
            solved = linprog(sign * aim, A_ub=above, b_ub=limits, method="highs")
            if solved.status != 0:
                return None
            ends.append(sign * solved.fun)
        low, high = np.ceil(ends[0] - 1e-6), np.floor(ends[1] + 1e-6)
        found += low == high == count
    return found


def agreed_table(rng, least):
    """A table whose three features all have several common values, and its codebook."""
    while True:
        table = drawn_table(rng, int(rng.integers(8 * least, 40 * least)))
        codebook, _ = agree([propose(table, "y", "north")])
        if len(codebook.features) == 3:
            return table, codebook


def attack(cases: int, seed: int) -> Tally:
    """Try to work out counts below min_cell from everything that a summary tells."""
    tally = Tally("site_cells", "no summary gives away a count below its min_cell")
    rng = np.random.default_rng(seed)
    for case in range(cases):
        least = 10
        table, codebook = agreed_table(rng, least)
        summary = summarise(table, codebook, "north", share="tables3", min_cell=least)
        about = f"case {case}, {len(table['y'])} rows"
        told = [summary.by_class, *summary.of_sizes()]
        exact = summarise(table, codebook, "north", share="tables3", min_cell=1)
        truth = exact.tables.astype(float)
        found = worked_out(summary, truth, least, 1)
        if found is None:
            found = worked_out(summary, truth, least, 2)
        if any((counts % least).any() for counts in told):
            tally.wrongly("told", about)
        elif found:
            tally.wrongly("worked out", f"{about}: {found}")
        else:
            tally.well("stays open" if found == 0 else "contradicts itself")
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, 200))
