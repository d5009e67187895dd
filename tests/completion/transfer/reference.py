"""The transfer written once more, with whole arrays and without a thought for speed."""

from functools import cache
from itertools import combinations
from math import prod

import numpy as np
from scipy.stats import poisson


def table_of(codes, target, weights, cards, n_classes, subset):
    table = np.zeros((*cards[list(subset)], n_classes))
    np.add.at(table, (*codes[list(subset)], target), weights)
    return table


def scaled(table, kept_axes, wanted, floor=1e-300):
    """Scale a table so that its sums over all but some axes are as wanted."""
    other = tuple(a for a in range(table.ndim) if a not in kept_axes)
    sums = table.sum(axis=other, keepdims=True)
    wanted = np.asarray(wanted).reshape(sums.shape)
    return table * np.where(sums > floor, wanted / np.where(sums > floor, sums, 1), 0)


class Reference:
    def __init__(self, cohorts, missing, proxies=True):
        self.missing = missing
        self.cards = np.array([len(c) for c in cohorts.categories])
        self.n_classes = len(cohorts.classes)
        self.G, self.n = missing.shape
        self.rows = list(cohorts)
        self.counts, self.margin = cache(self.counts), cache(self.margin)
        self.pair_target = cache(self.pair_target)
        self.proxies = proxies
        self.by_class = np.array(
            [np.bincount(c.target, c.weights, self.n_classes) for c in self.rows]
        )
        self.size = self.by_class.sum(axis=1)
        self.T, self.X, self.kept, self.kept_x = {}, {}, {}, {}
        for m in (1, 2, 3):
            for subset in combinations(range(self.n), m):
                self.smooth(subset)
        self.strength = {
            (q, z): self.proxy_strength(q, z)
            for q in range(self.n)
            for z in range(self.n)
            if q != z
        }

    def counts(self, j, subset):
        c = self.rows[j]
        return table_of(c.codes, c.target, c.weights, self.cards, self.n_classes, subset)

    def donors(self, subset):
        return [j for j in range(self.G) if not self.missing[j, list(subset)].any()]

    def lower(self, subset):
        return list(combinations(subset, len(subset) - 1)) if len(subset) > 1 else []

    @staticmethod
    def strength_of(pooled, expected, freedom):
        use = expected > 1e-2
        distance = ((pooled - expected)[use] ** 2 / expected[use]).sum()
        return 1 - freedom / distance if 0 < freedom < distance else 0.0

    def freedom(self, subset, kept):
        total = prod(self.cards[f] - 1.0 for f in subset)
        return total + sum(
            (1 - kept[u]) * prod(self.cards[f] - 1.0 for f in u) for u in self.lower(subset)
        )

    def expect(self, j, subset, rows):
        """From ones, fitted to the rows and to the smoothed smaller tables."""
        m = len(subset)
        values = np.ones((*self.cards[list(subset)], self.n_classes))
        for _ in range(4):
            values = scaled(values, tuple(range(m)), rows)
            for u in self.lower(subset):
                axes = (*[subset.index(f) for f in u], m)
                values = scaled(values, axes, self.T[j, u])
        return values

    def smooth(self, subset):
        m, donors = len(subset), self.donors(subset)
        if not donors:
            return
        counts = {j: self.counts(j, subset) for j in donors}
        rows = {j: counts[j].sum(axis=m) for j in donors}
        kept_x = 1.0
        if m == 1:
            expected = {
                j: np.outer(rows[j], counts[j].sum(axis=0)) / counts[j].sum() for j in donors
            }
            self.X.update({(j, subset): rows[j] for j in donors})
        else:
            plain = {}
            for j in donors:
                plain[j] = np.ones(self.cards[list(subset)])
                for _ in range(4):
                    for u in self.lower(subset):
                        axes = tuple(subset.index(f) for f in u)
                        plain[j] = scaled(plain[j], axes, self.X[j, u])
            kept_x = self.strength_of(
                sum(rows.values()), sum(plain.values()), self.freedom(subset, self.kept_x)
            )
            for j in donors:
                self.X[j, subset] = kept_x * rows[j] + (1 - kept_x) * plain[j]
            expected = {j: self.expect(j, subset, rows[j]) for j in donors}
        pooled, pooled_expected = sum(counts.values()), sum(expected.values())
        filled = pooled.sum(axis=m) > 0
        if m == 1:
            freedom = (filled.sum() - 1) * (self.n_classes - 1)
        else:
            freedom = self.freedom(subset, self.kept) * (self.n_classes - 1) * filled.mean()
        kept = self.strength_of(pooled, pooled_expected, freedom)
        self.kept[subset], self.kept_x[subset] = kept, kept_x
        n = pooled.sum(axis=m)
        a = n.mean() * (1 - kept) / kept if kept > 0 else np.inf
        share = (n / (n + a))[..., None] if kept > 0 else np.zeros((*n.shape, 1))
        for j in donors:
            if kept_x < 1:
                ratio = np.where(
                    expected[j] > 1e-9, counts[j] / np.maximum(expected[j], 1e-300), 1.0
                )
                refitted = self.expect(j, subset, self.X[j, subset])
                self.T[j, subset] = refitted * (1 - share + share * ratio)
            else:
                self.T[j, subset] = expected[j] + share * (counts[j] - expected[j])

    def ordered(self, j, *features):
        """The smoothed table with its axes in the order of the features."""
        subset = tuple(sorted(features))
        return np.moveaxis(
            self.T[j, subset], [subset.index(f) for f in features], range(len(features))
        )

    def proxy_strength(self, q, z):
        donors = self.donors((q, z))
        if not donors or min(self.cards[q], self.cards[z]) < 2:
            return -1.0
        total = weight = 0.0
        for j in donors:
            p = self.ordered(j, q, z)
            rows = p.sum()
            p = p / rows
            with np.errstate(all="ignore"):
                of_q, of_z, of_y = p.sum(1, keepdims=True), p.sum(0, keepdims=True), p.sum((0, 1))
                information = np.nansum(p * np.log(p * of_y / (of_q * of_z)))
                entropy = -np.nansum(of_q * np.log(of_q / of_y))
            total += rows * information / max(entropy, 1e-9)
            weight += rows
        return total / weight

    def margin(self, i, q):
        total = np.zeros((self.cards[q], self.n_classes))
        for j in self.donors((q,)):
            table = self.T[j, (q,)]
            said, strength = table / np.maximum(table.sum(0), 1e-300), 0.0
            able = [z for z in range(self.n) if z != q and not self.missing[[i, j], z].any()]
            if self.proxies and able:
                z = max(able, key=lambda z: self.strength[q, z])
                if self.strength[q, z] > 0.02:
                    strength = min(self.strength[q, z], 0.95)
                    t = self.ordered(j, q, z)
                    prior = (t.sum(1) + 1e-6 / len(t)) / (t.sum((0, 1)) + 1e-6)
                    conditional = (t + prior[:, None]) / (t.sum(0) + 1)
                    own = self.counts(i, (z,))
                    said = (conditional * own / np.maximum(own.sum(0), 1e-300)).sum(1)
            total += self.size[j] * (1 - strength) ** -2 * said
        total = total / np.maximum(total.sum(0), 1e-300) + 1e-6 / len(total)
        return total / total.sum(0)

    def own_margin(self, i, f):
        if self.missing[i, f]:
            return self.margin(i, f) * self.by_class[i]
        return self.counts(i, (f,))

    def average(self, donors, subset, lacking, prior):
        """The donors' mean of (T + prior) / (T(o) + 1)."""
        axes = tuple(a for a, f in enumerate(subset) if f in lacking)
        weights = self.size[donors] / self.size[donors].sum()
        return sum(
            w * (self.T[j, subset] + prior) / (self.T[j, subset].sum(axis=axes, keepdims=True) + 1)
            for w, j in zip(weights, donors, strict=True)
        )

    def prior(self, i, subset):
        """The product of the margins of what cohort i lacks, of the shape of the whole table."""
        prior = np.ones((*self.cards[list(subset)], self.n_classes))
        for a, f in enumerate(subset):
            if self.missing[i, f]:
                shape = [1] * len(subset) + [self.n_classes]
                shape[a] = -1
                prior = prior * self.margin(i, f).reshape(shape)
        return prior

    def own_rows(self, i, subset):
        """n_i(o,y), spread over the axes that cohort i lacks."""
        recorded = tuple(f for f in subset if not self.missing[i, f])
        table = self.counts(i, recorded) if recorded else self.by_class[i]
        shape = [1 if self.missing[i, f] else self.cards[f] for f in subset]
        return table.reshape(*shape, self.n_classes)

    def pair_target(self, i, pair):
        donors = self.donors(pair)
        lacking = [f for f in pair if self.missing[i, f]]
        if not donors or not lacking:
            return None
        target = self.average(donors, pair, lacking, self.prior(i, pair)) * self.own_rows(i, pair)
        order = (1, 0) if self.missing[i, pair[1]] else (0, 1)
        for _ in range(8):
            for a in order:
                target = scaled(target, (a, 2), self.own_margin(i, pair[a]), floor=1e-14)
        return target

    def shares(self, i, subset):
        lacking = tuple(a for a, f in enumerate(subset) if self.missing[i, f])
        rows = self.own_rows(i, subset)
        shares = self.prior(i, subset)
        if len(subset) == 2:
            target = self.pair_target(i, subset)
            if target is not None:
                total = target.sum(axis=lacking, keepdims=True)
                shares = np.where(total > 0, target / np.where(total > 0, total, 1), 0)
        if len(subset) == 3:
            donors = self.donors(subset)
            if donors:
                shares = self.average(donors, subset, [subset[a] for a in lacking], shares)
            pairs = [p for p in combinations(subset, 2) if self.pair_target(i, p) is not None]
            sweeps = 5 if len(pairs) + (3 - len(lacking) >= 2) > 1 else 1
            for _ in range(sweeps if pairs else 0):
                values = shares * (rows + 1e-9)
                for p in pairs:
                    axes = (subset.index(p[0]), subset.index(p[1]), 3)
                    values = scaled(values, axes, self.pair_target(i, p), floor=1e-14)
                total = values.sum(axis=lacking, keepdims=True)
                shares = np.where(total > 1e-14, values / np.where(total > 1e-14, total, 1), shares)
        return shares, rows

    def score(self, i, subset):
        """Step C, with E[n log n] of Poisson counts summed out instead of tabulated."""
        shares, rows = self.shares(i, subset)
        mean, spread = shares * rows, 1 - shares
        total = self.size[i]
        cell = mean.sum(axis=-1)
        cell_spread = (mean * spread).sum(axis=-1) / np.where(cell > 0, cell, 1)
        by_class = mean.sum(axis=tuple(range(len(subset))))
        phi = np.where(by_class > 0, by_class * np.log(np.where(by_class > 0, by_class, 1)), 0)
        return (
            np.log(total)
            + (mean_phi(mean, spread).sum() - mean_phi(cell, cell_spread).sum() - phi.sum()) / total
        )

    def above_chance(self, i, subset):
        """Step C above chance: the rows of a cell dealt out to the classes at random."""
        shares, rows = self.shares(i, subset)
        mean, variance = shares * rows, shares * (1 - shares) * rows
        cell = mean.sum(axis=-1)
        spread = variance.sum(axis=-1) / np.where(cell > 0, cell, 1)
        part = self.by_class[i] / self.size[i]
        dealt = mean_phi(cell[..., None] * part, part * spread[..., None] + 1 - part)
        return (mean_phi(mean, 1 - shares).sum() - dealt.sum()) / self.size[i]

    def expected(self, i, subset):
        """The expected table, cell by cell."""
        shares, rows = self.shares(i, subset)
        return (shares * rows).reshape(-1, self.n_classes)


def mean_phi(mean, spread):
    known = np.where(mean > 1e-12, mean, 1.0)
    n = np.arange(2, 40 + int(known.max() + 12 * np.sqrt(known.max())))
    certain = known * np.log(known)
    by_poisson = (poisson.pmf(n, known[..., None]) * n * np.log(n)).sum(axis=-1)
    value = np.maximum(certain + spread * (by_poisson - certain), 0)
    return np.where(mean > 1e-12, np.where(spread <= 1e-9, np.maximum(certain, 0), value), 0)
