"""Tables made of NumPy arrays: the same answers as a dataframe engine, without one.

Text and flags are held by their positions among distinct values. Columns of Python objects are
sorted out once: numbers, dates, flags, text, or nothing usable.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.reading.coders import (
    CodedRows,
    Coder,
    EdgeCoder,
    Kind,
    PredicateCoder,
    Reading,
    code_dtype,
    collapse,
    pack_keys,
    radices,
    replaced,
    unpack_keys,
)
from misfeat.reading.table import (
    NO_COLUMNS,
    GroupSums,
    ValueCounts,
    Variable,
    Weighing,
    WeightRange,
    group_sums,
    not_scored,
    quantiles_of_counts,
    sums_wanted,
    tally,
    wrong_shape,
)
from misfeat.reading.values import EXACT_INTEGERS, Value, canonical, check_text, check_values, label

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


FEW_EDGES = 16
"""Comparing all values with one edge after the other is faster than looking each of them up."""
_CONTAINERS = (list, dict, set, np.ndarray)


@dataclass(frozen=True)
class Held:
    """One column in a form that is quick to code."""

    kind: Kind
    values: NDArray[Any]
    """Numbers or ``datetime64[us]``; for text and flags the position in `distinct`."""
    missing: Mask
    """Which rows are missing; what `values` holds there means nothing."""
    distinct: NDArray[np.object_] | None = None
    """The distinct canonical values of text and flags."""

    @classmethod
    def of(cls, values: NDArray[Any], name: str) -> Held:
        """The column of a table that an array is."""
        if values.ndim != 1:
            raise MisfeatError(
                "Column {column!r} has {n} dimensions; pass one value per row.",
                column=name,
                n=values.ndim,
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
            case "b":
                return cls.of_positions(Kind.FLAG, values.astype(np.int64), [False, True])
            case "U" | "T" | "O" | "S":
                return cls._of_objects(values.tolist(), name)
        return cls.unsupported(len(values))

    @classmethod
    def _of_objects(cls, values: list[Any], name: str) -> Held:
        if {*map(type, values)} in ({str}, {str, type(None)}):
            check_values(dict.fromkeys(values), name)
            return cls._of_distinct(Kind.TEXT, values)
        kind, settled = settle_objects(values, name)
        if kind is Kind.UNSUPPORTED:
            return cls.unsupported(len(values))
        if kind is Kind.INTEGER:
            missing = np.array([value is None for value in settled], dtype=bool)
            return cls(kind, np.where(missing, 0, settled).astype(np.int64), missing)
        if kind is Kind.NUMBER:
            return cls(kind, settled, np.isnan(settled))
        if kind is Kind.TIME:
            return cls(kind, settled, np.isnat(settled))
        return cls._of_distinct(kind, settled)

    @classmethod
    def _of_distinct(cls, kind: Kind, values: Iterable[Value]) -> Held:
        """Texts or flags, None where there is none, by their positions among the distinct ones."""
        listed = list(values)
        seen = dict.fromkeys(listed)
        seen.pop(None, None)
        position = {value: number for number, value in enumerate(seen)} | {None: -1}
        positions = np.fromiter(map(position.__getitem__, listed), np.int64, len(listed))
        return cls.of_positions(kind, positions, list(seen))

    @classmethod
    def of_positions(
        cls, kind: Kind, positions: NDArray[np.int64], distinct: Sequence[Value]
    ) -> Held:
        """Texts or flags by their positions among distinct ones, -1 where there is none."""
        known = np.empty(len(distinct), dtype=object)
        known[:] = distinct
        return cls(kind, positions, positions < 0, known)

    @classmethod
    def unsupported(cls, n_rows: int) -> Held:
        """A column of which nothing can be made."""
        return cls(Kind.UNSUPPORTED, np.zeros(n_rows), np.ones(n_rows, dtype=bool))

    def read(self, reading: Reading) -> Held:
        """Leave out what means missing, and read text as numbers where asked to."""
        if self.distinct is None and not reading.missing:
            return self
        if self.distinct is None:
            codes = np.array(reading.missing, dtype=self.values.dtype)
            return Held(self.kind, self.values, self.missing | np.isin(self.values, codes))
        mean_missing = set(reading.missing)
        is_code = np.array([*(value in mean_missing for value in self.distinct), True])
        missing = is_code[self.values]
        if reading.texts:
            return self._looked_up(reading, missing)
        if not reading.as_number:
            return Held(self.kind, self.values, missing, self.distinct)
        numbers = np.array(
            [
                np.nan if is_missing else float(replaced(text, reading.pieces))
                for text, is_missing in zip(self.distinct, is_code, strict=False)
            ]
        )
        return Held(Kind.NUMBER, np.append(numbers, np.nan)[self.values], missing)

    def present(self) -> NDArray[Any]:
        """What `values` holds where nothing is missing."""
        return self.values[~self.missing] if self.missing.any() else self.values

    def _looked_up(self, reading: Reading, missing: Mask) -> Held:
        assert self.distinct is not None  # noqa: S101  (only text is looked up)
        stands_for = dict(zip(reading.texts, reading.values, strict=True))
        found = [stands_for.get(text) for text in self.distinct] + [None]
        if isinstance(reading.values[0], dt.datetime):
            return Held(Kind.TIME, np.array(found, dtype="datetime64[us]")[self.values], missing)
        return Held(Kind.NUMBER, np.array(found, dtype=np.float64)[self.values], missing)

    def of_rows(self, rows: Mask) -> Held:
        """Some rows of the column."""
        return Held(self.kind, self.values[rows], self.missing[rows], self.distinct)

    def spelled(self, rows: Mask) -> NDArray[Any]:
        """The values themselves, for some rows."""
        return self.values[rows] if self.distinct is None else self.distinct[self.values[rows]]


def settle_objects(values: Iterable[Any], column: str) -> tuple[Kind, NDArray[Any]]:
    """Find what a column of objects holds, and bring its values to one type.

    Numbers become float64 with NaN, dates ``datetime64[us]`` with NaT, all else objects with None:
    bool for flags, str for text, int for integers of 64 bits that floats would round. Values of
    several types become their labels. A list or another container is `UNSUPPORTED`.

    Examples
    --------
    >>> settle_objects([1, None, 2.5], "x")
    (<Kind.NUMBER: 'number'>, array([1. , nan, 2.5]))
    >>> settle_objects([1, "a", None], "x")
    (<Kind.TEXT: 'text'>, array(['1', 'a', None], dtype=object))
    """
    listed = list(values)
    if any(isinstance(value, _CONTAINERS) for value in listed):
        return Kind.UNSUPPORTED, np.empty(len(listed), dtype=object)
    plain = [canonical(value) for value in listed]
    types = {type(value) for value in plain} - {type(None)}
    if types == {int} and _need_integers(plain):
        return Kind.INTEGER, _objects(plain)
    if types and types <= {int, float}:
        return Kind.NUMBER, np.array([np.nan if v is None else v for v in plain], dtype=np.float64)
    if types and all(not issubclass(t, bool | int | float | str) for t in types):
        return Kind.TIME, np.array(plain, dtype="datetime64[us]")
    if types == {bool}:
        return Kind.FLAG, _objects(plain)
    texts = [None if value is None else label(value) for value in plain]
    check_values(texts, column)
    return Kind.TEXT, _objects(texts)


def _need_integers(values: list[Value]) -> bool:
    """Whether integers differ where floats would not, and 64 bits hold them all."""
    known = [value for value in values if value is not None]
    return max(map(abs, known)) >= EXACT_INTEGERS and all(-(2**63) <= v < 2**63 for v in known)


def _objects(values: list[Value]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def order_of(values: Any) -> tuple[str, ...] | None:
    """The categories of values given by themselves in their order, where they have one."""
    dtype = getattr(values, "dtype", None)
    ordered = getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum"
    return tuple(map(str, dtype.categories)) if ordered and dtype is not None else None


def as_columns(X: object) -> dict[str, NDArray[Any]]:
    """Name the columns of an array ``x0``, ``x1``, …; keep a mapping's names."""
    if isinstance(X, Mapping):
        if not X:
            raise MisfeatError(NO_COLUMNS)
        for name in X:
            if not isinstance(name, str):
                raise MisfeatError(
                    "Column names must be text; {column!r} is not.",
                    remedy="Rename it.",
                    column=name,
                )
        check_text(X)
        return {name: as_array(column, f"Column {name!r}", name) for name, column in X.items()}
    array = as_array(X, "X")
    if array.ndim != 2:
        raise MisfeatError(
            "X has {n} dimension(s); a table needs two, rows and columns.",
            remedy="Put a single feature into a column of its own.",
            n=array.ndim,
        )
    return {f"x{i}": array[:, i] for i in range(array.shape[1])}


def as_array(values: Any, what: str, column: str | None = None) -> NDArray[Any]:
    """An array of what was given; what a masked array masks is missing. Messages say what it is."""
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        values = np.ma.getdata(values).astype(object)
        values[mask] = None
    try:
        array = np.asarray(values)
        if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
            # NumPy would spell None and NaN among texts as texts.
            return np.asarray(values, dtype=object)
        return array
    except ValueError as error:
        raise MisfeatError(
            "{what} has rows of different lengths; make them equal.", what=what, column=column
        ) from error


class ArrayTable:
    """A table held as one NumPy array per column, all of one length."""

    frame_backend: str | None = None

    _weighing: Weighing | None = None
    _orders: Mapping[str, tuple[str, ...]] = MappingProxyType({})

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self._columns: Mapping[str, Held] = {
            name: Held.of(values, name) for name, values in columns.items()
        }
        self._check_lengths()

    def _check_lengths(self) -> None:
        lengths = {name: len(column.values) for name, column in self._columns.items()}
        if len(set(lengths.values())) > 1:
            first, *others = lengths
            other = next(name for name in others if lengths[name] != lengths[first])
            raise MisfeatError(
                "The columns differ in length: {first!r} has {n_first:,}, {column!r} has {n:,}.",
                remedy="Pass equal lengths.",
                column=other,
                n=lengths[other],
                first=first,
                n_first=lengths[first],
            )

    def with_column(self, name: str, values: Any, what: str) -> ArrayTable:
        """Add a column of given values, row by row; messages say what they are."""
        column = as_array(values, what)
        if column.ndim != 1 or (self._columns and len(column) != self.n_rows()):
            raise wrong_shape(what, column.shape, self.n_rows())
        wider = copy(self)
        wider._columns = {**self._columns, name: Held.of(column, name)}
        if wider.kind(name) is Kind.UNSUPPORTED:
            raise not_scored(what)
        return wider.with_order(name, order_of(values))

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self._columns)

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        return self._columns[column].kind

    def order(self, column: str) -> tuple[str, ...] | None:
        """The categories of a column in their order; of values that were added with one."""
        return self._orders.get(column)

    def with_order(self, column: str, order: tuple[str, ...] | None) -> ArrayTable:
        """The same table, with an order of the categories of a column."""
        if order is None:
            return self
        table = copy(self)
        table._orders = {**self._orders, column: order}
        return table

    def n_rows(self) -> int:
        """How many rows there are."""
        if self._frequencies is not None:
            return int(self._frequencies.sum())
        return self._n_lines()

    def _n_lines(self) -> int:
        return max((len(column.values) for column in self._columns.values()), default=0)

    def value_counts(self, column: str, limit: int) -> ValueCounts | None:
        """The distinct values and their counts, or None where there are more than `limit`."""
        held = self._columns[column]
        values, counts, missing = self._occurring(held)
        if len(counts) > limit:
            return None
        if held.distinct is None and held.kind is not Kind.TIME:
            return ValueCounts(values, counts, missing)
        spelled = values if held.distinct is None else held.distinct[values]
        counted = tally(spelled, counts, held.kind)
        return ValueCounts(counted.values, counted.counts, missing)

    def _occurring(self, held: Held) -> tuple[NDArray[Any], NDArray[np.int64], int]:
        """Distinct values of a column, how often each occurs, and how often none."""
        times, present = self._frequencies, held.present()
        if times is None:
            values, counts = _counted(present)
            return values, counts, int(held.missing.sum())
        values, place = np.unique(present, return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, place, times[~held.missing])
        return values, counts, int(times[held.missing].sum())

    def count_missing(self, reading: Reading) -> int:
        """How many rows are missing."""
        missing = self._columns[reading.column].read(reading).missing
        times = self._frequencies
        return int(missing.sum() if times is None else times[missing].sum())

    def quantiles(self, reading: Reading, shares: Sequence[float | Fraction]) -> list[float]:
        """The smallest values of a numeric column with such shares of the rows at or below them."""
        values, counts, _ = self._occurring(self._columns[reading.column].read(reading))
        return quantiles_of_counts(values, counts, shares)

    def count_codes(self, coders: Sequence[Coder]) -> CodedRows:
        """Code every row and collapse equal ones."""
        weights, *more = self._counts()
        return collapse([self._codes(coder) for coder in coders], weights, radices(coders), more)

    def _counts(self) -> list[NDArray[np.int64]]:
        """What every line counts: rows, and with sampling weights these and their squares."""
        weighing = self._weighing
        if weighing is None:
            return [np.ones(self._n_lines(), dtype=np.int64)]
        if self._frequencies is not None:
            return [self._frequencies]
        weight = self._columns[weighing.column].values.astype(np.float64)
        sums = [weight > 0.0, weight * weighing.scale, weight * weight * weighing.square_scale]
        return [np.ceil(one).astype(np.int64) for one in sums]

    @property
    def _frequencies(self) -> NDArray[np.int64] | None:
        if self._weighing is None or not self._weighing.frequency:
            return None
        return self._columns[self._weighing.column].values.astype(np.int64)

    def weight_range(self, column: str) -> WeightRange:
        """What is to be known of a numeric column before its values are taken for weights."""
        held = self._columns[column]
        if held.missing.any():
            return WeightRange(int(held.missing.sum()), np.nan, np.nan, whole=False)
        values = held.values.astype(np.float64)
        whole = bool((values == np.floor(values)).all())
        lightest = float(values[values > 0].min(initial=np.inf))
        return WeightRange(0, float(values.min()), float(values.max()), whole, lightest)

    def weighed(self, weighing: Weighing) -> ArrayTable:
        """The same table, whose rows count as a column says."""
        table = copy(self)
        table._weighing = weighing
        counts = self._columns[weighing.column].values > 0
        if not counts.all():
            table._columns = {name: held.of_rows(counts) for name, held in self._columns.items()}
        return table

    def sum_products(self, groups: Sequence[Coder], variables: Sequence[Variable]) -> GroupSums:
        """Sum products of variables over the rows of each combination of group codes."""
        present = ~self._columns[variables[-1].reading.column].read(variables[-1].reading).missing
        bases = radices(groups)
        codes = [self._codes(coder)[present] for coder in groups]
        keys = np.zeros((1, int(present.sum())), dtype=np.int64)
        keys = np.stack(pack_keys(codes, bases)) if groups else keys
        distinct, group = np.unique(keys, axis=1, return_inverse=True)
        weight = np.ones(int(present.sum()))
        if self._weighing is not None:
            weight = self._columns[self._weighing.column].values[present].astype(np.float64)
        rows = np.bincount(group.ravel(), weight, distinct.shape[1]).astype(np.float64)
        numbers = [self._numbers(variable) for variable in variables]
        x = np.array([values[present] for values, _ in numbers])
        u = np.array([recorded[present] for _, recorded in numbers])
        factors = {"product": (x, x), "first": (x, u), "both": (u, u)}
        found = {
            (kind, i, j): np.bincount(
                group.ravel(), weights=weight * factors[kind][0][i] * factors[kind][1][j]
            ).astype(np.float64)
            for kind, i, j in sums_wanted(variables)
        }
        no_counts = np.zeros(len(rows), dtype=np.int64)
        codes_of = unpack_keys(list(distinct), no_counts, bases).codes if groups else distinct[:0]
        return group_sums(codes_of, rows, variables, found)

    def close(self) -> None:
        """Nothing was opened."""

    def _numbers(self, variable: Variable) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The values of a variable, 0 where missing, and 1 where recorded."""
        held = self._columns[variable.reading.column].read(variable.reading)
        recorded = (~held.missing).astype(np.float64)
        values = held.values if variable.coder is None else self._codes(variable.coder)
        numbers = np.where(held.missing, 0.0, values.astype(np.float64) - variable.centre)
        return numbers, recorded

    def _codes(self, coder: Coder) -> NDArray[np.integer]:
        codes = np.full(self._n_lines(), len(coder.labels), dtype=code_dtype(radices([coder])))
        if isinstance(coder, PredicateCoder):
            read = {r.column: self._columns[r.column].read(r) for r in coder.readings}
            present = ~np.any([column.missing for column in read.values()], axis=0)
            codes[present] = coder.predicate.evaluate(lambda name: read[name].spelled(present))
            return codes
        held = self._columns[coder.reading.column].read(coder.reading)
        values = held.present()
        places = ~held.missing if len(values) < len(codes) else slice(None)
        if isinstance(coder, EdgeCoder):
            # Edges between integers may be fractions; dates are compared as such.
            dtype = values.dtype if values.dtype.kind == "M" else None
            codes[places] = _edges_below(values, np.array(coder.edges, dtype=dtype))
        elif held.distinct is not None:
            other = len(coder.labels) - 1
            position = {value: code for code, value in enumerate(coder.values)}
            code_of = [position.get(value, other) for value in held.distinct]
            codes[places] = np.array(code_of, dtype=codes.dtype)[values]
        return codes


def _counted(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct values, ascending, and how often each occurs."""
    if values.dtype.kind == "i" and len(values):
        lowest, highest = int(values.min()), int(values.max())
        if highest - lowest < len(values):  # counting is faster than sorting
            counts = np.bincount(values.astype(np.int64) - lowest)
            found = np.flatnonzero(counts)
            return found + lowest, counts[found]
    distinct, counts = np.unique(values, return_counts=True)
    return distinct, counts.astype(np.int64, copy=False)


def _edges_below(values: NDArray[Any], edges: NDArray[Any]) -> NDArray[np.integer]:
    """How many of the ascending edges lie strictly below each value."""
    if len(edges) > FEW_EDGES:
        return np.searchsorted(edges, values, side="left")
    below = np.zeros(len(values), dtype=np.uint8)
    for edge in edges:
        below += values > edge
    return below
