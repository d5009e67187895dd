"""The values of one column inside an engine, for `misfeat.cohorts.narrowing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from misfeat.cohorts.narrowing import N_PARTS, Counted, Part
from misfeat.cohorts.predicates import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Collect = Callable[[nw.LazyFrame[Any]], nw.DataFrame[Any]]

VALUE, TIMES = "value", "times"
_BUCKET, _LOW, _HIGH, _ROWS = "bucket", "low", "high", "n_rows"


class EngineColumn:
    """A numeric column of a table in an engine, rows without a value left out.

    Rows have a column `VALUE`, and `TIMES` where they occur more than once. What was counted is
    remembered, so that further ranks take fewer passes.
    """

    def __init__(self, rows: nw.LazyFrame[Any], collect: Collect) -> None:
        self._rows = rows
        self._collect = collect
        repeats = TIMES in rows.collect_schema().names()
        self._count = nw.col(TIMES).sum() if repeats else nw.len()
        self._whole: Part | None = None
        self._parts: dict[Part, Counted] = {}

    def whole(self) -> Part | None:
        """All values; None where there is none."""
        if self._whole is None:
            self._whole = self._counted_whole()
        return self._whole

    def _counted_whole(self) -> Part | None:
        value = nw.col(VALUE)
        found = self._collect(
            self._rows.select(
                value.min().alias(_LOW), value.max().alias(_HIGH), self._count.alias(_ROWS)
            )
        )
        rows = found[_ROWS][0]
        if not rows:
            return None
        low, high = (found[name].to_numpy()[0].item() for name in (_LOW, _HIGH))
        return Part(low, high, 0, int(rows))

    def parts(self, part: Part) -> Counted:
        """Rows in each of `N_PARTS` equal parts of a part, empty ones left out."""
        if part not in self._parts:
            self._parts[part] = self._counted_parts(part)
        return self._parts[part]

    def _counted_parts(self, part: Part) -> Counted:
        value = nw.col(VALUE)
        low, high = part.bounds
        place = value.cast(nw.Float64)
        inside = ((place - low) * part.scale).floor()
        bucket = (
            nw.when(place > high)
            .then(nw.lit(float(N_PARTS + 1)))
            .otherwise(nw.when(place < low).then(nw.lit(-1.0)).otherwise(inside))
            .cast(nw.Int64)  # PostgreSQL makes decimals of what is rounded down
        )
        chosen = self._rows.filter((value >= part.low) & (value <= part.high))
        return self._counted(chosen.with_columns(bucket.alias(_BUCKET)), _BUCKET)

    def values(self, parts: Sequence[Part]) -> Counted:
        """Rows of every value in some parts."""
        value = nw.col(VALUE)
        within = [(value >= part.low) & (value <= part.high) for part in parts]
        chosen = self._rows.filter(joined(lambda one, other: one | other, within))
        return self._counted(chosen.with_columns(value.alias(_BUCKET)), _BUCKET)

    def _counted(self, rows: nw.LazyFrame[Any], key: str) -> Counted:
        """Rows by a key, with the smallest and the largest value of each."""
        value = nw.col(VALUE)
        found = self._collect(
            rows.group_by(key).agg(
                value.min().alias(_LOW), value.max().alias(_HIGH), self._count.alias(_ROWS)
            )
        )
        low, high, count = (found[name].to_numpy() for name in (_LOW, _HIGH, _ROWS))
        return Counted.of(low, high, count.astype(np.int64))
