"""How much every row counts: weights, designs, effective sizes, and rows counted anew.

Sampling weights say how many of the population a row stands for. They become fixed-point numbers,
`MOST_MASS` in all at most, so that every library and engine sums them to the same bits. Frequencies
say how often a row occurs, and are whole numbers already: such a table is the one in which every
row is written out so often.

Rows that were drawn together are more alike than others, and a sample that was drawn stratum by
stratum is more even. The variance of a weighted share p of a subgroup follows by linearisation: a
row i of the subgroup adds z_i = w_i (y_i - p) / W to the error, W being the weight of the subgroup,
all other rows nothing. Clusters are taken as drawn with replacement within their strata:

    V(p) = Σ over strata h of n_h / (n_h - 1) Σ over its clusters j of (z_hj - mean of z_h)²,

with n_h clusters in the stratum and z_hj the sum of z over a cluster; a row is its own cluster
where none are named. Over p (1 - p) / (n - 1), what n rows of equal weight drawn one by one would
have, this is the design effect of the share. Its mean over the classes of the target, each weighted
by 1 - p, is that of Rao and Scott (1981); n over it is the effective size of the subgroup.

What features tell about the target varies by less: where rows of a cluster are alike in the target
alone, their associations are not. Where nothing informs, and rows of a cluster correlate by r in
the target, the design effect of what a feature x, centred, tells about it is

    1 + r (A - 1),   A = Σ over clusters of (Σ w x)² / Σ w² x²,

given the feature; A is 1 where its values have nothing to do with clusters, and about the rows of a
cluster where it is constant in them. Tests are corrected by it. The r of an analysis of variance is
right on the mean, whatever few clusters there are; of several codes or classes, variances are
summed, each over its share as in Pearson's chi-square.

A stratum with a single cluster does not say how clusters differ in it. Its cluster is held against
the mean over all clusters instead of that of the stratum, which overstates the variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, Setting, no_such_column
from misfeat.reading.coders import CodedRows, Kind
from misfeat.reading.table_statistics import Weighing, WeightRange

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.build import CodedColumns, Notes, ProfiledTable
    from misfeat.cohorts.cohort_data import Cohort, Cohorts
    from misfeat.cohorts.subgroups import Runs
    from misfeat.reading.inputs import Table
    from misfeat.runtime.array_types import Flags, Floats, Indices, Integers

SAMPLING, FREQUENCY = "sampling", "frequency"  # How weights are taken
MOST_MASS = 2**52  # The most that weights, and their squares, sum up to: floats hold it exactly
SAME_SIZE = 1e-9  # Effective sizes that are so close to a whole number are this number
LARGEST_SUM = 2.0**40  # What weights sum up to that are no longer those of the table
MOST_WORTH = 100.0  # So many rows of equal weight a row is worth at most
MOST_APART = 1e5  # Weights that differ by a larger factor would leave one row that counts
LEAST_WEIGHT = 1e-140  # The heaviest row weighs at least this, so that squares are numbers

MOST_CODES = 40  # Values of a feature are joined to so many where clusters are compared
NO_DESIGN = 1.0 + 1e-6
"""Effective sizes that differ by no more than this factor are the same, but for rounding."""
CLASSES_DIFFER = 3.0
"""Weights depend on the class where its mean weight is so many standard errors from that of all."""


@dataclass(frozen=True)
class WeightRules:
    """How much rows count, and how they were drawn."""

    column: str | None = None  # The column of the weights; None: all rows weigh the same
    kind: str = SAMPLING  # {"sampling", "frequency"}: how weights are taken
    strata: str | None = None  # The column of the part of the population a row was drawn from
    cluster: str | None = None  # That of the rows that it was drawn together with

    @classmethod
    def parse(cls, column: str | None, kind: str, design: object) -> WeightRules:
        """Read and check the parameters as users write them."""
        if design is None:
            return cls(column, kind)
        setting = Setting("design", design)
        if not isinstance(design, Mapping) or not design or set(design) - {"strata", "cluster"}:
            example = Setting("design", {"strata": "region", "cluster": "school"})
            raise MisfeatError(
                f"{setting}; give the columns of strata and clusters, such as {example}."
            )
        for value in design.values():
            if not isinstance(value, str):
                raise MisfeatError(f"{setting}: {value!r} is not the name of a column.")
        if kind == FREQUENCY:
            raise MisfeatError(
                f"{setting} says how rows were drawn, and frequencies say that rows are written "
                f"down once for several; use {Setting('weights', SAMPLING)}, or leave the design "
                "out."
            )
        return cls(column, kind, **design)

    @property
    def design(self) -> tuple[str, ...]:
        """The columns of strata and clusters that are given."""
        return tuple(column for column in (self.strata, self.cluster) if column is not None)

    @property
    def roles(self) -> dict[str, tuple[str, str]]:
        """Columns that are not features: what they serve as, and in words what they hold."""
        words = "sampling weights" if self.kind == SAMPLING else "frequencies"
        roles = {
            self.column: ("weight", words),
            self.strata: ("design", "strata"),
            self.cluster: ("design", "clusters"),
        }
        return {column: role for column, role in roles.items() if column is not None}

    def check(self, names: Sequence[str], target: str, groups: Sequence[str]) -> None:
        """Refuse columns that the table does not have, or that serve as something else, too."""
        for column in self.roles:
            is_weights = column == self.column
            what = "the weights" if is_weights else "part of the design"
            if column not in names:
                raise no_such_column(column, names, what if is_weights else Setting("design"))
            others = {"the target": [target]}
            if is_weights:
                others |= {"a group": [*groups], "part of the design": [*self.design]}
            for other, columns in others.items():
                if column in columns:
                    problem = f"{column!r} is both {other} and {what}; name two columns."
                    raise MisfeatError(problem, column=column)


def weighing_of(table: Table, column: str, kind: str) -> Weighing | None:
    """Check a column of weights, and say how they are summed; None where all are the same."""
    if table.kind(column) not in (Kind.INTEGER, Kind.NUMBER):
        raise MisfeatError(
            f"The weights {column!r} are {table.kind(column).value} values; pass numbers, one a "
            "row, none negative.",
            column=column,
        )
    n_rows, limits = table.n_rows(), table.weight_range(column)
    problem = _problem(limits, kind, n_rows)
    if problem:
        raise MisfeatError(f"The weights {column!r} {problem}", column=column)
    if kind == FREQUENCY:
        return Weighing(column, frequency=True)
    if limits.least == limits.greatest:
        return None
    return Weighing(
        column,
        frequency=False,
        scale=_scale(n_rows, limits.greatest),
        square_scale=_scale(n_rows, limits.greatest**2),
        leaves_out=limits.least == 0,
    )


def _problem(limits: WeightRange, kind: str, n_rows: int) -> str:
    """What is wrong with weights; empty where nothing is."""
    if limits.missing:
        return f"are missing in {limits.missing:,} rows; leave these out, or give them a weight."
    if limits.least < 0:
        return f"hold {limits.least:g}; no weight may be negative."
    if not np.isfinite(limits.greatest):
        return "hold an infinite value; leave its row out, or correct it."
    if limits.greatest == 0:
        return "are all zero, so that no row counts; pass the weights of the rows."
    if kind == FREQUENCY:
        sampling = Setting("weights", SAMPLING)
        if not limits.whole:
            return f"hold fractions, but frequencies are whole numbers; use {sampling}."
        if limits.greatest * n_rows > MOST_MASS:
            return f"are too large for frequencies, up to {limits.greatest:g}; use {sampling}."
        return ""
    if limits.least == limits.greatest:
        return ""
    if not LEAST_WEIGHT <= limits.greatest <= 1.0 / LEAST_WEIGHT:
        return f"go up to {limits.greatest:g}, whose square no number holds; divide all by it."
    lost = _scale(n_rows, limits.greatest**2) * limits.lightest**2 < 1.0
    if lost or limits.greatest > MOST_APART * limits.lightest:
        return (
            f"go from {limits.lightest:g} to {limits.greatest:g}, too far apart to weigh rows "
            "against each other; check the largest, or cap it."
        )
    return ""


def _scale(n_rows: int, greatest: float) -> float:
    """The power of 2 that makes so many numbers, none greater than this one, large but not too."""
    return float(2.0 ** np.floor(np.log2(MOST_MASS / n_rows / greatest)))


def weighed_sums(rows: CodedRows, runs: Runs, classes: Indices) -> Integers:
    """Of each cohort: its rows, and with weights the sums of these, then of squares, by class."""
    starts, of_class = runs.bounds[:-1], [classes == c for c in range(int(classes.max()) + 1)]
    sums = (
        runs.in_cohorts(np.add.reduceat(np.where(own, held, 0), starts))
        for held in rows.more
        for own in of_class
    )
    return np.array([runs.sizes, *sums])


def weighed_sizes(sums: Integers, weighing: Weighing | None) -> Floats:
    """How many rows of equal weight tell as much about the classes as those summed up."""
    n_rows: Floats = sums[0].astype(np.float64)
    if weighing is None or len(sums) == 1:
        return n_rows
    masses, squares = np.split(sums[1:].astype(np.float64), 2)
    effective = linearised_sizes(masses / weighing.scale, squares / weighing.square_scale)
    # Rounding must not make a difference where all rows of a subgroup weigh the same.
    near = np.rint(effective)
    effective = np.where(np.abs(effective - near) < SAME_SIZE * near, near, effective)
    return np.asarray(np.clip(effective, 1.0, MOST_WORTH * n_rows))


def linearised_sizes(masses: Floats, squares: Floats) -> Floats:
    """Effective sizes from the sums, by class, of weights and of their squares.

    They are what the shares of classes vary as, n_eff = (C - 1) / Σ V(p) / p over the C classes
    that occur: Kish's (Σ w)² / Σ w² where weights do not depend on the class, and more where the
    rarer class was drawn more often. Kish's where there is a single class.
    """
    total, all_squares = masses.sum(axis=0), squares.sum(axis=0)
    shares = masses / total
    added = (1.0 - shares) ** 2 * squares + shares**2 * (all_squares - squares)
    varied = np.divide(added, shares, out=np.zeros_like(added), where=masses > 0).sum(axis=0)
    freedom = (masses > 0).sum(axis=0) - 1
    varies = (freedom > 0) & (varied > 0)
    return np.asarray(total**2 / np.where(varies, varied / np.maximum(freedom, 1), all_squares))


def heaviest_of(weights: Integers, masses: NDArray[Any], squares: NDArray[Any]) -> Floats:
    """What one of several rows weighs, all others being alike, by the sums over all of them."""
    n, mass = weights.astype(np.float64), masses.astype(np.float64)
    unequal = np.maximum(n * squares - mass**2, 0.0)
    return np.where(n > 1, np.minimum((mass + np.sqrt((n - 1.0) * unequal)) / n, mass), mass)


def squares_of(weights: Integers, masses: NDArray[Any], heaviest: Floats) -> Floats:
    """The sums of squares that `heaviest_of` was given."""
    others = masses - heaviest
    return np.asarray(heaviest**2 + others**2 / np.maximum(weights - 1, 1))


def weights_of(cohort: Cohort) -> tuple[Integers, Integers, Floats]:
    """How many rows distinct ones stand for, what these weigh, and the heaviest of them."""
    if cohort.masses is None or cohort.heaviest is None:
        return cohort.weights, cohort.weights, np.ones(len(cohort.weights))
    return cohort.weights, cohort.masses, cohort.heaviest


def design_effect(cohort: Cohort) -> float:
    """How much a design takes off the effective size that weights alone leave."""
    if cohort.effective is None:
        return 1.0
    times, masses, heaviest = weights_of(cohort)
    by_class = [
        np.bincount(cohort.target, part, cohort.n_classes).astype(np.float64)[:, None]
        for part in (masses, squares_of(times, masses, heaviest))
    ]
    alone = float(linearised_sizes(*by_class)[0])
    return alone / cohort.effective if alone > NO_DESIGN * cohort.effective else 1.0


def mean_weights(classes: Indices, weights: NDArray[Any], n_classes: int) -> Floats:
    """What a row of each class weighs on the mean; of all, where classes hardly differ."""
    counts = np.maximum(np.bincount(classes, minlength=n_classes), 1)
    means: Floats = np.bincount(classes, weights=weights, minlength=n_classes) / counts
    within = np.sqrt(np.mean((weights - means[classes]) ** 2))
    whole, occurring = weights.mean(), np.unique(classes)
    apart = np.abs(means - whole)[occurring] * np.sqrt(counts[occurring])
    differ = (apart > np.maximum(CLASSES_DIFFER * within, 1e-9 * whole)).any()
    return means if differ else np.full_like(means, whole)


def masses_of(rows: CodedRows, weighing: Weighing | None) -> tuple[Integers | None, Floats | None]:
    """What rows weigh, and the heaviest of each as `heaviest_of` has it; None without weights."""
    if weighing is None or rows.masses is None or rows.squares is None:
        return None, None
    squares = rows.squares * (weighing.scale**2 / weighing.square_scale)
    # In the largest unit that leaves masses whole: small numbers are counted faster.
    unit = max(int(np.gcd.reduce(rows.masses)), 1)
    return rows.masses // unit, heaviest_of(rows.weights, rows.masses, squares) / unit


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
    def clusters(self) -> tuple[NDArray[np.intp], Integers, NDArray[np.intp]]:
        """The number of each row's cluster, clusters by stratum, the stratum of each cluster."""
        clusters = np.zeros_like(self.stratum) if self.cluster is None else self.cluster
        stacked = np.stack([self.stratum, clusters])
        pairs, unit = np.unique(stacked, axis=1, return_inverse=True)
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
    profiled: ProfiledTable, coded: CodedColumns, rows: CodedRows, runs: Runs
) -> tuple[Floats | None, Floats | None]:
    """The effective size of every cohort, where weights or a design make one; joint effects."""
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
    return effective, joint


def _drawn_rows(
    profiled: ProfiledTable, coded: CodedColumns, rows: CodedRows, runs: Runs
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


LARGEST_TO_DRAW_FROM = 10**9  # Of more rows, each is drawn by itself
NEARLY_NORMAL = 1000.0  # The variance of a count from which on it is drawn as a normal one


def reweighted(cohorts: Cohorts, weights: Integers) -> Cohorts:
    """The same table with other counts; rows that count nothing are gone."""
    # What a row weighs changes with its count: by the mean weight of the rows that it stands for.
    # The effective size of a subgroup stays the same share of its rows.
    kept = weights > 0
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    masses, heaviest, effective = cohorts.masses, cohorts.heaviest, cohorts.effective
    if masses is not None and heaviest is not None:
        squares = squares_of(cohorts.weights, masses, heaviest)[kept]
        shares = masses[kept] * (weights[kept] / cohorts.weights[kept])
        masses = np.maximum(np.rint(shares * (MOST_MASS / shares.sum())), 1.0).astype(np.int64)
        squares *= weights[kept] / cohorts.weights[kept] * (MOST_MASS / shares.sum()) ** 2
        heaviest = heaviest_of(weights[kept], masses, squares)
    if effective is not None:
        starts = cohorts.offsets[:-1]
        rows = [np.add.reduceat(counts, starts) for counts in (weights, cohorts.weights)]
        effective = np.maximum(effective * rows[0] / rows[1], np.minimum(rows[0], 1.0))
    return replace(
        cohorts,
        codes=np.ascontiguousarray(cohorts.codes[:, kept]),
        target_codes=cohorts.target_codes[kept],
        ranks=cohorts.ranks[kept] if len(cohorts.grids) else cohorts.ranks,
        weights=weights[kept],
        offsets=before[cohorts.offsets],
        masses=masses,
        heaviest=heaviest,
        effective=effective,
    )


def times_weights(cohorts: Cohorts, each: Floats, effects: Iterable[float]) -> Cohorts:
    """Cohorts whose rows weigh some times what they did, by design effects of the subgroups."""
    times = cohorts.weights
    masses, heaviest = times.astype(np.float64), np.ones(len(times))
    if cohorts.masses is not None and cohorts.heaviest is not None:
        masses, heaviest = cohorts.masses.astype(np.float64), cohorts.heaviest
    unit = each * (LARGEST_SUM / (masses @ each))
    whole = np.maximum(np.rint(masses * unit), 1.0)
    heaviest = np.clip(heaviest * unit, whole / times, whole)
    sums = np.add.reduceat(
        [whole, squares_of(times, whole, heaviest)], cohorts.offsets[:-1], axis=1
    )
    kish = sums[0] ** 2 / sums[1] / np.fromiter(effects, dtype=np.float64)
    return replace(
        cohorts, masses=whole.astype(np.int64), heaviest=heaviest, effective=np.maximum(kish, 1.0)
    )


def subsample(cohorts: Cohorts, share: float, rng: np.random.Generator) -> Cohorts:
    """A share of the rows of every subgroup, one at least, drawn without putting any back."""
    drawn = [rows_drawn(c.weights, max(1, round(share * c.size)), rng) for c in cohorts]
    return reweighted(cohorts, np.concatenate(drawn))


def rows_drawn(weights: Integers, n_rows: int, rng: np.random.Generator) -> Integers:
    """How many of the rows that each coded row stands for are drawn, none of them twice."""
    total = int(weights.sum())
    if total < LARGEST_TO_DRAW_FROM:
        return rng.multivariate_hypergeometric(weights, n_rows, method="marginals")
    drawn = np.zeros_like(weights)
    for at, own in enumerate(weights.tolist()):
        share, rest = n_rows / max(total, 1), total - own
        found = float(rng.binomial(own, share))
        if own * share * (1.0 - share) > NEARLY_NORMAL:  # a binomial spreads too far
            found = rng.normal(own * share, np.sqrt(own * share * (1.0 - share) * rest / total))
        drawn[at] = min(max(round(found), n_rows - rest, 0), own, n_rows)
        total, n_rows = rest, n_rows - int(drawn[at])
    return drawn
