"""Tables made of NumPy arrays: the same answers as a dataframe engine, without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.coding import (
    CodedRows,
    EdgeCoder,
    Kind,
    PredicateCoder,
    collapse,
    radices,
)
from misfeat.cohorts.table import ValueCounts, tally
from misfeat.cohorts.values import Value, canonical
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.coding import Coder, Reading

    Mask = NDArray[np.bool_]

_NUMBERS = (Kind.INTEGER, Kind.NUMBER)


def as_columns(X: object) -> dict[str, NDArray[Any]]:
    """Name the columns of an array ``x0``, ``x1``, …; keep a mapping's names.

    Examples
    --------
    >>> sorted(as_columns(np.eye(2)))
    ['x0', 'x1']
    """
    if isinstance(X, Mapping):
        for name in X:
            if not isinstance(name, str):
                raise MisfeatError(f"Column names must be text; {name!r} is not. Rename it.")
        return {name: np.asarray(column) for name, column in X.items()}
    array = np.asarray(X)
    if array.ndim != 2:
        raise MisfeatError(
            f"X has {array.ndim} dimension(s); a table needs two. Reshape it with "
            "X.reshape(-1, 1) if it is a single feature."
        )
    return {f"x{i}": array[:, i] for i in range(array.shape[1])}


class ArrayTable:
    """A table held as one NumPy array a column.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of equal length.
    """

    frame_backend = None

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self._columns = {name: _Column.of(values, name) for name, values in columns.items()}
        lengths = {name: len(column.values) for name, column in self._columns.items()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
            raise MisfeatError(f"The columns differ in length: {listed}. Pass equal lengths.")

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self._columns)

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        return self._columns[column].kind

    def n_rows(self) -> int:
        """How many rows there are."""
        return max((len(column.values) for column in self._columns.values()), default=0)

    def value_counts(self, column: str, limit: int) -> ValueCounts | None:
        """The distinct values and their counts, or None where there are more than `limit`."""
        held = self._columns[column]
        values, counts = np.unique(held.values[~held.missing], return_counts=True)
        if len(counts) > limit:
            return None
        spelled = values if held.distinct is None else held.distinct[values]
        counted = tally(spelled, counts.astype(np.int64), held.kind)
        return ValueCounts(counted.values, counted.counts, int(held.missing.sum()))

    def count_missing(self, reading: Reading) -> int:
        """How many rows are missing."""
        return int(self._columns[reading.column].read(reading).missing.sum())

    def quantiles(self, reading: Reading, probabilities: Sequence[float]) -> list[float]:
        """Quantiles of a numeric column, missing rows left out."""
        held = self._columns[reading.column].read(reading)
        found: list[float] = np.quantile(held.values[~held.missing], probabilities).tolist()
        return found

    def count_codes(self, coders: Sequence[Coder]) -> CodedRows:
        """Code every row and collapse equal ones."""
        weights = np.ones(self.n_rows(), dtype=np.int64)
        return collapse([self._codes(coder) for coder in coders], weights, radices(coders))

    def close(self) -> None:
        """Nothing was opened."""

    def _codes(self, coder: Coder) -> NDArray[np.int64]:
        codes = np.full(self.n_rows(), len(coder.labels), dtype=np.int64)
        if isinstance(coder, PredicateCoder):
            read = {r.column: self._columns[r.column].read(r) for r in coder.readings}
            present = ~np.any([column.missing for column in read.values()], axis=0)
            codes[present] = coder.predicate.evaluate(lambda name: read[name].spelled(present))
            return codes
        held = self._columns[coder.reading.column].read(coder.reading)
        values = held.values[~held.missing]
        if isinstance(coder, EdgeCoder):
            # How many edges lie strictly below each value.
            edges = np.asarray(coder.edges, dtype=None if coder.edges else values.dtype)
            codes[~held.missing] = np.searchsorted(edges, values, side="left")
        elif held.distinct is not None:
            other = len(coder.labels) - 1
            position = {(type(v), v): code for code, v in enumerate(coder.values)}
            code_of = [position.get((type(v), v), other) for v in held.distinct]
            codes[~held.missing] = np.array(code_of, dtype=np.int64)[values]
        return codes


@dataclass(frozen=True)
class _Column:
    """One column in a form that is quick to code.

    Attributes
    ----------
    kind : Kind
        What it holds.
    values : ndarray
        Numbers or ``datetime64[us]``; for text and flags the position in `distinct`.
    missing : ndarray of bool
        Which rows are missing; what `values` holds there means nothing.
    distinct : ndarray of object or None
        The distinct canonical values of text and flags.
    """

    kind: Kind
    values: NDArray[Any]
    missing: Mask
    distinct: NDArray[np.object_] | None = None

    @classmethod
    def of(cls, values: NDArray[Any], name: str) -> _Column:
        if values.ndim != 1:
            raise MisfeatError(
                f"Column {name!r} has {values.ndim} dimensions; pass one value a row."
            )
        match values.dtype.kind:
            case "i":
                return cls(Kind.INTEGER, values, np.zeros(len(values), dtype=bool))
            case "u" if values.dtype.itemsize < 8:
                return cls.of(values.astype(np.int64), name)
            case "u" | "f":
                numbers = values.astype(np.float64)
                return cls(Kind.NUMBER, numbers, np.isnan(numbers))
            case "M":
                times = values.astype("datetime64[us]")
                return cls(Kind.TIME, times, np.isnat(times))
            case "b" | "U" | "T" | "O":
                return cls._of_objects(values.astype(object))
        raise MisfeatError(
            f"Column {name!r} has dtype {values.dtype}, which cannot be scored; convert it to "
            "numbers or text, or leave it out."
        )

    @classmethod
    def _of_objects(cls, values: NDArray[np.object_]) -> _Column:
        """Sort out a column of Python objects: numbers, times, flags, or else text."""
        seen: dict[tuple[type, Value], int] = {}
        positions = np.empty(len(values), dtype=np.int64)
        for row, raw in enumerate(values):
            value = canonical(raw)
            positions[row] = (
                -1 if value is None else seen.setdefault((type(value), value), len(seen))
            )
        missing = positions < 0
        distinct = np.empty(len(seen), dtype=object)
        distinct[:] = [value for _, value in seen]
        types = {kind for kind, _ in seen}
        if types and types <= {int, float}:
            numbers = np.append(distinct.astype(np.float64), np.nan)[positions]
            return cls(Kind.NUMBER, numbers, missing)
        if types and all(not issubclass(t, bool | int | float | str) for t in types):
            times = np.append(distinct.astype("datetime64[us]"), np.datetime64("NaT"))[positions]
            return cls(Kind.TIME, times, missing)
        return cls(Kind.FLAG if types == {bool} else Kind.TEXT, positions, missing, distinct)

    def read(self, reading: Reading) -> _Column:
        """Apply the user's missing codes, and read text as numbers where asked to."""
        if self.kind in _NUMBERS:
            return _Column(
                self.kind, self.values, self.missing | np.isin(self.values, reading.missing_numbers)
            )
        if self.kind is not Kind.TEXT or self.distinct is None:
            return self
        is_code = np.append(np.isin(self.distinct.astype(str), reading.missing_texts), True)
        missing = is_code[self.values]
        if not reading.as_number:
            return _Column(self.kind, self.values, missing, self.distinct)
        numbers = np.full(len(is_code), np.nan)
        numbers[~is_code] = self.distinct[~is_code[:-1]].astype(np.float64)
        return _Column(Kind.NUMBER, numbers[self.values], missing)

    def spelled(self, rows: Mask) -> NDArray[Any]:
        """The values themselves, for some rows."""
        return self.values[rows] if self.distinct is None else self.distinct[self.values[rows]]
