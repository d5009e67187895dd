"""How much every row counts: weights as whole numbers, effective sizes, and rows counted anew.

Sampling weights say how many of the population a row stands for. They become fixed-point numbers,
`MOST_MASS` in all at most, so that every library and engine sums them to the same bits. Frequencies
say how often a row occurs, and are whole numbers already: such a table is the one in which every
row is written out so often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, Setting, no_such_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.reading.table import Weighing


SAMPLING, FREQUENCY = "sampling", "frequency"
"""How weights are taken."""
MOST_MASS = 2**52
"""What all weights, and all their squares, sum up to at most: floats hold all whole numbers so far.
"""
SAME_SIZE = 1e-9
"""Effective sizes that differ from a whole number by less than this share of it are this number."""


@dataclass(frozen=True)
class WeightRules:
    """How much rows count, and how they were drawn."""

    column: str | None = None
    """The column of the weights; None: all rows weigh the same."""
    kind: str = SAMPLING
    """{"sampling", "frequency"}: how weights are taken."""
    strata: str | None = None
    cluster: str | None = None
    """The columns that say from which part of the population a row was drawn, and with which others
    together."""

    @classmethod
    def parse(cls, column: str | None, kind: str, design: object) -> WeightRules:
        """Read and check the parameters as users write them."""
        if design is None:
            return cls(column, kind)
        if not isinstance(design, Mapping) or not design or set(design) - {"strata", "cluster"}:
            raise MisfeatError(
                "{setting}; give the columns of strata and clusters, such as {example}.",
                setting=Setting("design", design),
                example=Setting("design", {"strata": "region", "cluster": "school"}),
            )
        for value in design.values():
            if not isinstance(value, str):
                raise MisfeatError(
                    "{setting}: {value!r} is no name of a column.",
                    setting=Setting("design", design),
                    value=value,
                )
        if kind == FREQUENCY:
            raise MisfeatError(
                "{setting} says how rows were drawn, and frequencies say that rows are written "
                "down once for several; use {weights}, or leave the design out.",
                setting=Setting("design", design),
                weights=Setting("weights", SAMPLING),
            )
        return cls(column, kind, design.get("strata"), design.get("cluster"))

    @property
    def roles(self) -> dict[str, tuple[str, str]]:
        """Columns that are no features: what they serve as, and in words what they hold."""
        words = "sampling weights" if self.kind == SAMPLING else "frequencies"
        found = {self.column: ("weight", words)} if self.column is not None else {}
        for column, what in ((self.strata, "strata"), (self.cluster, "clusters")):
            if column is not None:
                found[column] = ("design", what)
        return found

    def check(self, names: Sequence[str], target: str | None, groups: Sequence[str]) -> None:
        """Refuse columns that the table does not have, or that serve as something else, too."""
        where = {self.strata: Setting("design"), self.cluster: Setting("design")}
        for column in self.roles:
            if column not in names:
                raise no_such_column(column, names, where.get(column, "the weights"))
            what = "the weights" if column == self.column else "part of the design"
            if column == target:
                raise MisfeatError(
                    "{column!r} is both the target and {what}; name two columns.",
                    column=column,
                    what=what,
                )
            if column == self.column and column in groups:
                raise MisfeatError(
                    "{column!r} is both a group and the weights.",
                    remedy="Take it out of {groups}.",
                    column=column,
                    groups=Setting("groups"),
                )
        if self.column is not None and self.column in (self.strata, self.cluster):
            raise MisfeatError(
                "{column!r} is both the weights and part of the design; name two columns.",
                column=self.column,
            )


def effective_sizes(
    rows: NDArray[np.int64],
    masses: NDArray[np.int64],
    squares: NDArray[np.int64],
    weighing: Weighing,
) -> NDArray[np.float64]:
    """How many rows of equal weight tell as much as these (Kish), subgroup by subgroup.

    `masses` and `squares` are sums of weights and of their squares, in the units of the weighing.

    Examples
    --------
    >>> from misfeat.reading.table import Weighing
    >>> weighing = Weighing("w", frequency=False)
    >>> effective_sizes(np.array([3]), np.array([4]), np.array([6]), weighing).round(4)
    array([2.6667])
    """
    total = masses / weighing.scale
    found = total**2 / (squares / weighing.square_scale)
    # Rounding must not make a difference where all rows of a subgroup weigh the same.
    near = np.rint(found)
    found = np.where(np.abs(found - near) < SAME_SIZE * near, near, found)
    return np.clip(found, 1.0, rows)


def heaviest_of(
    weights: NDArray[np.int64], masses: NDArray[Any], squares: NDArray[Any]
) -> NDArray[np.float64]:
    """What one of several rows weighs, all others being alike, by the sums over all of them.

    `weights` is how many rows there are; `masses` and `squares` are sums of what they weigh, and of
    the squares of it.

    Examples
    --------
    >>> heaviest_of(np.array([1, 2, 3]), np.array([4.0, 4.0, 5.0]), np.array([16.0, 10.0, 9.0]))
    array([4.        , 3.        , 2.33333333])
    """
    n, mass = weights.astype(np.float64), masses.astype(np.float64)
    unequal = np.maximum(n * squares - mass**2, 0.0)
    found: NDArray[np.float64] = (mass + np.sqrt((n - 1.0) * unequal)) / n
    return np.where(n > 1, np.minimum(found, mass), mass)


def squares_of(
    weights: NDArray[np.int64], masses: NDArray[Any], heaviest: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sums of squares that `heaviest_of` was given."""
    others = masses - heaviest
    found: NDArray[np.float64] = heaviest**2 + others**2 / np.maximum(weights - 1, 1)
    return found


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


def drawn_anew(cohorts: Cohorts, share: float, rng: np.random.Generator) -> Cohorts:
    """A share of the rows of every subgroup, at random and without putting any back.

    Whatever a subgroup never recorded stays so. A row is left at least.
    """
    drawn = [
        rows_drawn(cohort.weights, max(1, round(share * cohort.size)), rng) for cohort in cohorts
    ]
    return reweighted(cohorts, np.concatenate(drawn))


def rows_drawn(
    weights: NDArray[np.int64], n_rows: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """How many of the rows that each coded row stands for are drawn, none of them twice."""
    total = int(weights.sum())
    if total < LARGEST_TO_DRAW_FROM:
        return rng.multivariate_hypergeometric(weights, n_rows, method="marginals")
    return rng.binomial(weights, n_rows / total)
