"""What strata and clusters do to shares: how many rows drawn one by one would tell as much.

Rows that were drawn together are more alike than others, and a sample that was drawn stratum by
stratum is more even. The variance of a weighted share p of a subgroup follows by linearisation: a
row i of the subgroup adds z_i = w_i (y_i - p) / W to the error, W being the weight of the subgroup,
all other rows nothing. Clusters are taken as drawn with replacement within their strata:

    V(p) = Σ over strata h of n_h / (n_h - 1) Σ over its clusters j of (z_hj - mean of z_h)²,

with n_h clusters in the stratum and z_hj the sum of z over a cluster; a row is a cluster of its own
where none are named. Over p (1 - p) / (n - 1), what n rows of equal weight drawn one by one would
have, this is the design effect of the share. Its mean over the classes of the target, each weighted
by 1 - p, is that of Rao and Scott (1981); n over it is the effective size of the subgroup.

A stratum with a single cluster does not say how clusters differ in it. Its cluster is held against
the mean over all clusters instead of that of the stratum, which overstates the variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.assembly import effective_of
from misfeat.cohorts.coding import as_it_is
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.assembly import CodedTable
    from misfeat.cohorts.profiling import ProfiledTable
    from misfeat.cohorts.rules import Notes
    from misfeat.cohorts.subgroups import Runs
    from misfeat.cohorts.weights import WeightRules
    from misfeat.reading.coders import CodedRows, Coder

    Floats = NDArray[np.float64]
    Integers = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows with the same class, drawn together: who they are, and what they weigh.

    All arrays are of shape (n_kinds,).
    """

    cohort: Integers
    """Negative for rows of no subgroup, whose clusters were drawn all the same."""
    target: Integers
    """The class; negative where it is missing."""
    stratum: Integers
    cluster: Integers | None
    """Clusters of different strata are different ones, whatever their numbers. None: every row was
    drawn by itself."""
    masses: NDArray[np.int64]
    squares: Floats
    """What the rows weigh together, and the sum of the squares of what each weighs."""
    rows: NDArray[np.int64]
    """How many weigh anything."""


def design_effects(drawn: DrawnRows, cohort: int, n_classes: int) -> Floats:
    """The design effect of the share of every class in a subgroup; NaN where that is 0 or 1.

    Examples
    --------
    Four clusters of two rows each, alike within: each is worth one row.

    >>> clusters = np.arange(4)
    >>> zeros = np.zeros(4, dtype=np.int64)
    >>> drawn = DrawnRows(zeros, clusters % 2, zeros, clusters, zeros + 2, zeros + 2, zeros + 2)
    >>> design_effects(drawn, 0, 2).round(4)
    array([2.3333, 2.3333])
    """
    own = (drawn.cohort == cohort) & (drawn.target >= 0)
    n_rows = float(drawn.rows[own].sum())
    masses = np.zeros((len(own), n_classes))
    masses[own, drawn.target[own]] = drawn.masses[own]
    total = masses.sum()
    shares: Floats = masses.sum(axis=0) / total
    # What every kind of row adds to the error of every share.
    added = (masses - masses.sum(axis=1)[:, None] * shares) / total
    if drawn.cluster is None:
        squared = np.zeros_like(masses)
        squared[own] = (np.eye(n_classes)[drawn.target[own]] - shares) ** 2
        squared *= drawn.squares[:, None] / total**2
        variance = _between_rows(added, squared, drawn.stratum, drawn.rows)
    else:
        variance = _between_clusters(added, drawn.stratum, drawn.cluster)
    simple = shares * (1.0 - shares) / max(n_rows - 1.0, 1.0)
    varies = (shares > 0) & (shares < 1)
    effects: Floats = np.divide(variance, simple, out=np.full(n_classes, np.nan), where=varies)
    return effects


def mean_effect(effects: Floats, shares: Floats) -> float:
    """Rao and Scott's mean of the design effects of all classes; NaN where none varies."""
    left = np.where(np.isnan(effects), 0.0, 1.0 - shares)
    return float((left * np.nan_to_num(effects)).sum() / left.sum()) if left.sum() > 0 else np.nan


def effective_by_design(
    drawn: DrawnRows, rows: NDArray[np.int64], otherwise: Floats, n_classes: int
) -> Floats:
    """The effective size of every subgroup: its rows over their mean design effect.

    No subgroup is worth more than its rows; one whose target does not vary has the size in
    `otherwise`. Nothing tells how clusters differ in a subgroup that is a single one: it is taken
    to be as bad as the worst of the others.
    """
    found, alone = otherwise.copy(), single_clusters(drawn, len(rows))
    worst = 0.0
    for cohort, n_rows in enumerate(rows):
        if alone[cohort]:
            continue
        own = (drawn.cohort == cohort) & (drawn.target >= 0)
        shares = np.bincount(drawn.target[own], weights=drawn.masses[own], minlength=n_classes)
        effects = design_effects(drawn, cohort, n_classes)
        effect = mean_effect(effects, shares / max(shares.sum(), 1.0))
        if effect > 0:
            found[cohort] = min(max(n_rows / effect, 1.0), float(n_rows))
            worst = max(worst, effect)
    if worst > 0:
        found[alone] = np.clip(rows[alone] / worst, 1.0, otherwise[alone])
    return found


def single_clusters(drawn: DrawnRows, n_cohorts: int) -> NDArray[np.bool_]:
    """Which subgroups are a single cluster each."""
    found = np.zeros(n_cohorts, dtype=bool)
    if drawn.cluster is not None:
        for cohort in range(n_cohorts):
            own = (drawn.cohort == cohort) & (drawn.target >= 0)
            units = np.stack([drawn.stratum[own], drawn.cluster[own]])
            found[cohort] = units.shape[1] > 0 and bool((units == units[:, :1]).all())
    return found


def lonely_strata(drawn: DrawnRows) -> int:
    """How many strata have a single cluster."""
    if drawn.cluster is None:
        place = np.unique(drawn.stratum, return_inverse=True)[1]
        return int((np.bincount(place, weights=drawn.rows) == 1).sum())
    return int((_clusters_a_stratum(drawn.stratum, drawn.cluster)[1] == 1).sum())


def _clusters_a_stratum(
    stratum: Integers, cluster: Integers
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.intp]]:
    """The number of each row's cluster, clusters by stratum, and the stratum of each cluster."""
    pairs, place = np.unique(np.stack([stratum, cluster]), axis=1, return_inverse=True)
    numbers, of_cluster = np.unique(pairs[0], return_inverse=True)
    return place.reshape(-1), np.bincount(of_cluster, minlength=len(numbers)), of_cluster


def _between_clusters(added: Floats, stratum: Integers, cluster: Integers) -> Floats:
    """The variance of sums over clusters, drawn with replacement within strata."""
    place, sizes, of_cluster = _clusters_a_stratum(stratum, cluster)
    totals = np.zeros((len(of_cluster), added.shape[1]))
    np.add.at(totals, place, added)
    means = np.zeros((len(sizes), added.shape[1]))
    np.add.at(means, of_cluster, totals)
    means /= sizes[:, None]
    means[sizes == 1] = totals.mean(axis=0)
    factor = np.where(sizes > 1, sizes / np.maximum(sizes - 1.0, 1.0), 1.0)
    variance: Floats = (factor[of_cluster, None] * (totals - means[of_cluster]) ** 2).sum(axis=0)
    return variance


def _between_rows(added: Floats, squared: Floats, stratum: Integers, rows: Integers) -> Floats:
    """The same where every row is a cluster, from the sums of z and of its squares."""
    numbers, place = np.unique(stratum, return_inverse=True)
    sums, squares = (np.zeros((len(numbers), added.shape[1])) for _ in range(2))
    np.add.at(sums, place, added)
    np.add.at(squares, place, squared)
    sizes = np.bincount(place, weights=rows)[:, None]
    within = sizes / np.maximum(sizes - 1.0, 1.0) * (squares - sums**2 / np.maximum(sizes, 1.0))
    alone = (sums - sums.sum(axis=0) / sizes.sum()) ** 2
    variance: Floats = np.where(sizes > 1, within, alone).sum(axis=0)
    return variance


def design_coders(profiled: ProfiledTable) -> list[Coder]:
    """What codes the strata and the clusters of a design, which must be there in every row."""
    found = []
    for column in (profiled.rules.weights.strata, profiled.rules.weights.cluster):
        if column is None:
            continue
        profile = profiled.profiles[column]
        if profile.missing:
            raise MisfeatError(
                "Column {column!r} of the design is missing in {rows:,} rows; leave these rows "
                "out, or say where they were drawn.",
                column=column,
                rows=profile.missing,
            )
        found.append(as_it_is(profile))
    return found


def effective_of_cohorts(
    profiled: ProfiledTable, coded: CodedTable, rows: CodedRows, runs: Runs, n_cohorts: int
) -> NDArray[np.float64] | None:
    """The effective size of every cohort, where weights or a design make one."""
    weighing, drawn = profiled.weighing, coded.drawn
    sizes = runs.sizes(n_cohorts)
    found = sizes.astype(np.float64)
    if weighing is not None and not weighing.frequency:
        found = effective_of(rows, runs, n_cohorts, weighing)
    elif drawn is None:
        return None
    if drawn is None:
        return found
    n_groupings, n_classes = len(profiled.groupings), len(coded.target.classes)
    codes, *units = drawn.codes[n_groupings:]
    present = codes < len(coded.target.coder.labels)
    rules, squares = profiled.rules.weights, drawn.weights.astype(np.float64)
    if weighing is not None and drawn.squares is not None:
        squares = drawn.squares.astype(np.float64) * (weighing.scale**2 / weighing.square_scale)
    as_drawn = DrawnRows(
        cohort=runs.cohort_of(drawn.codes[:n_groupings]),
        target=np.where(present, coded.target.classes_of(np.where(present, codes, 0)), -1),
        stratum=np.zeros_like(codes) if rules.strata is None else units[0],
        cluster=None if rules.cluster is None else units[-1],
        masses=drawn.weights if drawn.masses is None else drawn.masses,
        squares=squares,
        rows=drawn.weights,
    )
    single = single_clusters(as_drawn, len(sizes))
    if single.any():
        _say_single(int(single.sum()), len(sizes), rules, coded.notes)
    alone = 0 if single.all() else lonely_strata(as_drawn)
    if alone:
        coded.notes.warn(
            "{count:,} strata{of} have a single cluster, which is held against the mean of all "
            "clusters; intervals are then rather too wide. Join such strata to be exact.",
            count=alone,
            of="" if rules.strata is None else f" of {rules.strata!r}",
        )
    return effective_by_design(as_drawn, sizes, found, n_classes)


def _say_single(count: int, of: int, rules: WeightRules, notes: Notes) -> None:
    """Tell of subgroups that are a single cluster; refuse where all of them are."""
    if count == of:
        raise MisfeatError(
            "Every subgroup is a single cluster of {column!r}, so that nothing tells how clusters "
            "differ.",
            remedy="Name smaller clusters, larger subgroups, or leave the design out.",
            column=rules.cluster,
        )
    notes.warn(
        "{count:,} of {of:,} subgroups are a single cluster of {column!r} each, so that nothing "
        "tells how clusters differ in them; they are taken to be as uncertain as the worst of the "
        "others.",
        count=count,
        of=of,
        column=rules.cluster,
    )
