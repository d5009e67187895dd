"""Step B1: how an unrecorded feature q is distributed in each class of a cohort, p̂(q|y).

Donors are averaged. A donor says p(q|y) as in its own rows, or, better where there is one, through
a proxy: a feature z that both cohorts recorded and that stands in for q. The cohort's own z is then
translated, Σ_z n_i(z|y) T_j(q|z,y). The strength of a proxy is R(q,z) = I(q;z|y) / H(q|y), averaged
over the cohorts that recorded both; donors with a strong proxy weigh more, by (1 - R)^-2.
"""

from __future__ import annotations

import numpy as np

from misfeat.runtime.compilation import compiled

LEAST_STRENGTH = 0.02
"""A weaker proxy is not used."""
MOST_STRENGTH = 0.95
"""The strength that a donor's weight is capped at."""
BACK_OFF = 1.0
"""So many rows of p(q|y) are added to every p(q|z,y)."""


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
def proxy_strengths(rows, pairs, q, strengths):
    """R(q,z) for one q and every z; -1 where no cohort recorded both."""
    cards, missing = rows.cards, rows.missing
    most = cards.max()
    table = np.empty((most, most, pairs.tables.shape[2]))
    for z in range(len(cards)):
        strengths[z] = -1.0
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
            strengths[z] = total / weight


@compiled
def _explained(table):
    """The rows of a table of (q, z, class), and I(q;z|y) / H(q|y) in it."""
    n_q, n_z, n_classes = table.shape
    total = table.sum()
    information, entropy = 0.0, 0.0
    for y in range(n_classes):
        of_class = 0.0
        by_z = np.zeros(n_z)
        for x in range(n_q):
            for v in range(n_z):
                by_z[v] += table[x, v, y]
        of_class = by_z.sum()
        for x in range(n_q):
            of_q = 0.0
            for v in range(n_z):
                of_q += table[x, v, y]
            if of_q > 0:
                entropy -= of_q / total * np.log(of_q / of_class)
            for v in range(n_z):
                n = table[x, v, y]
                if n > 0:
                    information += n / total * np.log(n * of_class / (of_q * by_z[v]))
    return total, information / max(entropy, 1e-9)


@compiled
def margins_of(i, rows, counts, singles, pairs, strengths, margins):
    """p̂(q|y) of every feature q that cohort i never recorded, as (feature, value, class).

    `counts` are the tables of single features; `strengths` is -1 where there is no proxy.
    """
    cards, missing = rows.cards, rows.missing
    most, n_classes = cards.max(), margins.shape[2]
    table = np.empty((most, most, n_classes))
    said = np.empty((most, n_classes))
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
                _as_recorded(singles.tables[j, at : at + cards[q]], said)
            weight = rows.sizes[j] * (1.0 - strength) ** -2
            for x in range(cards[q]):
                for y in range(n_classes):
                    total[x, y] += weight * said[x, y]
        _normalize(total, margins[q])


@compiled
def _best_proxy(strengths, missing_here, missing_there):
    """R(q,z*) and z* = argmax R(q,z) over the z that both cohorts recorded."""
    best, proxy = -1.0, -1
    for z in range(len(strengths)):
        if not missing_here[z] and not missing_there[z] and strengths[z] > best:
            best, proxy = strengths[z], z
    return best, proxy


@compiled
def _as_recorded(table, said):
    """T_j(q|y)"""
    for y in range(table.shape[1]):
        total = 0.0
        for x in range(len(table)):
            total += table[x, y]
        for x in range(len(table)):
            said[x, y] = table[x, y] / max(total, 1e-300)


@compiled
def _through_proxy(table, own, said):
    """Σ_z n_i(z|y) [T(q,z,y) + ε T(q|y)] / [T(z,y) + ε]"""
    n_q, n_z, n_classes = table.shape
    for y in range(n_classes):
        own_total, of_class = 0.0, 0.0
        for v in range(n_z):
            own_total += own[v, y]
            for x in range(n_q):
                of_class += table[x, v, y]
        for x in range(n_q):
            said[x, y] = 0.0
        for v in range(n_z):
            of_z = 0.0
            for x in range(n_q):
                of_z += table[x, v, y]
            share = own[v, y] / max(own_total, 1e-300)
            for x in range(n_q):
                of_q = 0.0
                for w in range(n_z):
                    of_q += table[x, w, y]
                prior = (of_q + 1e-6 / n_q) / (of_class + 1e-6)
                said[x, y] += share * (table[x, v, y] + BACK_OFF * prior) / (of_z + BACK_OFF)


@compiled
def _normalize(total, margin):
    """Shares of one for every class, none of them zero."""
    n = len(total)
    for y in range(total.shape[1]):
        whole = 0.0
        for x in range(n):
            whole += total[x, y]
        for x in range(n):
            margin[x, y] = (total[x, y] / max(whole, 1e-300) + 1e-6 / n) / (
                (1.0 if whole > 1e-300 else 0.0) + 1e-6
            )
