"""What a survey design does to how sure subgroups are: effective sizes, joint design effects.

See docs/how_to/weights.md (how much data there is). The variance of a weighted share p of a
subgroup follows by linearisation: a row i of the subgroup adds z_i = w_i (y_i - p) / W to the
error, W being the weight of the subgroup, all other rows nothing. Clusters are taken as drawn with
replacement within their strata:

    V(p) = Σ over strata h of n_h / (n_h - 1) Σ over its clusters j of (z_hj - mean of z_h)²,

with n_h clusters in the stratum and z_hj the sum of z over a cluster; a row is its own cluster
where none are named. Over p (1 - p) / (n - 1), what n rows of equal weight drawn one by one would
have, this is the design effect of the share. Its mean over the classes of the target, each weighted
by 1 - p, is that of Rao and Scott (1981); n over it is the effective size of the subgroup.

Tests are corrected by what a feature x, centred, has in common with the target, 1 + r (A - 1) with
A = Σ over clusters of (Σ w x)² / Σ w² x². The r of an analysis of variance is right on the mean,
whatever few clusters there are; of several codes or classes, variances are summed, each over its
share as in Pearson's chi-square. A stratum's only cluster is held against the mean over all.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.subgroups import Runs
from misfeat.cohorts.weights import MOST_WORTH, WeightRules, weighed_sizes, weighed_sums
from misfeat.exceptions import MisfeatError, Notes
from misfeat.reading.coders import CodedRows
from misfeat.runtime.array_types import Flags, Floats, Indices, Integers

if TYPE_CHECKING:
    from misfeat.cohorts.cohort_building import CodedColumns, ProfiledTable

MOST_CODES = 40  # Values of a feature are joined to so many where clusters are compared


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows of one kind, drawn together; arrays are of shape (n_kinds,) unless said otherwise."""

    cohort: Indices  # Negative for rows of no subgroup, whose clusters were drawn all the same
    features: Indices  # (n_features, n_kinds): their codes
    target: Indices  # The class; negative where it is missing
    stratum: Indices
    cluster: Indices | None  # Each in its stratum; None: every row was drawn by itself
    masses: Integers
    squares: Floats  # What the rows weigh together, and the sum of the squares of what each weighs
    rows: Integers  # How many weigh anything

    @cached_property
    def clusters(self) -> tuple[Indices, Integers, Indices]:
        """The number of each row's cluster, clusters by stratum, the stratum of each cluster."""
        clusters = np.zeros_like(self.stratum) if self.cluster is None else self.cluster
        pairs, unit = np.unique(np.stack([self.stratum, clusters]), axis=1, return_inverse=True)
        numbers, of_cluster = np.unique(pairs[0], return_inverse=True)
        return unit.reshape(-1), np.bincount(of_cluster, minlength=len(numbers)), of_cluster


def _design_effects(drawn: DrawnRows, cohort: int, n_classes: int) -> tuple[Floats, Floats]:
    """The design effect of every class in a subgroup, NaN where its share is 0 or 1; the shares."""
    own = (drawn.cohort == cohort) & (drawn.target >= 0)
    masses = np.zeros((len(own), n_classes))
    masses[own, drawn.target[own]] = drawn.masses[own]
    total = masses.sum()
    shares: Floats = masses.sum(axis=0) / max(total, 1.0)
    # What every kind of row adds to the error of every share.
    added = (masses - masses.sum(axis=1)[:, None] * shares) / total
    if drawn.cluster is None:
        squared = np.zeros_like(masses)
        squared[own] = (np.eye(n_classes)[drawn.target[own]] - shares) ** 2
        squared *= drawn.squares[:, None] / total**2
        # Every row is a cluster: from the sums of z and of its squares.
        numbers, of_row = np.unique(drawn.stratum, return_inverse=True)
        sums, squares = (np.zeros((len(numbers), n_classes)) for _ in range(2))
        np.add.at(sums, of_row, added)
        np.add.at(squares, of_row, squared)
        n_rows = np.bincount(of_row, weights=drawn.rows)[:, None]
        apart = n_rows / np.maximum(n_rows - 1.0, 1.0)
        within = apart * (squares - sums**2 / np.maximum(n_rows, 1.0))
        alone = (sums - sums.sum(axis=0) / n_rows.sum()) ** 2
        variance = np.where(n_rows > 1, within, alone).sum(axis=0)
    else:
        unit, sizes, of_cluster = drawn.clusters
        totals = np.zeros((len(of_cluster), n_classes))
        np.add.at(totals, unit, added)
        variance = _variance_between(totals, sizes, of_cluster)
    simple = shares * (1.0 - shares) / max(float(drawn.rows[own].sum()) - 1.0, 1.0)
    varies = (shares > 0) & (shares < 1)
    return np.divide(variance, simple, out=np.full(n_classes, np.nan), where=varies), shares


def _variance_between(totals: Floats, sizes: Integers, of_cluster: Indices) -> Floats:
    """The variances of sums over all clusters, of shape (n_clusters, n), within their strata."""
    means = np.zeros((len(sizes), totals.shape[1]))
    np.add.at(means, of_cluster, totals)
    means /= sizes[:, None]
    means[sizes == 1] = totals.mean(axis=0)
    factor = np.where(sizes > 1, sizes / np.maximum(sizes - 1.0, 1.0), 1.0)
    return np.asarray((factor[of_cluster, None] * (totals - means[of_cluster]) ** 2).sum(axis=0))


def _joint_effects(drawn: DrawnRows, cohort: int, n_classes: int) -> Floats:
    """What clusters add to the design effect of every feature, and of one constant in them.

    Of shape (2, n_features + 1): of codes, and of codes as ranks.
    """
    own = (drawn.cohort == cohort) & (drawn.target >= 0) & (drawn.rows > 0)
    clusters, unit = np.unique(drawn.clusters[0][own], return_inverse=True)
    masses, squares = drawn.masses[own], drawn.squares[own]

    def tables(codes: Indices, n_codes: int, weights: Integers) -> Floats:
        found = np.bincount(unit * n_codes + codes, weights, len(clusters) * n_codes)
        return found.astype(np.float64).reshape(-1, n_codes)

    by_class = tables(drawn.target[own], n_classes, drawn.rows[own])
    stratum = drawn.clusters[2][clusters]
    target = [_intraclass_correlation(by_class, each, stratum) for each in _numbers(by_class)]
    together = float((np.bincount(unit, masses) ** 2).sum() / squares.sum())
    alike = np.ones((2, len(drawn.features) + 1))
    for number, values in enumerate(drawn.features[:, own].astype(np.int64)):
        n_codes = min(int(values.max(initial=0)) + 1, MOST_CODES)
        codes = values * n_codes // (values.max(initial=0) + 1)
        by_code = tables(codes, n_codes, masses)
        counted = np.bincount(codes, squares, n_codes)
        for kind, numbers in enumerate(_numbers(by_code)):
            alone = counted @ (numbers**2).sum(axis=1)
            between = ((by_code @ numbers) ** 2).sum() / alone if alone > 0 else 1.0
            alike[kind, number] = (between - 1.0) / max(together - 1.0, 1e-9)
    of_target = np.array([[target[0]], [max(target)]])  # the order of classes may have no meaning
    return np.asarray((together - 1.0) * of_target * np.clip(alike, -1.0, 1.0))


def _numbers(tables: Floats) -> tuple[Floats, Floats]:
    """Codes as indicators over the roots of their shares, and as midranks; both are centred."""
    shares = tables.sum(axis=0) / tables.sum()
    indicators = (np.eye(len(shares)) - shares) / np.sqrt(np.where(shares > 0, shares, 1.0))
    return indicators, (np.cumsum(shares) - (shares + 1.0) / 2.0)[:, None]


def _intraclass_correlation(tables: Floats, numbers: Floats, stratum: Indices) -> float:
    """The estimate of an analysis of variance, for rows that count by cluster and code."""
    strata, place = np.unique(stratum, return_inverse=True)
    if len(strata) == len(tables):  # single clusters: they are held against the mean of all
        strata, place = strata[:1], np.zeros_like(place)
    sizes, sums = tables.sum(axis=1), tables @ numbers
    rows, totals = np.bincount(place, sizes), np.zeros((len(strata), sums.shape[1]))
    np.add.at(totals, place, sums)
    freedom, of_clusters = max(len(tables) - len(strata), 1), (sums**2 / sizes[:, None]).sum()
    between = (of_clusters - (totals**2 / rows[:, None]).sum()) / freedom
    within = (tables.sum(axis=0) @ numbers**2).sum() - of_clusters
    within /= max(rows.sum() - len(tables), 1.0)
    mean_size = (rows.sum() - (np.bincount(place, sizes**2) / rows).sum()) / freedom
    whole = between + (mean_size - 1.0) * within
    return float((between - within) / whole) if whole > 0 else 0.0


def mean_effect(effects: Floats, shares: Floats) -> float:
    """Rao and Scott's mean of the design effects of all classes; NaN where none varies."""
    left = np.where(np.isnan(effects), 0.0, 1.0 - shares)
    return float((left * np.nan_to_num(effects)).sum() / left.sum()) if left.sum() > 0 else np.nan


def effective_sizes(
    profiled: "ProfiledTable", coded: "CodedColumns", rows: CodedRows, runs: Runs, kept: Flags
) -> tuple[Floats | None, Floats | None]:
    """The effective size of every cohort, if weights or a design make one; effects of features."""
    # With a design: rows over their mean design effect, or what weights make of a constant target.
    weighing, sizes, effective = profiled.weighing, runs.sizes, None
    if weighing is not None and not weighing.frequency:
        classes = coded.target.classes_of(rows.codes[-1])
        effective = weighed_sizes(weighed_sums(rows, runs, classes), weighing)
    if coded.drawn is None:
        return effective, None
    drawn = _drawn_rows(profiled, coded, coded.drawn, runs)
    alone = _single_clusters(drawn, len(sizes), profiled.rules.weights, profiled.notes)
    otherwise = sizes.astype(np.float64) if effective is None else effective
    effective, worst = otherwise.copy(), 0.0
    n_classes, joint = len(coded.target.classes), np.zeros((len(sizes), 2, len(drawn.features) + 1))
    for cohort in np.flatnonzero(~alone).tolist():
        if drawn.cluster is not None:
            joint[cohort] = _joint_effects(drawn, cohort, n_classes)
        effect = mean_effect(*_design_effects(drawn, cohort, n_classes))
        if effect > 0:
            effective[cohort] = np.clip(sizes[cohort] / effect, 1.0, MOST_WORTH * sizes[cohort])
            worst = max(worst, effect)
    if worst > 0:
        effective[alone] = np.clip(sizes[alone] / worst, 1.0, otherwise[alone])
    joint[alone] = joint.max(axis=0)
    return effective, joint[..., np.append(kept, True)]


def _drawn_rows(
    profiled: "ProfiledTable", coded: "CodedColumns", rows: CodedRows, runs: Runs
) -> DrawnRows:
    """Coded rows with their strata and clusters, as they were drawn."""
    rules, weighing = profiled.rules.weights, profiled.weighing
    n_groupings = len(profiled.groupings)
    after = len(rows.codes) - 1 - len(rules.design)
    features, (codes, *units) = np.split(rows.codes[n_groupings:], [after - n_groupings])
    squares = rows.weights.astype(np.float64)
    if weighing is not None and rows.squares is not None:
        squares = rows.squares.astype(np.float64) * (weighing.scale**2 / weighing.square_scale)
    return DrawnRows(
        cohort=runs.cohort_of(rows.codes[:n_groupings]),
        features=features,
        target=coded.target.classes_of(codes, missing=-1),
        stratum=np.zeros_like(codes) if rules.strata is None else units[0],
        cluster=None if rules.cluster is None else units[-1],
        masses=rows.counted,
        squares=squares,
        rows=rows.weights,
    )


def _single_clusters(drawn: DrawnRows, n_cohorts: int, rules: WeightRules, notes: Notes) -> Flags:
    """Which subgroups are a single cluster each; what these, and such strata, cost is said."""
    alone = np.zeros(n_cohorts, dtype=bool)
    if drawn.cluster is None:
        stratum = np.unique(drawn.stratum, return_inverse=True)[1]
        units_by_stratum = np.bincount(stratum, weights=drawn.rows)
    else:
        unit, units_by_stratum, _ = drawn.clusters
        counted = (drawn.cohort >= 0) & (drawn.target >= 0)
        pairs = np.unique(np.stack([drawn.cohort[counted], unit[counted]]), axis=1)
        alone = np.bincount(pairs[0], minlength=n_cohorts) == 1
    if alone.all():
        raise MisfeatError(
            f"Every subgroup is a single cluster of {rules.cluster!r}, so that nothing shows how "
            "clusters differ.",
            remedy="Name smaller clusters, larger subgroups, or leave the design out.",
            column=rules.cluster,
        )
    if alone.any():
        notes.warn(
            "{count:,} of {of:,} subgroups are a single cluster of {column!r} each, so that "
            "nothing shows how clusters differ in them; they are taken to be as uncertain as the "
            "worst of the others.",
            count=int(alone.sum()),
            of=len(alone),
            column=rules.cluster,
        )
    lonely = int((units_by_stratum == 1).sum())
    if lonely:
        notes.warn(
            "{count:,} strata{of} have a single cluster, which is held against the mean of all "
            "clusters; intervals are then rather too wide. Join such strata to be exact.",
            count=lonely,
            of="" if rules.strata is None else f" of {rules.strata!r}",
        )
    return alone
