"""How much every row of a table counts: weights as they are given, made whole numbers.

Sampling weights say how many of the population a row stands for. They become fixed-point numbers,
`MOST_MASS` in all at most, so that every library and engine sums them to the same bits. Frequencies
say how often a row occurs, and are whole numbers already: such a table is the one in which every
row is written out so often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, Setting, no_such_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


@dataclass(frozen=True)
class WeightRange:
    """What is to be known of a column before its values are taken for weights."""

    missing: int
    least: float
    greatest: float
    whole: bool
    lightest: float = np.inf
    """The least that is greater than 0; infinite where there is none."""


@dataclass(frozen=True)
class Weighing:
    """How rows are weighed."""

    column: str
    frequency: bool
    """Whether they say how often a row occurs."""
    scale: float = 1.0
    """Sampling weights times this, rounded up, are what is summed; a power of 2."""
    square_scale: float = 1.0
    leaves_out: bool = False
    """Whether there are rows of weight 0, which are left out."""


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


def quantiles_of_counts(
    values: NDArray[Any], counts: NDArray[np.int64], shares: Sequence[float | Fraction]
) -> list[Any]:
    """The smallest values with at least given shares of the rows at or below them.

    Values are distinct and ascend; shares go from 0, the smallest value, to 1, the largest.
    """
    ends = np.cumsum(counts)
    ranks = ranks_of(shares, int(ends[-1]))
    found: list[Any] = values[np.searchsorted(ends, ranks, side="left")].tolist()
    return found


def ranks_of(shares: Sequence[float | Fraction], n_rows: int) -> list[int]:
    """The ranks, from 1 on, of the values that `quantiles_of_counts` finds."""
    return [max(1, ceil(Fraction(share) * n_rows)) for share in shares]
