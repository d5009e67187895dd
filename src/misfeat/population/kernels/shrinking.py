"""Tables of sets, shrunk towards what the tables of their parts lead one to expect.

A table holds a line a cell of the set and a column a class. Shrinking takes two turns. In each,
with X² the chi-square distance of the counts from what is expected and dof its degrees of freedom,
the share 1 - dof / X² of the difference is kept on the mean (James and Stein), n / (n + a) of it in
a cell of n rows. The first turn mends the expectation in cells with many rows; the second measures
what is left against it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from misfeat.machine.compiling import compiled
from misfeat.machine.copying import copy_lines

LEAST_EXPECTED = 1e-2
"""Cells where fewer rows than this are expected do not enter a chi-square distance."""
NO_ROWS = 1e-9
"""Fewer expected rows, or degrees of freedom, than this are none."""
UNFILLED = 1e-300
"""A sum that is not above this cannot be scaled."""


class Sets(NamedTuple):
    """The sets of one size whose tables are laid end to end.

    Attributes
    ----------
    subsets : (n_sets, size)
        The members of each.
    starts : (n_sets + 1,)
        The first line of each table, and where the last one ends.
    cards : (n_features,)
        How many values each feature has.
    """

    subsets: Any
    starts: Any
    cards: Any


class Parts(NamedTuple):
    """The smaller sets that tables are expected from.

    Attributes
    ----------
    members : (n_parts, part_size)
        Which members of a set each part has, by position.
    numbers : (n_sets, n_parts)
        The number of each part among all sets of its size.
    starts : (n_smaller + 1,)
        The first line of each of their tables.
    tables : (n_lines, n_classes)
        Their shrunken tables.
    kept : (n_smaller, 2)
        The shares that the two turns kept of each.
    """

    members: Any
    numbers: Any
    starts: Any
    tables: Any
    kept: Any


class Shrunken(NamedTuple):
    """What is found.

    Attributes
    ----------
    tables : (n_lines, n_classes)
        The shrunken tables; empty where they are not asked for.
    kept : (n_sets, 2)
        The shares that the two turns kept.
    information : (n_sets,)
        The information of the shrunken tables in nats; NaN where a table has no rows.
    """

    tables: Any
    kept: Any
    information: Any


@compiled
def shrink_sets(sets, parts, counts, sweeps, first, last, found):
    """Shrink the tables of the sets first to last; `parts` is not read for single features."""
    n_classes = counts.shape[1]
    for s in range(first, last):
        table = counts[sets.starts[s] : sets.starts[s + 1]]
        rows = table.sum(axis=1)
        if rows.sum() <= 0.0:
            found.information[s] = np.nan
            continue
        cards = sets.cards[sets.subsets[s]]
        expected = np.ones((len(table), n_classes))
        if len(cards) == 1:
            _expect_independence(table, rows, expected)
        else:
            _expect_from_parts(parts, s, cards, rows, sweeps, expected)
        freedom = _freedom(parts, s, cards, n_classes)
        _shrink(table, rows, expected, freedom, found.kept[s])
        found.information[s] = _information(expected)
        if len(found.tables):
            copy_lines(expected, found.tables[sets.starts[s] : sets.starts[s + 1]])


@compiled
def _expect_independence(table, rows, expected):
    """The table that independence of the feature and the target would give."""
    by_class = table.sum(axis=0)
    total = by_class.sum()
    for k in range(len(table)):
        for y in range(table.shape[1]):
            expected[k, y] = rows[k] * by_class[y] / total


@compiled
def _expect_from_parts(parts, s, cards, rows, sweeps, expected):
    """Fit a table from nothing to its rows and to the tables of its parts, in turns."""
    n_parts, n_classes = len(parts.members), expected.shape[1]
    lines = np.empty((n_parts, len(rows)), np.uint64)
    lengths = np.empty(n_parts, np.int64)
    for u in range(n_parts):
        lengths[u] = _lines_of_part(cards, parts.members[u], lines[u])
    values, sums = expected.reshape(-1), np.empty(expected.size)
    for _ in range(sweeps):
        _scale_rows(expected, rows)
        for u in range(n_parts):
            number = parts.numbers[s, u]
            wanted = parts.tables[parts.starts[number] : parts.starts[number + 1]].reshape(-1)
            lines_of_part = lines[u, : len(rows) // lengths[u]]
            _fit(values, lines_of_part, lengths[u] * n_classes, wanted, sums)


@compiled
def _lines_of_part(cards, members, lines):
    """Find the line of a part for every line of a set; returns how many cells a line has.

    A line goes through all values of the last members of the set, as far as they are in the part.
    """
    steps = np.zeros(len(cards), np.int64)
    n_cells = 1
    for u in range(len(members) - 1, -1, -1):
        steps[members[u]] = n_cells
        n_cells *= cards[members[u]]
    length, last = 1, len(cards) - 1
    while last >= 0 and steps[last]:
        length *= cards[last]
        last -= 1
    lines[0] = 0
    filled = 1
    for a in range(last, -1, -1):
        for x in range(1, cards[a]):
            for k in range(filled):
                lines[x * filled + k] = lines[k] + np.uint64(x * steps[a] // length)
        filled *= cards[a]
    return length


@compiled
def _fit(values, lines, length, wanted, sums):
    """Scale values so that the sums over their lines are as wanted.

    Places are numbers without sign, so that none is checked for it.
    """
    length = np.uint64(length)
    for h in range(len(wanted)):
        sums[h] = 0.0
    for k in range(np.uint64(len(lines))):
        own, of_part = k * length, lines[k] * length
        for h in range(length):
            sums[of_part + h] += values[own + h]
    for h in range(len(wanted)):
        total = sums[h]
        sums[h] = wanted[h] / total if total > UNFILLED else 0.0
    for k in range(np.uint64(len(lines))):
        own, of_part = k * length, lines[k] * length
        for h in range(length):
            values[own + h] *= sums[of_part + h]


@compiled
def _scale_rows(values, rows):
    """Scale values so that every cell has its rows; cells without values stay so."""
    n_classes = values.shape[1]
    for k in range(len(values)):
        total = 0.0
        for y in range(n_classes):
            total += values[k, y]
        factor = rows[k] / total if total > UNFILLED else 0.0
        for y in range(n_classes):
            values[k, y] *= factor


@compiled
def _freedom(parts, s, cards, n_classes):
    """Degrees of freedom: of what no part can tell, and of what each turn shrank away in parts.

    What no part tells are the interactions of more members than a part has: the sum over such
    subsets of the products of (values - 1), an elementary symmetric polynomial a size.
    """
    size = len(cards)
    part_size = parts.members.shape[1] if size > 1 else 0
    by_size = np.zeros(size + 1)
    by_size[0] = 1.0
    for a in range(size):
        for m in range(a + 1, 0, -1):
            by_size[m] += by_size[m - 1] * (cards[a] - 1.0)
    freedom = np.zeros(3)
    freedom[0] = by_size[part_size + 1 :].sum() * (n_classes - 1)
    if size > 1:
        for u in range(len(parts.members)):
            own = n_classes - 1.0
            for member in parts.members[u]:
                own *= cards[member] - 1.0
            for turn in range(2):
                freedom[1 + turn] += (1.0 - parts.kept[parts.numbers[s, u], turn]) * own
    return freedom


@compiled
def _shrink(table, rows, expected, freedom, kept):
    """Both turns, in place: the expectation becomes the shrunken table."""
    filled = 0
    for k in range(len(rows)):
        filled += rows[k] > 0.0
    share_filled = filled / len(rows)
    mean_rows = rows.sum() / len(rows)
    for turn in range(2):
        _scale_rows(expected, rows)
        distance = _distance(table, expected)
        own = freedom[0] if turn == 0 else (1.0 - kept[0]) * freedom[0]
        dof = (own + freedom[1 + turn]) * share_filled
        kept[turn] = _share_kept(distance, dof, turn)
        if kept[turn] > 0.0:
            added = mean_rows * (1.0 - kept[turn]) / kept[turn]
            for k in range(len(rows)):
                share = rows[k] / (rows[k] + added) if rows[k] > 0.0 else 0.0
                for y in range(table.shape[1]):
                    if turn == 1 or expected[k, y] > NO_ROWS:
                        expected[k, y] += share * (table[k, y] - expected[k, y])


@compiled
def _distance(table, expected):
    total = 0.0
    for k in range(len(table)):
        for y in range(table.shape[1]):
            if expected[k, y] > LEAST_EXPECTED:
                total += (table[k, y] - expected[k, y]) ** 2 / expected[k, y]
    return total


@compiled
def _share_kept(distance, dof, turn):
    """[1 - dof / X²]₊; where the first turn left nothing to estimate, all that differs is kept."""
    if dof <= NO_ROWS:
        return 1.0 if turn == 1 and distance > NO_ROWS else 0.0
    return 1.0 - dof / distance if distance > dof else 0.0


@compiled
def _information(table):
    """Mutual information of cells and classes in nats; negative entries count as none."""
    n_cells, n_classes = table.shape
    by_class = np.zeros(n_classes)
    joint, cells, total = 0.0, 0.0, 0.0
    for k in range(n_cells):
        rows = 0.0
        for y in range(n_classes):
            value = table[k, y]
            if value > 0.0:
                rows += value
                by_class[y] += value
                joint += value * np.log(value)
        if rows > 0.0:
            cells += rows * np.log(rows)
            total += rows
    classes = 0.0
    for y in range(n_classes):
        if by_class[y] > 0.0:
            classes += by_class[y] * np.log(by_class[y])
    return max(np.log(total) + (joint - cells - classes) / total, 0.0)
