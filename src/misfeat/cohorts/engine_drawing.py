"""Coded rows drawn at random inside an engine, as `misfeat.cohorts.drawing` has it."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from misfeat.cohorts.coders import pack_keys
from misfeat.cohorts.drawing import (
    PRIME,
    TURNS,
    Drawing,
    drawn,
    places_of,
    turned,
    with_key,
)
from misfeat.cohorts.expressions import one_where
from misfeat.cohorts.predicates import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.cohorts.coders import CodedRows

PLACE = "place"


def likely_kept(
    counted: nw.LazyFrame[Any], keys: Sequence[str], below: int, drawing: Drawing, count: str
) -> nw.LazyFrame[Any]:
    """Counted rows without most of those that are not kept; `kept_of` has the last word.

    The columns `keys` hold the codes, those of the groupings in the first, of which `below` numbers
    have the same codes of the groupings.
    """
    counted = counted.with_columns((nw.col(keys[0]) * 0).alias(PLACE))
    for key in keys:
        counted = counted.with_columns(with_key(nw.col(PLACE), nw.col(key)).alias(PLACE))
        for turn in TURNS:  # one by one: engines repeat what is written into one expression
            counted = counted.with_columns(turned(nw.col(PLACE), turn).alias(PLACE))
    first = nw.col(keys[0])
    group = first - first % below
    of_group = (
        one_where(group.is_in([one * below for one in among])) * (rate - 1)
        for rate, among in drawing.by_rate().items()
    )
    rate = joined(operator.add, [nw.lit(1), *of_group]).cast(nw.Float64)
    place, rows = nw.col(PLACE).cast(nw.Float64), nw.col(count).cast(nw.Float64)
    return counted.filter(place * rate < rows * float(PRIME)).drop(PLACE)


def kept_of(rows: CodedRows, bases: Sequence[int], n_groups: int, drawing: Drawing) -> CodedRows:
    """The rows that are kept of coded rows, whose first codes are those of the groupings."""
    codes = list(rows.codes)
    groups = np.zeros(len(rows.weights), dtype=np.int64)
    if n_groups:
        (groups,) = pack_keys(codes[:n_groups], bases[:n_groups])
    return drawn(rows, places_of(pack_keys(codes, bases)), drawing.rates(groups))
