"""How much every row counts: weights, and the sizes that they leave.

Sampling weights say how many of the population a row stands for. They become fixed-point numbers,
`MOST_MASS` in all at most, so that every library and engine sums them to the same bits. Frequencies
say how often a row occurs, and are whole numbers already: such a table is the one in which every
row is written out so often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.exceptions import MisfeatError, no_such_column
from misfeat.messages import Setting
from misfeat.reading.coders import CodedRows, Kind
from misfeat.reading.inputs import Table
from misfeat.reading.table_statistics import Weighing, WeightRange
from misfeat.reading.values import read_number
from misfeat.runtime.array_types import Array, Floats, Indices, Integers

if TYPE_CHECKING:
    from misfeat.cohorts.cohort_data import Cohort, Cohorts
    from misfeat.cohorts.subgroups import Runs

SAMPLING, FREQUENCY = "sampling", "frequency"  # How weights are taken
MOST_MASS = 2**52  # The most that weights, and their squares, sum up to: floats hold it exactly
SAME_SIZE = 1e-9  # Effective sizes that are so close to a whole number are this number
MOST_WORTH = 100.0  # So many rows of equal weight a row is worth at most
MOST_APART = 1e5  # Weights that differ by a larger factor would leave one row that counts
LEAST_WEIGHT = 1e-140  # The heaviest row weighs at least this, so that squares are numbers
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
    def parse(cls, column: str | None, kind: str, design: object) -> "WeightRules":
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
    held = table.kind(column)
    if held not in (Kind.INTEGER, Kind.NUMBER):
        counts = table.value_counts(column, table.n_rows()) if held is Kind.TEXT else None
        texts = (text for text in counts.values if read_number(text) is None) if counts else ()
        such = next((f", such as {text!r}" for text in texts), "")
        raise MisfeatError(
            f"The weights {column!r} are {held.value} values{such}; pass numbers, "
            "one a row, none negative.",
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


def weighed_sums(rows: CodedRows, runs: "Runs", classes: Indices) -> Integers:
    """Of each cohort: its rows, and with weights the sums of these, then of squares, by class."""
    starts, of_class = runs.bounds[:-1], [classes == c for c in range(int(classes.max()) + 1)]
    sums = (
        runs.in_cohorts(np.add.reduceat(np.where(own, held, 0), starts))
        for held in rows.more
        for own in of_class
    )
    return np.array([runs.sizes, *sums])


def weighed_sizes(sums: Integers, weighing: Weighing | None) -> Floats:
    """How many rows of equal weight inform as much about the classes as those summed up."""
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


def heaviest_of(weights: Integers, masses: Array, squares: Array) -> Floats:
    """What one of several rows weighs, all others being alike, by the sums over all of them."""
    n, mass = weights.astype(np.float64), masses.astype(np.float64)
    unequal = np.maximum(n * squares - mass**2, 0.0)
    return np.where(n > 1, np.minimum((mass + np.sqrt((n - 1.0) * unequal)) / n, mass), mass)


def squares_of(weights: Integers, masses: Array, heaviest: Floats) -> Floats:
    """The sums of squares that `heaviest_of` was given."""
    others = masses - heaviest
    return np.asarray(heaviest**2 + others**2 / np.maximum(weights - 1, 1))


def weights_of(cohort: "Cohort | Cohorts") -> tuple[Integers, Integers, Floats]:
    """How many rows distinct ones stand for, what these weigh, and the heaviest of them."""
    if cohort.masses is None or cohort.heaviest is None:
        return cohort.weights, cohort.weights, np.ones(len(cohort.weights))
    return cohort.weights, cohort.masses, cohort.heaviest


def design_effect(cohort: "Cohort") -> float:
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


def mean_weights(classes: Indices, weights: Array, n_classes: int) -> Floats:
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
