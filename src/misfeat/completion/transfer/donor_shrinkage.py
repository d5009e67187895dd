"""Steps A and B1: what donors' tables say, shrunk, and how unrecorded features are distributed.

See docs/explanation/completion.md (the transfer). All donors of a subset share one strength of
shrinkage, whose dof are with what the smaller tables shrank away (James and Stein).

A proxy is a feature z that both cohorts recorded and that stands in for the unrecorded q. Its
strength is R(q,z) = I(q;z|y) / H(q|y), averaged over the cohorts that recorded both; donors weigh
(1 - R)^-2 by it.
"""

from typing import NamedTuple

import numpy as np

from misfeat.completion.transfer.contingency_tables import (
    UNFILLED,
    cohorts_lacking,
    rake,
    rake_parts,
    rank_of,
    tables_of,
)
from misfeat.runtime.array_types import Floats, Integers
from misfeat.runtime.compilation import compiled, copy_lines, copy_values

LEAST_EXPECTED = 1e-2  # cells with less expected rows than this do not enter a chi-square distance
SWEEPS = 4  # sweeps of the iterative proportional fitting that finds expected tables
LEAST_STRENGTH = 0.02  # A weaker proxy is not used
MOST_STRENGTH = 0.95  # the strength that a donor's weight is capped at
PROXY_BACK_OFF = 1.0  # so many rows of p(q|y) are added to every p(q|z,y)


class Smoothed(NamedTuple):
    """Smoothed tables of all subsets of one size."""

    subsets: Integers  # (n_subsets, size): feature numbers, in the order of ranks
    starts: Integers  # (n_subsets + 1,): the first line of each subset's tables
    tables: Floats  # (n_cohorts, n_cells, n_classes): T_j, with the target
    rows: Floats  # (n_cohorts, n_cells): PX_j, without it
    kept: Floats  # (n_subsets,): λ, the share kept of the dependence on the target
    kept_rows: Floats  # (n_subsets,): λ0, and of the features' on each other


@compiled
def shrinkage(distance, freedom):
    """[1 - dof / X²]₊"""
    return 1.0 - freedom / distance if 0.0 < freedom < distance else 0.0


@compiled
def smooth_singles(rows, counts, singles):
    """Step A for single features: λ(x) of C_j and the rest of E_j = n_j(x) n_j(y) / n_j."""
    n_classes = counts.shape[2]
    for f in range(len(rows.cards)):
        at, cells = singles.starts[f], rows.cards[f]
        tables = singles.tables[:, at : at + cells]
        donors = cohorts_lacking(singles.subsets[f], 0, rows.missing)
        pooled = np.zeros((cells, n_classes))
        expected = np.zeros((cells, n_classes))
        for j in donors:
            table = counts[j, at : at + cells]
            by_class = table.sum(axis=0)
            total = by_class.sum()
            if total > 0:  # what independence of the feature and the target would give
                tables[j] = table.sum(axis=1).reshape((cells, 1)) * by_class / total
            pooled += table
            expected += tables[j]
        freedom = ((pooled.sum(axis=1) > 0).sum() - 1.0) * (n_classes - 1)
        singles.kept[f] = shrinkage(_distance(pooled, expected), freedom)
        shares = _shares(pooled, singles.kept[f])
        for j in donors:
            beyond = counts[j, at : at + cells] - tables[j]
            tables[j] += shares.reshape((cells, 1)) * beyond


@compiled
def smooth_pairs(rows, counts, singles, pairs, first, last):
    """Step A for the pairs first to last."""
    for s in range(first, last):
        pair, start, stop = pairs.subsets[s], pairs.starts[s], pairs.starts[s + 1]
        donors = cohorts_lacking(pair, 0, rows.missing)
        if not len(donors):
            continue
        own = tables_of(counts, donors, start, stop)
        tables, shrunk_rows, kept, kept_rows = _smooth(own, rows.cards[pair], singles, pair, donors)
        pairs.kept[s], pairs.kept_rows[s] = kept, kept_rows
        for d in range(len(donors)):
            copy_lines(tables[d], pairs.tables[donors[d], start:stop])
            copy_values(shrunk_rows[d], pairs.rows[donors[d], start:stop])


@compiled
def smoothed_triple(rows, triple, donors, pairs, counts):
    """Step A for one triple: its donors' smoothed tables, from their counts."""
    ranks = np.empty(3, np.int64)
    for u, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
        ranks[u] = rank_of(np.array([triple[a], triple[b]]))
    tables, _, _, _ = _smooth(counts, rows.cards[triple], pairs, ranks, donors)
    return tables


@compiled
def _smooth(counts, cards, smaller, ranks, donors):
    """T_j = E'_j (1 - λ(x) + λ(x) C_j / E_j), PX_j = PE_j + λ0 (n_j - PE_j), λ and λ0 of a subset.

    The subsets one smaller have some ranks, by the member that they lack, the last one first.
    """
    n_donors, n_cells, n_classes = counts.shape
    own_rows, pooled, starts = counts.sum(axis=2), counts.sum(axis=0), smaller.starts[ranks]
    rows, sums = np.ones(own_rows.shape), np.empty(n_cells * n_classes)
    for d in range(n_donors):
        rake_parts(rows[d], cards, 1, smaller.rows[donors[d]], starts, sums, SWEEPS)
    distance = _distance(own_rows.sum(axis=0), rows.sum(axis=0))
    kept_rows = shrinkage(distance, _freedom(cards, smaller.kept_rows[ranks]))
    rows = kept_rows * own_rows + (1.0 - kept_rows) * rows
    expected, tables = np.ones(counts.shape), np.ones(counts.shape)
    for d in range(n_donors):
        parts = smaller.tables[donors[d]]
        _expect(expected[d], own_rows[d], cards, parts, starts, sums)
        _expect(tables[d], rows[d], cards, parts, starts, sums)
    filled = (pooled.sum(axis=1) > 0).sum()
    freedom = _freedom(cards, smaller.kept[ranks]) * (n_classes - 1) * filled / n_cells
    kept = shrinkage(_distance(pooled, expected.sum(axis=0)), freedom)
    shares = _shares(pooled, kept)
    for d in range(n_donors):
        for k in range(n_cells):
            for y in range(n_classes):
                e = expected[d, k, y]
                ratio = counts[d, k, y] / e if e > 1e-9 else 1.0
                tables[d, k, y] *= 1.0 - shares[k] + shares[k] * ratio
    return tables, rows, kept, kept_rows


@compiled
def _expect(table, rows, cards, smaller, starts, sums):
    """E_j: fitted from nothing to the rows of cells and to the donor's smaller tables, in turns."""
    n_classes = table.shape[1]
    flat, wanted = table.reshape(-1), smaller.reshape(-1)
    for _ in range(SWEEPS):
        rake(flat, n_classes, 1, rows, sums, UNFILLED)
        rake_parts(flat, cards, n_classes, wanted, starts, sums, 1)


@compiled
def _freedom(cards, kept_of_smaller):
    """Π(c - 1) + Σ_lower (1 - λ_lower) Π_lower(c - 1)"""
    of_members = cards - 1.0
    freedom = of_members.prod()
    for u in range(len(cards)):
        # The smaller subsets are listed by the member that they lack, the last one first.
        lacks = len(cards) - 1 - u
        part = of_members[:lacks].prod() * of_members[lacks + 1 :].prod()
        freedom += (1.0 - kept_of_smaller[u]) * part
    return freedom


@compiled
def _distance(pooled, expected):
    """X² = Σ (ΣC_j - ΣE_j)² / ΣE_j"""
    counted = expected > LEAST_EXPECTED
    return np.where(counted, (pooled - expected) ** 2 / np.where(counted, expected, 1.0), 0.0).sum()


@compiled
def _shares(pooled, kept):
    """λ(x) = n(x) / (n(x) + a), a = n̄ (1 - λ) / λ: cells with many rows are shrunk less."""
    shares = np.zeros(len(pooled))
    if kept > 0.0:
        a = pooled.sum() / len(pooled) * (1.0 - kept) / kept
        for k in range(len(pooled)):
            n = pooled[k].sum()
            if n + a > 0:
                shares[k] = n / (n + a)
    return shares


@compiled
def proxy_strengths(rows, pairs, strengths, first, last):
    """R(q,z) for the features q first to last and every z; -1 where no cohort recorded both."""
    cards, missing = rows.cards, rows.missing
    for q in range(first, last):
        for z in range(len(cards)):
            if z == q or min(cards[q], cards[z]) < 2:
                continue
            total, weight = 0.0, 0.0
            for j in range(len(missing)):
                if not missing[j, q] and not missing[j, z]:
                    table = _pair_table(pairs, j, cards, q, z)
                    total += table.sum() * _explained(table)
                    weight += table.sum()
            if weight > 0:
                strengths[q, z] = total / weight


@compiled
def _explained(table):
    """I(q;z|y) / H(q|y) in a table of (q, z, class)."""
    by_q, by_z = table.sum(axis=1), table.sum(axis=0)
    by_class = by_z.sum(axis=0)
    information, entropy = 0.0, 0.0
    for x in range(table.shape[0]):
        for y in range(table.shape[2]):
            if by_q[x, y] > 0:
                entropy -= by_q[x, y] * np.log(by_q[x, y] / by_class[y])
            for v in range(table.shape[1]):
                n = table[x, v, y]
                if n > 0:
                    information += n * np.log(n * by_class[y] / (by_q[x, y] * by_z[v, y]))
    total = table.sum()
    return information / total / max(entropy / total, 1e-9)


@compiled
def predict_margins(rows, counts, singles, pairs, strengths, margins, first, last):
    """p̂(q|y) of every feature q that the cohorts first to last never recorded, to `margins`."""
    cards, missing = rows.cards, rows.missing
    for i in range(first, last):
        for q in range(len(cards)):
            if not missing[i, q]:
                continue
            total = np.zeros((cards[q], margins.shape[3]))
            for j in range(len(missing)):
                if missing[j, q]:
                    continue
                # R(q,z*) and z* = argmax R(q,z) over the z that both cohorts recorded.
                both = np.where(missing[i] | missing[j], -1.0, strengths[q])
                proxy = np.argmax(both)
                strength = both[proxy]
                if strength > LEAST_STRENGTH:
                    strength = min(strength, MOST_STRENGTH)
                    own = counts[i, singles.starts[proxy] : singles.starts[proxy + 1]]
                    # Σ_z n_i(z|y) [T(q,z,y) + ε T(q|y)] / [T(z,y) + ε]
                    table = _pair_table(pairs, j, cards, q, proxy)
                    by_q, by_z = table.sum(axis=1), table.sum(axis=0)
                    prior = (by_q + 1e-6 / len(table)) / (by_z.sum(axis=0) + 1e-6)
                    shares = own / np.maximum(own.sum(axis=0), 1e-300) / (by_z + PROXY_BACK_OFF)
                    said = np.zeros(by_q.shape)
                    for v in range(len(own)):
                        said += shares[v] * (table[:, v] + PROXY_BACK_OFF * prior)
                else:
                    strength = 0.0
                    alone = singles.tables[j, singles.starts[q] : singles.starts[q + 1]]
                    said = alone / np.maximum(alone.sum(axis=0), 1e-300)  # T_j(q|y)
                total += rows.sizes[j] * (1.0 - strength) ** -2 * said
            # Shares of one for every class, none of them zero.
            whole = total.sum(axis=0)
            there = np.where(whole > 1e-300, 1.0, 0.0)
            share = total / np.maximum(whole, 1e-300) + 1e-6 / cards[q]
            copy_lines(share / (there + 1e-6), margins[i, q])


@compiled
def _pair_table(pairs, cohort, cards, q, z):
    """A donor's table of two features as (q, z, class), whichever of them comes first."""
    a, b = min(q, z), max(q, z)
    start = pairs.starts[b * (b - 1) // 2 + a]
    lines = pairs.tables[cohort, start : start + cards[a] * cards[b]]
    table = lines.copy().reshape((cards[a], cards[b], lines.shape[1]))
    return table if q < z else table.transpose(1, 0, 2).copy()
