"""Columns that know the target already: copies of it, and those recorded only once it was known.

A share of what there is to tell depends on how common the classes are: a copy of the target in
which 2 % of the rows are wrong tells 86 % of a target with two equal classes, and 69 % of one with
2 % of cases. So both are looked at: the rows as they are, and every class given the same weight,
in which a copy with so many errors tells the same however rare a class is.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.answers.caution import MOST_NAMED, OVERTURNS, Caution
from misfeat.cohorts.model import NOT_RECORDED
from misfeat.exceptions import Setting, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from misfeat.cohorts import Cohorts

    Floats = NDArray[np.float64]

LEAK = "leak"
DETERMINES = 0.75
"""A column that tells this share of the target by itself nearly determines it. A copy with 2 % of
errors tells 86 %, a test that is right 95 times in 100 on both sides 71 %; the strongest feature of
ten real tables 65 %."""
SURELY = 0.5
"""And at least this share two standard deviations below the estimate."""
DEVIATIONS = 2.0
"""A share is sure to so many standard deviations below its estimate."""
HALF_A_ROW = 0.5
"""Jeffreys' prior: so much is added to every value of every class."""
IN_ORDER = 0.95
"""The share of the rows of every class that lie where they would if classes were in order."""
LEAST_ROWS = 20
"""Fewer rows of a class lie in one bin easily by chance."""


def leaks(cohorts: Cohorts) -> Iterator[Caution]:
    """Features that nearly determine the target alone, where they are recorded."""
    binned = {audit.column for audit in cohorts.columns if audit.edges}
    for feature, name in enumerate(cohorts.features):
        recorded, n_values = ~is_gap(cohorts, feature), len(cohorts.categories[feature])
        tables = rows_by_class(cohorts, cohorts.codes[feature], recorded, n_values)
        explained, where = explained_in(
            tables, lambda one: one.share >= DETERMINES and one.sure >= SURELY
        )
        if explained is None and name in binned:
            # What bins tell that would determine the target, did they not cut through its classes.
            # Half of the rows as they are: all cases of a rare disease may be old, and age is no
            # leak.
            table = tables.sum(axis=0)
            of_rows = share_of_target(table, by_class=False)
            if of_rows.share >= SURELY and orders_classes(table):
                explained, where = of_rows, None
        if explained is None:
            continue
        yield leak_caution(
            LEAK,
            "Feature {column!r} tells {share:.0f} % of the target {target!r} by itself in {where}: "
            "it may be a copy of the target, or made from it.",
            "Unless it is known before the target is, leave it out: {exclude}.",
            cohorts,
            feature,
            explained,
            where,
        )


def leak_caution(
    kind: str,
    sentence: str,
    remedy: str,
    cohorts: Cohorts,
    feature: int,
    explained: TargetShare,
    where: NDArray[np.intp] | None,
) -> Caution:
    """What is said of one feature that tells too much."""
    name = cohorts.features[feature]
    indices = np.flatnonzero(~cohorts.missing[:, feature]) if where is None else where
    subgroups = tuple(cohorts.names[index] for index in indices)
    together = where is None and len(subgroups) > 1
    return Caution.of(
        kind,
        sentence,
        remedy,
        columns=(name,),
        subgroups=subgroups,
        severity=OVERTURNS,
        column=name,
        share=100 * explained.share,
        target=cohorts.target,
        where="all subgroups together" if together else listed(subgroups, MOST_NAMED),
        exclude=Setting("exclude", [name]),
    )


def explained_in(
    tables: Floats, is_much: Callable[[TargetShare], bool]
) -> tuple[TargetShare | None, NDArray[np.intp] | None]:
    """What is explained, and in which subgroups; None for all of them together."""
    together = share_of_target(tables.sum(axis=0))
    if is_much(together):
        return together, None
    own = [share_of_target(table) for table in tables]
    where = np.flatnonzero([is_much(one) for one in own])
    return max((own[index] for index in where), key=lambda one: one.sure, default=None), where


def is_gap(cohorts: Cohorts, feature: int) -> NDArray[np.bool_]:
    """Which rows hold no value of a feature."""
    codes, gaps = cohorts.codes[feature], cohorts.gap_codes[feature]
    absent: NDArray[np.bool_] = codes == NOT_RECORDED
    return absent | np.isin(codes, gaps) if gaps else absent


def rows_by_class(
    cohorts: Cohorts, codes: NDArray[Any], kept: NDArray[np.bool_], n_values: int
) -> Floats:
    """Rows of those that are kept, by subgroup, code and class."""
    n_classes = len(cohorts.classes)
    found = np.empty((len(cohorts), n_values, n_classes))
    for place, (start, stop) in enumerate(pairwise(cohorts.offsets.tolist())):
        own = kept[start:stop]
        cells = codes[start:stop][own].astype(np.int64) * n_classes
        cells += cohorts.target_codes[start:stop][own]
        weights = cohorts.weights[start:stop][own]
        counted = np.bincount(cells, weights=weights, minlength=n_values * n_classes)
        found[place] = counted.reshape(n_values, n_classes)
    return found


class TargetShare(NamedTuple):
    """What a column tells of all there is to tell about the target: estimated, and for sure."""

    share: float
    sure: float


def share_of_target(counts: ArrayLike, *, by_class: bool = True) -> TargetShare:
    """The share of the target that a column tells, by the weighting by which more is sure."""
    table = np.asarray(counts, dtype=np.float64)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return TargetShare(0.0, 0.0)
    rows = table.sum(axis=0)
    as_they_are = _weighted_share(table, rows / rows.sum())
    if not by_class:
        return as_they_are
    equal = _weighted_share(table, np.full(len(rows), 1 / len(rows)))
    return max(as_they_are, equal, key=lambda one: (one.sure, one.share))


def _weighted_share(table: Floats, weights: Floats) -> TargetShare:
    """The share and its lower end, the classes taken to be as common as the weights say.

    With p(x | y) from the counts and m(x) their mean over classes, the information is the mean of
    log p(x | y) / m(x), and the variance of that logarithm over the rows of each class gives the
    standard error (the delta method).
    """
    smoothed = table + HALF_A_ROW
    rows = smoothed.sum(axis=0)
    given = smoothed / rows
    logs = np.log(given / (given @ weights)[:, None])
    by_class = (given * logs).sum(axis=0)
    spread = np.maximum((given * logs**2).sum(axis=0) - by_class**2, 0.0)
    error = float(np.sqrt((weights**2 * spread / rows).sum()))
    whole = float(-(weights * np.log(weights)).sum())
    mean = float(weights @ by_class)
    return TargetShare(max(mean, 0.0) / whole, max(mean - DEVIATIONS * error, 0.0) / whole)


def orders_classes(counts: ArrayLike) -> bool:
    """Whether bins are filled class by class; counts have a line a bin, in their order.

    A number that lies lower in every row of one class than in any row of the next determines the
    target, and yet its bins do not where they cut through a class. Then every bin is filled in the
    order of the classes: the table of bins and classes is that of rows dealt out in order, which
    its margins alone give (the north-west corner rule).
    """
    table = np.asarray(counts, dtype=np.float64)
    table = table[:, table.sum(axis=0) > 0]
    by_class = table.sum(axis=0)
    if len(by_class) < 2 or by_class.min() < LEAST_ROWS:
        return False
    table = table[:, np.argsort(np.arange(len(table)) @ table / by_class)]
    bins = np.concatenate([[0.0], np.cumsum(table.sum(axis=1))])
    classes = np.concatenate([[0.0], np.cumsum(table.sum(axis=0))])
    upper = np.minimum(bins[1:, None], classes[None, 1:])
    lower = np.maximum(bins[:-1, None], classes[None, :-1])
    in_order = np.maximum(upper - lower, 0.0)  # the table of the same margins, filled in order
    agreeing = np.minimum(table, in_order).sum(axis=0)
    return bool((agreeing >= IN_ORDER * table.sum(axis=0)).all())
