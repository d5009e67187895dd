"""Small cells, worked out from all that is told: of single features, of pairs, and of the subgroup.

    python -m tests.attacks.small_cells --cases 200 --out benchmarks/reliability/after

A reader of a selection with `min_cell` knows every table that it tells, how counts are rounded and
when cells are merged. Each tells a range for a sum of the true counts of a pair of features with
the target; linear programming finds the least and the most that every true count below `min_cell`
can be. A case ends wrong where the two are the same, or where any number told is a small count.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
from scipy.optimize import linprog

from misfeat import Coding, SubgroupSelector
from tests.attacks.tally import Tally, run_script

GROUPS = ("site=a", "site=b")
CARDS = (3, 4)
"""Categories of the two features."""


def drawn_table(rng, n_rows):
    """Two features that tell about a target, in two subgroups; some cells are rare."""
    codes = [rng.choice(card, n_rows, p=rng.dirichlet(np.full(card, 1.5))) for card in CARDS]
    slope = rng.normal(size=2)
    target = rng.random(n_rows) < 1 / (1 + np.exp(-(slope[0] * codes[0] - slope[1] * codes[1])))
    sites = rng.choice(["a", "b"], n_rows)
    return {"f": codes[0], "g": codes[1], "y": target.astype(int), "site": sites}


def true_counts(table, group):
    """x[f, g, y] of one subgroup."""
    counts = np.zeros((*CARDS, 2))
    here = table["site"] == group.removeprefix("site=")
    np.add.at(counts, (table["f"][here], table["g"][here], table["y"][here]), 1)
    return counts


def _told_ranges(selector, group, least):
    """Masks over x[f, g, y] with the least and the most that their sum can be."""
    for features in (("f",), ("g",), ("f", "g")):
        explanation = selector.explanation(group, features)
        merged = np.ones(CARDS, dtype=bool)
        others = None
        for cell in explanation.cells:
            if "any other" in cell.values:
                others = cell
                continue
            place = dict(zip(features, map(int, cell.values), strict=True))
            where = tuple(place.get(name, slice(None)) for name in ("f", "g"))
            held = np.zeros(CARDS, dtype=bool)
            held[where] = True
            merged &= ~held
            yield from _class_ranges(cell, held, least)
        if others is not None:
            yield from _class_ranges(others, merged, least)
        else:
            yield from ((_mask(merged, y), 0.0, least - 1.0) for y in range(2))
        # Cells that are merged have fewer rows than the least, or every class was rounded to 0.
        for cell in product(range(CARDS[0]), range(CARDS[1])):
            if merged[cell] and len(features) == 2:
                alone = np.zeros(CARDS, dtype=bool)
                alone[cell] = True
                both = np.stack([alone, alone], axis=-1)
                yield both, 0.0, 2.0 * (least - 1)


def _class_ranges(cell, held, least):
    for y, share in enumerate(cell.shares):
        told = round(share.share * cell.rows)
        yield _mask(held, y), max(told - least + 1, 0), told + least - 1


def _mask(held, y):
    mask = np.zeros((*CARDS, 2), dtype=bool)
    mask[..., y] = held
    return mask


def narrowest(selector, table, group, least):
    """Of all true counts between 0 and the least: how few values are possible for one of them."""
    counts = true_counts(table, group)
    lines, lows, highs = zip(*_told_ranges(selector, group, least), strict=True)
    told = np.array([line.ravel() for line in lines], dtype=float)
    above = np.vstack([told, -told])
    limits = np.concatenate([np.array(highs, dtype=float), -np.array(lows, dtype=float)])
    if (above @ counts.ravel() > limits + 1e-9).any():
        raise AssertionError("The attack's own ranges do not hold the truth.")
    widths = []
    for place in np.flatnonzero((counts.ravel() > 0) & (counts.ravel() < least)):
        aim = np.zeros(counts.size)
        aim[place] = 1.0
        ends = [
            sign * linprog(sign * aim, A_ub=above, b_ub=limits, method="highs").fun
            for sign in (1, -1)
        ]
        widths.append(np.floor(ends[1] + 1e-6) - np.ceil(ends[0] - 1e-6))
    return min(widths, default=np.inf)


def small_counts_in(selector, least):
    """Numbers of rows that are told and lie between 0 and the least."""
    cohorts = selector.cohorts_
    told = [*cohorts.weights, *selector.subgroups_["rows"], *(a.missing for a in cohorts.columns)]
    for best in selector.best_sets(size=2):
        for cell in selector.explanation(best.subgroup, best.features).cells:
            told += [cell.rows, *(share.share * cell.rows for share in cell.shares)]
    return [count for count in told if 1e-6 < count < least - 1e-6]


def attack(cases: int, seed: int) -> Tally:
    """Try to work out counts below min_cell from everything that is told."""
    tally = Tally("small_cells", "nothing told or kept gives away a count below min_cell")
    rng = np.random.default_rng(seed)
    for case in range(cases):
        least = int(rng.choice([5, 10]))
        table = drawn_table(rng, int(rng.integers(30 * least, 60 * least)))
        selector = SubgroupSelector("site", size=2, coding=Coding(min_cell=least)).fit(table, "y")
        about = f"case {case}, min_cell={least}"
        small = small_counts_in(selector, least)
        left = min(narrowest(selector, table, group, least) for group in GROUPS)
        if small:
            tally.wrongly("told", f"{about}: {small[:5]}")
        elif left < 1:
            tally.wrongly("worked out", about)
        else:
            tally.well("stays open")
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, 200))
