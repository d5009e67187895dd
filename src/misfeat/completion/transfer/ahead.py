"""The largest kernels of the transfer, compiled before there is anything to complete.

A call with nothing to do compiles a kernel, given arrays of the types that a model has. So another
process can make the kernel that a model needs last while the model's first ones are being made.
"""

from __future__ import annotations

import numpy as np

from misfeat.completion.transfer.kernels.expectation import Completed, poisson_table
from misfeat.completion.transfer.kernels.pairs import Margins, complete_pairs
from misfeat.completion.transfer.kernels.sets import Evidence, complete_sets
from misfeat.completion.transfer.kernels.smoothing import Smoothed
from misfeat.completion.transfer.kernels.tables import Rows

NUMBERS = np.empty(0, np.int64)
LISTED = np.empty((0, 0), np.int64)
VALUES, TABLE, TABLES = (np.empty((0,) * n) for n in (1, 2, 3))
YES_OR_NO = np.empty((0, 0), bool)


def compile_sets() -> None:
    """Compile what completes sets of three and more features."""
    completed = _completed()
    evidence = Evidence(
        rows=_rows(),
        pairs=_smoothed(),
        joint=True,
        margins=np.empty((0, 0, 0, 0)),
        kept=(completed, completed, completed),
        members=LISTED,
        poisson=poisson_table(),
    )
    complete_sets(LISTED, evidence, 0, 0, completed)


def compile_pairs() -> None:
    """Compile what completes pairs."""
    margins = Margins(TABLES, NUMBERS, np.empty((0, 0, 0, 0)))
    complete_pairs(_rows(), _smoothed(), margins, poisson_table(), 0, 0, _completed())


def _rows() -> Rows:
    codes = np.empty((0, 0), np.uint16)
    return Rows(codes, NUMBERS, VALUES, NUMBERS, YES_OR_NO, NUMBERS, TABLE, VALUES)


def _smoothed() -> Smoothed:
    return Smoothed(LISTED, NUMBERS, TABLES, TABLE, VALUES, VALUES)


def _completed() -> Completed:
    return Completed(TABLE, TABLE, TABLE, NUMBERS, TABLES, YES_OR_NO)
