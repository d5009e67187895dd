"""A column of weights, checked: what it may hold, and how its values are made whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coders import Kind
from misfeat.cohorts.weighing import FREQUENCY, MOST_MASS, SAMPLING, Weighing
from misfeat.exceptions import MisfeatError, Setting, no_such_column

if TYPE_CHECKING:
    from misfeat.cohorts.table import Table
    from misfeat.cohorts.weighing import WeightRange


MOST_APART = 1e5
"""Weights that differ by more than this factor would leave one row a subgroup that counts."""
LEAST_WEIGHT = 1e-140
"""The heaviest row weighs at least this, so that squares of weights are numbers."""


def weighing_of(table: Table, column: str, kind: str) -> Weighing | None:
    """Check a column of weights, and say how they are summed; None where all are the same."""
    if column not in table.names:
        raise no_such_column(column, table.names, "the weights")
    if table.kind(column) not in (Kind.INTEGER, Kind.NUMBER):
        raise MisfeatError(
            "The weights {column!r} are {kind} values; pass numbers, one a row, none negative.",
            column=column,
            kind=table.kind(column).value,
        )
    found = table.weight_range(column)
    _check_range(found, column)
    n_rows = table.n_rows()
    if kind == FREQUENCY:
        _check_frequencies(found, column, n_rows)
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
            "Weights of {greatest:g} cannot be summed up; divide all weights by a constant.",
            greatest=greatest,
        )
    return float(2.0 ** np.floor(np.log2(most)))


def _check_range(found: WeightRange, column: str) -> None:
    if found.missing:
        raise MisfeatError(
            "The weights {column!r} are missing in {rows:,} rows; leave these rows out, or give "
            "them a weight.",
            column=column,
            rows=found.missing,
        )
    if found.least < 0:
        raise MisfeatError(
            "The weights {column!r} hold {value:g}; no weight may be negative.",
            remedy="Check where it comes from.",
            column=column,
            value=found.least,
        )
    if not np.isfinite(found.greatest):
        raise MisfeatError(
            "The weights {column!r} hold an infinite value; leave its row out, or correct it.",
            column=column,
        )
    if found.greatest == 0:
        raise MisfeatError(
            "All weights {column!r} are zero, so that no row counts; pass the weights of the rows.",
            column=column,
        )


def _check_frequencies(found: WeightRange, column: str, n_rows: int) -> None:
    if not found.whole:
        raise MisfeatError(
            "{setting} takes whole numbers, how often each row occurs, and {column!r} holds "
            "fractions; use {other}.",
            setting=Setting("weights", FREQUENCY),
            column=column,
            other=Setting("weights", SAMPLING),
        )
    if found.greatest * n_rows > MOST_MASS:
        raise MisfeatError(
            "The weights {column!r} are too large for frequencies, up to {value:g}; use {other}.",
            column=column,
            value=found.greatest,
            other=Setting("weights", SAMPLING),
        )
