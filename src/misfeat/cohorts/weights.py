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

A stratum with a single cluster does not say how clusters differ in it. Its cluster is held against
the mean over all clusters instead of that of the stratum, which overstates the variance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.exceptions import MisfeatError, Setting, no_such_column
from misfeat.reading.coders import Kind
from misfeat.reading.table_answers import Weighing, WeightRange

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.build import CodedColumns, ProfiledTable
    from misfeat.cohorts.model import Cohorts
    from misfeat.cohorts.subgroups import Runs
    from misfeat.reading.coders import CodedRows
    from misfeat.reading.inputs import Table

    Counts = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.integer]


SAMPLING, FREQUENCY = "sampling", "frequency"  # How weights are taken
MOST_MASS = 2**52
"""What all weights, and all their squares, sum up to at most: floats hold all whole numbers so far.
"""
SAME_SIZE = 1e-9
"""Effective sizes that differ from a whole number by less than this share of it are this number."""
MOST_APART = 1e5
"""Weights that differ by more than this factor would leave one row a subgroup that counts."""
LEAST_WEIGHT = 1e-140
"""The heaviest row weighs at least this, so that squares of weights are numbers."""


@dataclass(frozen=True)
class WeightRules:
    """How much rows count, and how they were drawn."""

    column: str | None = None  # The column of the weights; None: all rows weigh the same
    kind: str = SAMPLING  # {"sampling", "frequency"}: how weights are taken
    strata: str | None = None
    cluster: str | None = None
    """The columns that say from which part of the population a row was drawn, and with which others
    together."""
    design: tuple[str, ...] = ()  # Those of these two that are given
    roles: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Columns that are not features: what they serve as, and in words what they hold."""

    @classmethod
    def parse(cls, column: str | None, kind: str, design: object) -> WeightRules:
        """Read and check the parameters as users write them."""
        words = "sampling weights" if kind == SAMPLING else "frequencies"
        roles = {column: ("weight", words)} if column is not None else {}
        if design is None:
            return cls(column, kind, roles=roles)
        setting = Setting("design", design)
        if not isinstance(design, Mapping) or not design or set(design) - {"strata", "cluster"}:
            raise MisfeatError(
                "{setting}; give the columns of strata and clusters, such as {example}.",
                setting=setting,
                example=Setting("design", {"strata": "region", "cluster": "school"}),
            )
        for value in design.values():
            if not isinstance(value, str):
                problem = "{setting}: {value!r} is no name of a column."
                raise MisfeatError(problem, setting=setting, value=value)
        if kind == FREQUENCY:
            raise MisfeatError(
                "{setting} says how rows were drawn, and frequencies say that rows are written "
                "down once for several; use {weights}, or leave the design out.",
                setting=setting,
                weights=Setting("weights", SAMPLING),
            )
        given = {part: design[part] for part in ("strata", "cluster") if part in design}
        words_of = {"strata": "strata", "cluster": "clusters"}
        roles |= {name: ("design", words_of[part]) for part, name in given.items()}
        return cls(column, kind, **given, design=tuple(given.values()), roles=roles)

    def check(self, names: Sequence[str], target: str, groups: Sequence[str]) -> None:
        """Refuse columns that the table does not have, or that serve as something else, too."""
        for column in self.roles:
            is_design = column in self.design
            if column not in names:
                where = Setting("design") if is_design else "the weights"
                raise no_such_column(column, names, where)
            if column == target:
                what = "the weights" if column == self.column else "part of the design"
                problem = "{column!r} is both the target and {what}; name two columns."
                raise MisfeatError(problem, column=column, what=what)
            if column == self.column and column in groups:
                raise MisfeatError(
                    "{column!r} is both a group and the weights.",
                    remedy="Take it out of {groups}.",
                    column=column,
                    groups=Setting("groups"),
                )
        if self.column in self.design:
            problem = "{column!r} is both the weights and part of the design; name two columns."
            raise MisfeatError(problem, column=self.column)


def weighing_of(table: Table, column: str, kind: str) -> Weighing | None:
    """Check a column of weights, and say how they are summed; None where all are the same."""
    if table.kind(column) not in (Kind.INTEGER, Kind.NUMBER):
        raise MisfeatError(
            "The weights {column!r} are {kind} values; pass numbers, one a row, none negative.",
            column=column,
            kind=table.kind(column).value,
        )
    n_rows, found = table.n_rows(), table.weight_range(column)
    _check_range(found, column, kind, n_rows)
    if kind == FREQUENCY:
        return Weighing(column, frequency=True)
    if found.least == found.greatest:
        return None
    if not LEAST_WEIGHT <= found.greatest <= 1.0 / LEAST_WEIGHT:
        raise MisfeatError(
            "The weights {column!r} go up to {greatest:g}, whose square no number holds; divide "
            "all of them by it.",
            column=column,
            greatest=found.greatest,
        )
    square_scale = _scale(n_rows, found.greatest * found.greatest)
    lost = square_scale * found.lightest**2 < 1.0
    if lost or found.greatest > MOST_APART * found.lightest:
        raise MisfeatError(
            "The weights {column!r} go from {lightest:g} to {greatest:g}, too far apart to weigh "
            "rows against each other; check the largest, or cap it.",
            column=column,
            lightest=found.lightest,
            greatest=found.greatest,
        )
    return Weighing(
        column,
        frequency=False,
        scale=_scale(n_rows, found.greatest),
        square_scale=square_scale,
        leaves_out=found.least == 0,
    )


def _scale(n_rows: int, greatest: float) -> float:
    """The power of 2 that makes so many numbers, none greater than this one, large but not too."""
    most = MOST_MASS / n_rows / greatest
    if not np.isfinite(most) or most == 0.0:
        raise MisfeatError(
            f"Weights of {greatest:g} cannot be summed up; divide all weights by a constant."
        )
    return float(2.0 ** np.floor(np.log2(most)))


def _check_range(found: WeightRange, column: str, kind: str, n_rows: int) -> None:
    about: dict[str, Any] = {"column": column}
    if found.missing:
        problem = "are missing in {rows:,} rows; leave these rows out, or give them a weight."
        about["rows"] = found.missing
    elif found.least < 0:
        problem = "hold {value:g}; no weight may be negative."
        about |= {"value": found.least, "remedy": "Check where it comes from."}
    elif not np.isfinite(found.greatest):
        problem = "hold an infinite value; leave its row out, or correct it."
    elif found.greatest == 0:
        raise MisfeatError(
            "All weights {column!r} are zero, so that no row counts; pass the weights of the rows.",
            column=column,
        )
    elif kind == FREQUENCY and not found.whole:
        raise MisfeatError(
            "{setting} takes whole numbers, how often each row occurs, and {column!r} holds "
            "fractions; use {other}.",
            setting=Setting("weights", FREQUENCY),
            column=column,
            other=Setting("weights", SAMPLING),
        )
    elif kind == FREQUENCY and found.greatest * n_rows > MOST_MASS:
        problem = "are too large for frequencies, up to {value:g}; use {other}."
        about |= {"value": found.greatest, "other": Setting("weights", SAMPLING)}
    else:
        return
    raise MisfeatError(f"The weights {{column!r}} {problem}", **about)


def weighed_sizes(rows: CodedRows, runs: Runs, n_cohorts: int, weighing: Weighing) -> Floats:
    """The effective sizes of cohorts whose rows have sampling weights."""
    sizes = runs.sizes(n_cohorts)
    if not rows.more:
        return sizes.astype(np.float64)
    mass, square = (
        runs.in_cohorts(np.add.reduceat(sums, runs.bounds[:-1]), n_cohorts) for sums in rows.more
    )
    return effective_sizes(sizes, mass, square, weighing)


def effective_sizes(rows: Counts, masses: Counts, squares: Counts, weighing: Weighing) -> Floats:
    """Kish: how many rows of equal weight tell as much; sums are in units of the weighing."""
    total = masses / weighing.scale
    found = total**2 / (squares / weighing.square_scale)
    # Rounding must not make a difference where all rows of a subgroup weigh the same.
    near = np.rint(found)
    found = np.where(np.abs(found - near) < SAME_SIZE * near, near, found)
    return np.clip(found, 1.0, rows)


def heaviest_of(weights: Counts, masses: NDArray[Any], squares: NDArray[Any]) -> Floats:
    """What one of several rows weighs, all others being alike, by the sums over all of them."""
    n, mass = weights.astype(np.float64), masses.astype(np.float64)
    unequal = np.maximum(n * squares - mass**2, 0.0)
    return np.where(n > 1, np.minimum((mass + np.sqrt((n - 1.0) * unequal)) / n, mass), mass)


def squares_of(weights: Counts, masses: NDArray[Any], heaviest: Floats) -> Floats:
    """The sums of squares that `heaviest_of` was given."""
    others = masses - heaviest
    squares: NDArray[np.float64] = heaviest**2 + others**2 / np.maximum(weights - 1, 1)
    return squares


class DrawnRows(NamedTuple):
    """Rows with the same class, drawn together; all arrays are of shape (n_kinds,)."""

    cohort: Integers  # Negative for rows of no subgroup, whose clusters were drawn all the same
    target: Integers  # The class; negative where it is missing
    stratum: Integers
    cluster: Integers | None
    """Clusters of different strata are different ones, whatever their numbers. None: every row was
    drawn by itself."""
    masses: NDArray[np.int64]
    squares: Floats  # What the rows weigh together, and the sum of the squares of what each weighs
    rows: NDArray[np.int64]  # How many weigh anything


def design_effects(drawn: DrawnRows, cohort: int, n_classes: int) -> Floats:
    """The design effect of the share of every class in a subgroup; NaN where that is 0 or 1."""
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
    drawn: DrawnRows, rows: Counts, otherwise: Floats, n_classes: int
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


def effective_of_cohorts(
    profiled: ProfiledTable, coded: CodedColumns, rows: CodedRows, runs: Runs, n_cohorts: int
) -> Floats | None:
    """The effective size of every cohort, where weights or a design make one."""
    weighing, drawn, notes = profiled.weighing, coded.drawn, profiled.notes
    sizes = runs.sizes(n_cohorts)
    found = sizes.astype(np.float64)
    if weighing is not None and not weighing.frequency:
        found = weighed_sizes(rows, runs, n_cohorts, weighing)
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
    if single.all():
        raise MisfeatError(
            "Every subgroup is a single cluster of {column!r}, so that nothing tells how clusters "
            "differ.",
            remedy="Name smaller clusters, larger subgroups, or leave the design out.",
            column=rules.cluster,
        )
    if single.any():
        notes.warn(
            "{count:,} of {of:,} subgroups are a single cluster of {column!r} each, so that "
            "nothing tells how clusters differ in them; they are taken to be as uncertain as the "
            "worst of the others.",
            count=int(single.sum()),
            of=len(sizes),
            column=rules.cluster,
        )
    alone = lonely_strata(as_drawn)
    if alone:
        notes.warn(
            "{count:,} strata{of} have a single cluster, which is held against the mean of all "
            "clusters; intervals are then rather too wide. Join such strata to be exact.",
            count=alone,
            of="" if rules.strata is None else f" of {rules.strata!r}",
        )
    return effective_by_design(as_drawn, sizes, found, n_classes)


LARGEST_TO_DRAW_FROM = 10**9
"""NumPy draws an exact number of rows from fewer; of more, every row is drawn by itself."""


def reweighted(cohorts: Cohorts, weights: NDArray[np.int64]) -> Cohorts:
    """The same table with other counts; rows that count nothing are gone.

    What a row weighs changes with its count: by the mean weight of the rows that it stands for. The
    effective size of a subgroup stays the same share of its rows.
    """
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
        ranks=cohorts.ranks[kept] if cohorts.is_number else cohorts.ranks,
        weights=weights[kept],
        offsets=before[cohorts.offsets],
        masses=masses,
        heaviest=heaviest,
        effective=effective,
    )


def subsample(cohorts: Cohorts, share: float, rng: np.random.Generator) -> Cohorts:
    """A share of the rows of every subgroup, one at least, drawn without putting any back."""
    drawn = [
        rows_drawn(cohort.weights, max(1, round(share * cohort.size)), rng) for cohort in cohorts
    ]
    return reweighted(cohorts, np.concatenate(drawn))


def rows_drawn(weights: Counts, n_rows: int, rng: np.random.Generator) -> Counts:
    """How many of the rows that each coded row stands for are drawn, none of them twice."""
    total = int(weights.sum())
    if total < LARGEST_TO_DRAW_FROM:
        return rng.multivariate_hypergeometric(weights, n_rows, method="marginals")
    return rng.binomial(weights, n_rows / total)
