"""Steps A and B1: what donors' tables say, shrunk, and how unrecorded features are distributed.

Step A. Every donor's table (singles, pairs, triples in turn) is shrunk towards what its smaller
tables lead one to expect. All donors of a subset share one strength of shrinkage: with X² the
chi-square distance of the pooled counts from the pooled expectation it is [1 - dof / X²]₊ (James
and Stein), dof with what the smaller tables shrank away.

Step B1. p̂(q|y) of an unrecorded feature q is a mean over donors. A donor says p(q|y) as in its own
rows, or, better where there is one, through a proxy: a feature z that both cohorts recorded and
that stands in for q. The cohort's own z is then translated, Σ_z n_i(z|y) T_j(q|z,y). The strength
of a proxy is R(q,z) = I(q;z|y) / H(q|y), averaged over the cohorts that recorded both; donors with
a strong proxy weigh more, by (1 - R)^-2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.tables import (
    LANES,
    UNFILLED,
    cohorts_lacking,
    in_lanes,
    rake,
    rake_parts,
    rank_of,
)
from misfeat.runtime.compilation import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_EXPECTED = 1e-2  # cells with less expected rows than this do not enter a chi-square distance
SWEEPS = 4  # sweeps of the iterative proportional fitting that finds expected tables
LEAST_STRENGTH = 0.02  # A weaker proxy is not used
MOST_STRENGTH = 0.95  # the strength that a donor's weight is capped at
PROXY_BACK_OFF = 1.0  # so many rows of p(q|y) are added to every p(q|z,y)


class Smoothed(NamedTuple):
    """Smoothed tables of all subsets of one size."""

    subsets: NDArray[np.int64]  # (n_subsets, size): feature numbers, in the order of ranks
    starts: NDArray[np.int64]  # (n_subsets + 1,): the first line of each subset's tables
    tables: NDArray[np.float64]  # (n_cohorts, n_cells, n_classes): T_j, with the target
    rows: NDArray[np.float64]  # (n_cohorts, n_cells): PX_j, without it
    kept: NDArray[np.float64]  # (n_subsets,): λ, the share kept of the dependence on the target
    kept_rows: NDArray[np.float64]  # (n_subsets,): λ0, and of the features' on each other


class Smaller(NamedTuple):
    """The subsets one smaller than a subset, by the member that they lack, the last one first."""

    # (n_groups, n_smaller, most_cells * n_classes * LANES): T_j of the donors, a donor a lane
    tables: NDArray[np.float64]
    rows: NDArray[np.float64]  # (n_groups, n_smaller, most_cells * LANES): PX_j of the donors
    kept: NDArray[np.float64]  # (n_smaller,): λ
    kept_rows: NDArray[np.float64]  # (n_smaller,): λ0


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
        pair, at = pairs.subsets[s], pairs.starts[s]
        donors = cohorts_lacking(pair, 0, rows.missing)
        if not len(donors):
            continue
        cards = rows.cards[pair]
        n_cells = cards[0] * cards[1]
        own = in_lanes(counts, donors, at, n_cells)
        tables, shrunk_rows = np.empty(own.shape), np.empty((len(own), n_cells, LANES))
        smaller = _smaller(singles, pair, cards, donors)
        kept, kept_rows = _smooth(own, cards, smaller, tables, shrunk_rows)
        pairs.kept[s], pairs.kept_rows[s] = kept, kept_rows
        for d in range(len(donors)):
            group, lane = d // LANES, d % LANES
            for k in range(n_cells):
                pairs.rows[donors[d], at + k] = shrunk_rows[group, k, lane]
                for y in range(own.shape[2]):
                    pairs.tables[donors[d], at + k, y] = tables[group, k, y, lane]


@compiled
def smoothed_triple(rows, triple, donors, pairs, counts):
    """Step A for one triple: its donors' smoothed tables, a donor a lane, from their counts."""
    cards = rows.cards[triple]
    members = np.array([[0, 1], [0, 2], [1, 2]])
    ranks, sizes = np.empty(3, np.int64), np.empty(3, np.int64)
    for u in range(3):
        a, b = members[u]
        ranks[u], sizes[u] = rank_of(triple[members[u]]), cards[a] * cards[b]
    tables = np.empty(counts.shape)
    shrunk_rows = np.empty((len(counts), counts.shape[1], LANES))
    _smooth(counts, cards, _smaller(pairs, ranks, sizes, donors), tables, shrunk_rows)
    return tables


@compiled
def _smaller(smoothed, ranks, sizes, donors):
    """The donors' tables of the subsets of some ranks, which have so many cells."""
    n_groups, n_classes = (len(donors) + LANES - 1) // LANES, smoothed.tables.shape[2]
    tables = np.zeros((n_groups, len(ranks), sizes.max() * n_classes * LANES))
    rows = np.zeros((n_groups, len(ranks), sizes.max() * LANES))
    for u in range(len(ranks)):
        at = smoothed.starts[ranks[u]]
        for d in range(len(donors)):
            group, lane = d // LANES, d % LANES
            for h in range(sizes[u]):
                rows[group, u, h * LANES + lane] = smoothed.rows[donors[d], at + h]
                for y in range(n_classes):
                    place = (h * n_classes + y) * LANES + lane
                    tables[group, u, place] = smoothed.tables[donors[d], at + h, y]
    return Smaller(tables, rows, smoothed.kept[ranks], smoothed.kept_rows[ranks])


@compiled
def _smooth(counts, cards, smaller, tables, rows):
    """The tables of one subset of two or more features, T_j = E'_j (1 - λ(x) + λ(x) C_j / E_j)."""
    n_groups, n_cells, n_classes, _ = counts.shape
    sums = np.empty(n_cells * n_classes * LANES)
    own_rows = np.zeros((n_groups, n_cells, LANES))
    for g in range(n_groups):
        for k in range(n_cells):
            for y in range(n_classes):
                for lane in range(LANES):
                    own_rows[g, k, lane] += counts[g, k, y, lane]
    kept_rows = _smooth_rows(own_rows, cards, smaller, sums, rows)
    expected = np.empty(counts.shape)
    pooled = np.zeros((n_cells, n_classes))
    pooled_expected = np.zeros((n_cells, n_classes))
    for g in range(n_groups):
        _expect(expected[g], own_rows[g], cards, smaller.tables[g], sums)
        _add_lanes(counts[g], pooled)
        _add_lanes(expected[g], pooled_expected)
    filled = (pooled.sum(axis=1) > 0).sum()
    freedom = _freedom(cards, smaller.kept) * (n_classes - 1) * filled / n_cells
    kept = shrinkage(_distance(pooled, pooled_expected), freedom)
    shares = _shares(pooled, kept)
    for g in range(n_groups):
        _expect(tables[g], rows[g], cards, smaller.tables[g], sums)
        _scale_towards(tables[g], counts[g], expected[g], shares)
    return kept, kept_rows


@compiled
def _add_lanes(tables, pooled):
    """Add the tables of all lanes to a pooled one."""
    for k in range(len(tables)):
        for y in range(tables.shape[1]):
            for lane in range(LANES):
                pooled[k, y] += tables[k, y, lane]


@compiled
def _scale_towards(table, counts, expected, shares):
    """E' (1 - λ(x) + λ(x) C / E), E' being what the table holds."""
    for k in range(len(table)):
        share = shares[k]
        for y in range(table.shape[1]):
            for lane in range(LANES):
                e = expected[k, y, lane]
                ratio = counts[k, y, lane] / e if e > 1e-9 else 1.0
                table[k, y, lane] *= 1.0 - share + share * ratio


@compiled
def _smooth_rows(own_rows, cards, smaller, sums, rows):
    """PX_j = PE_j + λ0 (n_j - PE_j), rows of every cell regardless of the target; returns λ0."""
    n_groups, n_cells, _ = own_rows.shape
    pooled = np.zeros((n_cells, 1))
    pooled_expected = np.zeros((n_cells, 1))
    rows[:] = 1.0
    for g in range(n_groups):
        rake_parts(rows[g].reshape(-1), cards, LANES, smaller.rows[g], sums, SWEEPS)
        _add_lanes(own_rows[g].reshape(n_cells, 1, LANES), pooled)
        _add_lanes(rows[g].reshape(n_cells, 1, LANES), pooled_expected)
    freedom = _freedom(cards, smaller.kept_rows)
    kept = shrinkage(_distance(pooled, pooled_expected), freedom)
    flat, own = rows.reshape(-1), own_rows.reshape(-1)
    for k in range(len(flat)):
        flat[k] = kept * own[k] + (1.0 - kept) * flat[k]
    return kept


@compiled
def _expect(values, rows, cards, smaller, sums):
    """E_j: fitted from nothing to the rows of cells and to the donors' smaller tables, in turns."""
    n_classes = values.shape[1]
    flat, wanted = values.reshape(-1), rows.reshape(-1)
    flat[:] = 1.0
    for _ in range(SWEEPS):
        rake(flat, n_classes, LANES, wanted, sums, UNFILLED)
        rake_parts(flat, cards, n_classes * LANES, smaller, sums, 1)


@compiled
def _freedom(cards, kept_of_smaller):
    """Π(c - 1) + Σ_lower (1 - λ_lower) Π_lower(c - 1)"""
    size = len(cards)
    freedom = 1.0
    for a in range(size):
        freedom *= cards[a] - 1.0
    for u in range(size):
        part = 1.0
        for a in range(size):
            # The smaller subsets are listed by the member that they lack, the last one first.
            if a != size - 1 - u:
                part *= cards[a] - 1.0
        freedom += (1.0 - kept_of_smaller[u]) * part
    return freedom


@compiled
def _distance(pooled, expected):
    """X² = Σ (ΣC_j - ΣE_j)² / ΣE_j"""
    total = 0.0
    for k in range(len(pooled)):
        for y in range(pooled.shape[1]):
            if expected[k, y] > LEAST_EXPECTED:
                total += (pooled[k, y] - expected[k, y]) ** 2 / expected[k, y]
    return total


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
def pair_table(tables, starts, cards, q, z, swapped):
    """A donor's table of two features as (q, z, class), whichever of them comes first."""
    a, b = min(q, z), max(q, z)
    at = starts[b * (b - 1) // 2 + a]
    n_classes = tables.shape[1]
    for x in range(cards[q]):
        for v in range(cards[z]):
            cell = x * cards[z] + v if q < z else v * cards[q] + x
            for y in range(n_classes):
                swapped[x, v, y] = tables[at + cell, y]


@compiled
def proxy_strengths(rows, pairs, strengths, first, last):
    """R(q,z) for the features q first to last and every z; -1 where no cohort recorded both."""
    cards, missing = rows.cards, rows.missing
    most = cards.max()
    table = np.empty((most, most, pairs.tables.shape[2]))
    for q in range(first, last):
        for z in range(len(cards)):
            if z == q or min(cards[q], cards[z]) < 2:
                continue
            total, weight = 0.0, 0.0
            for j in range(len(missing)):
                if not missing[j, q] and not missing[j, z]:
                    pair_table(pairs.tables[j], pairs.starts, cards, q, z, table)
                    n_rows, share = _explained(table[: cards[q], : cards[z]])
                    total += n_rows * share
                    weight += n_rows
            if weight > 0:
                strengths[q, z] = total / weight


@compiled
def _explained(table):
    """The rows of a table of (q, z, class), and I(q;z|y) / H(q|y) in it."""
    n_q, n_z, n_classes = table.shape
    total = table.sum()
    information, entropy = 0.0, 0.0
    for y in range(n_classes):
        by_z = np.zeros(n_z)
        for x in range(n_q):
            for v in range(n_z):
                by_z[v] += table[x, v, y]
        of_class = by_z.sum()
        for x in range(n_q):
            of_q = table[x, :, y].sum()
            if of_q > 0:
                entropy -= of_q / total * np.log(of_q / of_class)
            for v in range(n_z):
                n = table[x, v, y]
                if n > 0:
                    information += n / total * np.log(n * of_class / (of_q * by_z[v]))
    return total, information / max(entropy, 1e-9)


@compiled
def predict_margins(rows, counts, singles, pairs, strengths, margins, first, last):
    """p̂(q|y) of every feature q that the cohorts first to last never recorded, to `margins`."""
    cards, missing = rows.cards, rows.missing
    most, n_classes = cards.max(), margins.shape[3]
    table = np.empty((most, most, n_classes))
    said = np.empty((most, n_classes))
    for i in range(first, last):
        for q in range(len(cards)):
            if not missing[i, q]:
                continue
            at = singles.starts[q]
            total = np.zeros((cards[q], n_classes))
            for j in range(len(missing)):
                if missing[j, q]:
                    continue
                strength, proxy = _best_proxy(strengths[q], missing[i], missing[j])
                if strength > LEAST_STRENGTH:
                    strength = min(strength, MOST_STRENGTH)
                    pair_table(pairs.tables[j], pairs.starts, cards, q, proxy, table)
                    start = singles.starts[proxy]
                    own = counts[i, start : start + cards[proxy]]
                    _through_proxy(table[: cards[q], : cards[proxy]], own, said)
                else:
                    strength = 0.0
                    table_q = singles.tables[j, at : at + cards[q]]  # T_j(q|y)
                    said[: cards[q]] = table_q / np.maximum(table_q.sum(axis=0), 1e-300)
                weight = rows.sizes[j] * (1.0 - strength) ** -2
                for x in range(cards[q]):
                    for y in range(n_classes):
                        total[x, y] += weight * said[x, y]
            # Shares of one for every class, none of them zero.
            whole = total.sum(axis=0)
            there = np.where(whole > 1e-300, 1.0, 0.0)
            share = total / np.maximum(whole, 1e-300) + 1e-6 / cards[q]
            margins[i, q, : cards[q]] = share / (there + 1e-6)


@compiled
def _best_proxy(strengths, missing_here, missing_there):
    """R(q,z*) and z* = argmax R(q,z) over the z that both cohorts recorded."""
    best, proxy = -1.0, -1
    for z in range(len(strengths)):
        if not missing_here[z] and not missing_there[z] and strengths[z] > best:
            best, proxy = strengths[z], z
    return best, proxy


@compiled
def _through_proxy(table, own, said):
    """Σ_z n_i(z|y) [T(q,z,y) + ε T(q|y)] / [T(z,y) + ε]"""
    n_q, n_z, n_classes = table.shape
    for y in range(n_classes):
        of_class = 0.0
        for v in range(n_z):
            for x in range(n_q):
                of_class += table[x, v, y]
        said[:n_q, y] = 0.0
        for v in range(n_z):
            of_z = table[:, v, y].sum() + PROXY_BACK_OFF
            share = own[v, y] / max(own[:, y].sum(), 1e-300)
            for x in range(n_q):
                prior = (table[x, :, y].sum() + 1e-6 / n_q) / (of_class + 1e-6)
                said[x, y] += share * (table[x, v, y] + PROXY_BACK_OFF * prior) / of_z
