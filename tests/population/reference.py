"""The step to populations written once more, with whole arrays and without a thought for speed."""

from itertools import combinations
from math import prod

import numpy as np

from misfeat.population.pool import LARGEST_PART, shrink


def table_of(codes, target, cards, n_classes, subset):
    table = np.zeros((*cards[list(subset)], n_classes))
    np.add.at(table, (*codes[list(subset)], target), 1)
    return table


def information(table):
    """Mutual information of all axes but the last with the last one."""
    joint = np.maximum(table, 0).reshape(-1, table.shape[-1])
    joint = joint / joint.sum()
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / product[some])).sum())


def scaled(table, axes, wanted):
    """Scale a table so that its sums over all but some axes are as wanted."""
    others = tuple(a for a in range(table.ndim) if a not in axes)
    sums = table.sum(axis=others, keepdims=True)
    return table * np.where(sums > 0, wanted.reshape(sums.shape) / np.where(sums > 0, sums, 1), 0)


class ShrunkenPool:
    """Tables of all subsets, shrunk size by size; `tables` maps subsets to (values…, classes)."""

    def __init__(self, tables, most_members_of_parts=3):
        self.most = most_members_of_parts
        self.tables, self.kept = {}, {}
        for subset in sorted(tables, key=len):
            self.shrink(subset, tables[subset])

    def parts(self, subset):
        size = min(len(subset) - 1, self.most)
        return list(combinations(subset, size)) if size else []

    def expectation(self, subset, counts):
        rows = counts.sum(axis=-1)
        if len(subset) == 1:
            return np.outer(rows, counts.sum(axis=0)) / counts.sum()
        table = np.ones_like(counts)
        for _ in range(4):
            table = scaled(table, range(len(subset)), rows)
            for part in self.parts(subset):
                axes = [*(subset.index(f) for f in part), len(subset)]
                table = scaled(table, axes, self.tables[part])
        return table

    def freedom(self, subset, cards, turn):
        free = dict(zip(subset, np.array(cards) - 1.0, strict=True))
        part_size = min(len(subset) - 1, self.most)
        own = sum(
            prod(free[f] for f in chosen)
            for size in range(part_size + 1, len(subset) + 1)
            for chosen in combinations(subset, size)
        )
        if turn == 1:
            own *= 1 - self.kept[subset][0]
        return own + sum(
            (1 - self.kept[part][turn]) * prod(free[f] for f in part) for part in self.parts(subset)
        )

    def shrink(self, subset, counts):
        rows = counts.sum(axis=-1, keepdims=True)
        table = self.expectation(subset, counts)
        self.kept[subset] = []
        for turn in range(2):
            table = scaled(table, range(len(subset)), rows)
            use = table > 1e-2
            distance = ((counts - table)[use] ** 2 / table[use]).sum()
            dof = self.freedom(subset, counts.shape[:-1], turn)
            dof *= (counts.shape[-1] - 1) * (rows > 0).mean()
            if dof > 1e-9:
                kept = max(0.0, 1 - dof / distance) if distance > 0 else 0.0
            else:
                kept = float(turn == 1 and distance > 1e-9)
            self.kept[subset].append(kept)
            if kept > 0:
                share = rows / np.maximum(rows + rows.mean() * (1 - kept) / kept, 1e-300)
                changed = (table > 1e-9) | (turn == 1)
                table = np.where(changed, table + share * (counts - table), table)
        self.tables[subset] = table


def shrink_levels(subsets, counts, cards):
    """Shrink the pooled tables of all sets of sizes 1, 2, …, each from the size below.

    Sets of a size are in the order of ranks.
    """
    levels = []
    for of_size, table in zip(subsets, counts, strict=True):
        size = of_size.shape[1]
        parts = levels[min(size - 1, LARGEST_PART) - 1] if size > 1 else None
        levels.append(shrink(of_size, table, cards, parts, keep=size <= LARGEST_PART))
    return levels
