"""ProductSums: sums of products of numeric columns in every cohort, for measures of correlation."""

from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np

from misfeat.cohorts.cohort_building import CohortRules, code_table, lay_out, profile_table
from misfeat.cohorts.cohort_data import Cohorts
from misfeat.cohorts.column_coding import as_it_is
from misfeat.cohorts.column_profiles import Profile
from misfeat.cohorts.subgroups import DROPPED, Runs
from misfeat.cohorts.weights import design_effect, mean_weights
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.reading.coders import Kind
from misfeat.reading.inputs import Table
from misfeat.reading.table_statistics import GroupSums, NumberRows, Variable
from misfeat.runtime.array_types import Flags, Floats, Integers
from misfeat.runtime.progress import Progress, unreported

ROUNDED_OFF = 1e-13  # The share of a sum of squares that rounding may leave where nothing is
PERMUTED = 1031  # Orders of the target that tests compare with, at most
MOST_NUMBERS = 2**23  # Numbers that are held while products of permuted targets are summed
FIFTHS = (0.2, 0.4, 0.6, 0.8)  # Weights may depend on which of five parts a target is in
_R2 = Setting("measure", "r2")


@dataclass(frozen=True, eq=False)
class ProductSums:
    """Sums of products of centred numeric columns in every cohort.

    A missing value counts as the mean of its cohort, so the sums are those of a real table and a
    larger set never explains less.
    """

    names: tuple[str, ...]  # The subgroups
    features: tuple[str, ...]  # The numeric features, in the table's column order
    target: str
    rows: Integers  # (n_cohorts,): rows, or with weights their effective number
    products: Floats  # (n_cohorts, n_features + 1, n_features + 1), the target last
    missing: Flags  # (n_cohorts, n_features): what each never recorded
    # (n_cohorts, 1 + `PERMUTED`, n_features + 1): the target as recorded, then in random orders
    permuted: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))


def cohorts_and_product_sums(
    table: Table,
    target: str,
    rules: CohortRules,
    progress: Progress = unreported,
    seed: int | None = None,
) -> tuple[Cohorts, ProductSums]:
    """Build the cohorts of an open table and sum its products, and close it."""
    with closing(table):
        profiled = profile_table(table, target, rules, progress)
        weighed, profiles, settled = profiled.table, profiled.profiles, profiled.rules
        used = {*settled.group_columns, *settled.weights.roles, profiled.target}
        features = [
            column
            for column, profile in profiles.items()
            if column not in used
            and profile.kind in (Kind.INTEGER, Kind.NUMBER, Kind.FLAG)
            and profile.distinct > 1
            and (column in settled.bins.by_column or not profile.is_identifier)
        ]
        if not features:
            raise MisfeatError(
                f"{_R2} needs numeric features, and the table has none; use "
                f"{Setting('measure', 'mutual_info')}."
            )
        variables = [_variable(weighed, profiles[feature]) for feature in features]
        variables.append(_variable(weighed, profiles[target], is_target=True))
        coded = code_table(profiled, progress, with_grids=False)
        progress("Summing products", 0, 1)
        coders = [group.coder for group in profiled.groupings]
        sums, rows = weighed.sum_products(coders, variables), None
        if weighed.n_rows() * len(variables) <= MOST_NUMBERS:
            rows = weighed.number_rows(coders, variables)
        progress("Summing products", 1, 1)
    cohorts, runs = lay_out(profiled, coded)
    found = _by_cohort(sums, runs, features, cohorts, rules.coding.missing_threshold)
    kept = [*(features.index(name) for name in found.features), len(features)]
    of_rows = None if rows is None else rows._replace(values=rows.values[kept])
    return cohorts, replace(found, permuted=_permuted(found, of_rows, runs, cohorts, seed))


def _permuted(
    sums: ProductSums, rows: NumberRows | None, runs: Runs, cohorts: Cohorts, seed: int | None
) -> Floats:
    """Sums of products with the target in random orders, drawn where there are too many rows."""
    cohort = None if rows is None else runs.cohort_of(rows.codes)
    found = np.zeros((len(cohorts), 1 + PERMUTED, len(sums.features) + 1))
    for number in range(len(cohorts)):
        # A key, so that no table drawn with the same seed has the same stream of random numbers.
        rng = np.random.default_rng(np.random.SeedSequence(seed or 0, spawn_key=(number,)))
        if rows is None:
            n_rows = float(sums.rows[number]) * design_effect(cohorts.at(number))
            found[number] = _drawn_products(sums.products[number], n_rows, rng)
            continue
        own = np.flatnonzero(cohort == number)
        weights = rows.weights[own]
        if cohorts.masses is None:  # frequencies
            own, weights = np.repeat(own, weights.astype(np.int64)), np.ones(int(weights.sum()))
        order = np.lexsort((weights, *rows.values[:, own]))  # the same in every library
        found[number] = _permuted_products(rows.values[:, own[order]], weights[order], rng)
        if cohorts.effective is not None:
            found[number] *= cohorts.effective[number] / weights.sum()
    return found


def _drawn_products(products: Floats, n_rows: float, rng: np.random.Generator) -> Floats:
    """Products with the target in random orders: normal (Hoeffding's central limit theorem)."""
    # They vary around 0, with the covariance of the features times the variance of the target.
    values, vectors = np.linalg.eigh(products[:-1, :-1])
    root = vectors * np.sqrt(np.maximum(values, 0.0) * products[-1, -1] / max(n_rows - 1.0, 1.0))
    found = np.tile(products[-1], (1 + PERMUTED, 1))
    found[1:, :-1] = rng.standard_normal((PERMUTED, len(root))) @ root.T
    return found


def _permuted_products(values: Floats, weights: Floats, rng: np.random.Generator) -> Floats:
    """Products of features with the target, and its squares, as recorded and in random orders."""
    # A weight is the mean weight of rows with a target about as large, which goes with the target,
    # times a rest that stays with the features.
    recorded = weights * ~np.isnan(values)
    sums = np.nansum(recorded * values, axis=1)
    means = np.divide(sums, recorded.sum(axis=1), out=np.zeros_like(sums), where=sums != 0)
    centred = np.nan_to_num(values - means[:, None])
    x, y = centred[:-1], centred[-1]
    found = np.empty((1 + PERMUTED, len(values)))
    if (weights == weights[:1]).all():
        found[:, :-1], found[:, -1] = _shuffled(x, y[None], rng)[..., 0], y @ y
        return found * weights[:1]
    part = np.searchsorted(np.unique(np.quantile(y, FIFTHS)), y)
    moved = mean_weights(part, weights, len(FIFTHS) + 1)[part]
    lines = np.array([np.ones_like(y), *x]) * (weights / moved)
    rows, first, second = np.moveaxis(_shuffled(lines, moved * [y**0, y, y**2], rng), -1, 0)
    found[:, :-1] = first[:, 1:] - rows[:, 1:] * first[:, :1] / rows[:, :1]
    found[:, -1] = second[:, 0] - first[:, 0] ** 2 / rows[:, 0]
    return found


def _shuffled(lines: Floats, moved: Floats, rng: np.random.Generator) -> Floats:
    """Sums of products of lines with others as they are, and `PERMUTED` times in another order."""
    # Of many rows, one order is random, and the others are shifts of it, which are a group as all
    # orders are, so that tests stay exact; sums for all of them come from Fourier transforms.
    n = lines.shape[1]
    found = np.empty((1 + PERMUTED, len(lines), len(moved)))
    found[0] = lines @ moved.T
    if n <= 1 + PERMUTED:
        orders = rng.permuted(np.tile(np.arange(n), (PERMUTED, 1)), axis=1)
        found[1:] = np.moveaxis(moved[:, orders] @ lines.T, 0, -1)
        return found
    order = rng.permutation(n)
    shifts = 1 + rng.choice(n - 1, PERMUTED, replace=False)
    still = np.conj(np.fft.rfft(lines[:, order]))
    for j, line in enumerate(moved):
        turned = np.fft.rfft(line[order])
        for i, other in enumerate(still):
            found[1:, i, j] = np.fft.irfft(other * turned, n)[shifts]
    return found


def _by_cohort(
    sums: GroupSums, runs: Runs, features: list[str], cohorts: Cohorts, threshold: float
) -> ProductSums:
    """Add up the combinations of group codes that make one cohort, and centre the sums."""
    cohort = runs.cohort_of(sums.codes)
    totals = []
    for part in (sums.rows, sums.both, sums.first, sums.product):
        total = np.zeros((len(cohorts), *part.shape[1:]))
        np.add.at(total, cohort[cohort != DROPPED], part[cohort != DROPPED])
        totals.append(total)
    if cohorts.effective is not None:  # weighted sums, as of so many rows of equal weight
        scale = cohorts.effective / totals[0]
        totals = [part * scale.reshape(-1, *[1] * (part.ndim - 1)) for part in totals]
    rows, both, first, product = totals
    recorded = np.einsum("gii->gi", both)
    squares = np.einsum("gii->gi", product)
    too_large = ~np.isfinite(squares).all(axis=0)
    if too_large.any():
        column = [*features, cohorts.target][int(np.argmax(too_large))]
        raise MisfeatError(
            f"Column {column!r} holds values whose squares are too large to sum up; divide them "
            f"by a constant, or use {Setting('measure', 'mutual_info')}.",
            column=column,
        )
    # With m the means and sums over the rows that have both values: sum (x - m_x)(z - m_z) = sum xz
    # - m_x sum z - m_z sum x + n m_x m_z. A column whose squares nearly cancel is constant.
    mean = np.divide(
        np.einsum("gii->gi", first), recorded, out=np.zeros_like(recorded), where=recorded > 0
    )
    shifted: Floats = (
        product
        - mean[:, :, None] * first.transpose(0, 2, 1)
        - mean[:, None, :] * first
        + both * mean[:, :, None] * mean[:, None, :]
    )
    varies = np.einsum("gii->gi", shifted) > ROUNDED_OFF * squares
    centred = np.where(varies[:, :, None] & varies[:, None, :], shifted, 0.0)
    share = (rows[:, None] - recorded[:, :-1]) / rows[:, None]
    missing: Flags = share >= threshold
    kept = np.flatnonzero(~missing.all(axis=0))
    chosen = [*kept, len(features)]
    return ProductSums(
        names=cohorts.names,
        features=tuple(features[feature] for feature in kept),
        target=cohorts.target,
        rows=np.rint(rows).astype(np.int64),
        products=centred[:, chosen][:, :, chosen],
        missing=missing[:, kept],
    )


def _variable(table: Table, profile: Profile, is_target: bool = False) -> Variable:
    has_gaps, centre = profile.missing > 0, 0.0
    if profile.kind in (Kind.INTEGER, Kind.NUMBER):
        # A number in the middle of the column, so that squares about it stay small.
        if profile.counts is None:
            centre = float(table.quantiles(profile.reading, [0.5])[0])
        elif profile.distinct:
            values = profile.counts.values.astype(np.float64)
            if not np.isfinite(values).all():
                raise MisfeatError(
                    f"Column {profile.column!r} holds infinite values, which have no correlation; "
                    "set them to missing, or drop the column.",
                    column=profile.column,
                )
            centre = float(np.average(values, weights=profile.counts.counts))
        return Variable(profile.reading, centre, None, has_gaps)
    if is_target and profile.distinct > 2:
        raise MisfeatError(
            f"{_R2} needs a numeric or binary target; {profile.column!r} holds "
            f"{profile.kind.value} values, {profile.distinct} of them.",
            column=profile.column,
        )
    return Variable(profile.reading, 0.0, as_it_is(profile), has_gaps)
