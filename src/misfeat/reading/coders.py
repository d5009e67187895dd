"""How raw values become small integer codes, as plain data that every kind of table can apply.

A coder maps each row of its column to ``0 .. len(labels) - 1``, or to ``len(labels)`` where the
value is missing. The codes of one row, as the digits of a mixed-radix number, make one integer key
per row: a table then needs a single group-by over that key to collapse equal rows.

Predicates such as ``"age > 65 and sex == 'F'"`` are a small, safe language over columns. They are
parsed into a tree and evaluated with whatever stands for a column (an expression of an engine or an
array), so that one text means the same everywhere. Nothing is ever executed.
"""

from __future__ import annotations

import ast
import operator
import re
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.reading.values import Value, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Constants = tuple[Any, ...]
    Counts = NDArray[np.int64]
    Codes = NDArray[np.integer]


Term = TypeVar("Term")
MOST_LEVELS = 50  # A predicate may be nested so deeply; engines overrun their stacks at hundreds
MOST_COMPARISONS = 1000
MOST_CONSTANTS = 10_000  # Constants in the lists of a predicate, all together
MOST_CHARACTERS = 1_000_000
LONGEST_SHOWN = 200  # Characters of a predicate that messages show
LARGEST_KEY = 2**62  # Keys stay below this, so that no engine overflows a signed 64-bit integer
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_QUOTED_OR_BACKTICKED = re.compile(r"\'[^\']*\'|\"[^\"]*\"|`([^`]+)`")


@dataclass(frozen=True)
class Predicate:
    """A condition on the columns of one row."""

    text: str  # As the user wrote it. Column names that are not identifiers stand in backticks

    @property
    def shown(self) -> str:
        """The text for messages, cut off where it is long."""
        return self.text if len(self.text) <= LONGEST_SHOWN else f"{self.text[:LONGEST_SHOWN]}..."

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads, in the order in which they first occur."""
        names = [node for node in ast.walk(self._parse()) if isinstance(node, ast.Name)]
        names.sort(key=lambda node: (node.lineno, node.col_offset))
        return tuple(dict.fromkeys(node.id for node in names))

    @property
    def comparisons(self) -> tuple[tuple[str, Any], ...]:
        """Every (column, constant) that the predicate compares."""
        return tuple(
            (side.id, constant)
            for sides in self._compared()
            for side in sides
            if isinstance(side, ast.Name)
            for other in sides
            if other is not side
            for constant in _constants(other)
        )

    @property
    def compared_columns(self) -> tuple[tuple[str, str], ...]:
        """Every pair of columns that the predicate compares with each other."""
        return tuple(
            (left.id, right.id)
            for sides in self._compared()
            for left, right in pairwise(sides)
            if isinstance(left, ast.Name) and isinstance(right, ast.Name)
        )

    def _compared(self) -> list[list[ast.expr]]:
        """What stands on the sides of each comparison."""
        nodes = ast.walk(self._parse())
        return [[node.left, *node.comparators] for node in nodes if isinstance(node, ast.Compare)]

    def evaluate(
        self,
        column: Callable[[str], Any],
        settle: Callable[[Any], Any] = lambda flag: flag,
        is_in: Callable[[str, Constants], Any] | None = None,
        tree: ast.expr | None = None,
    ) -> Any:
        """Evaluate with `column` giving what stands for a column; `settle` settles comparisons."""

        def visit(node: ast.expr) -> Any:
            match node:
                case ast.BoolOp(op=op, values=values):
                    join = operator.and_ if isinstance(op, ast.And) else operator.or_
                    return joined(join, [visit(value) for value in values])
                case ast.UnaryOp(op=ast.Not(), operand=operand):
                    return ~visit(operand)
                case ast.Compare(left=left, ops=ops, comparators=others):
                    sides = zip([left, *others], ops, others, strict=False)
                    return joined(operator.and_, [settle(compare(*side)) for side in sides])
            raise self._refused(f"{ast.unparse(node)[:LONGEST_SHOWN]!r} is not a comparison")

        def compare(left: ast.expr, op: ast.cmpop, right: ast.expr) -> Any:
            if isinstance(op, ast.In | ast.NotIn):
                if not isinstance(left, ast.Name) or not isinstance(right, ast.List | ast.Tuple):
                    raise self._refused("'in' takes a column on its left and a list on its right")
                among = _constants(right)
                if not among or len(among) != len(right.elts):
                    raise self._refused("the list after 'in' must hold constants, at least one")
                name = left.id
                held = is_in_array(column(name), among) if is_in is None else is_in(name, among)
                return ~held if isinstance(op, ast.NotIn) else held
            if type(op) not in _COMPARE:
                raise self._refused("it uses an operator other than < <= > >= == != in, not in")
            if not isinstance(left, ast.Name) and not isinstance(right, ast.Name):
                raise self._refused("a comparison needs a column on one side")
            return _COMPARE[type(op)](operand(left), operand(right))

        def operand(node: ast.expr) -> Any:
            if isinstance(node, ast.Name):
                return column(node.id)
            constants = _constants(node)
            if len(constants) != 1 or isinstance(node, ast.List | ast.Tuple):
                shown = ast.unparse(node)[:LONGEST_SHOWN]
                raise self._refused(f"{shown!r} is neither a column nor a constant")
            return constants[0]

        return visit(self._parse() if tree is None else tree)

    def _parse(self) -> ast.expr:
        """The tree, in which every name is that of a column."""
        if len(self.text) > MOST_CHARACTERS:
            raise self._refused(f"it has more than {MOST_CHARACTERS:,} characters")
        names: dict[str, str] = {}
        prefix = "_column"
        while prefix in self.text:
            prefix += "_"

        def placeholder(match: re.Match[str]) -> str:
            if match.group(1) is None:  # a quoted text, which may hold backticks
                return match.group(0)
            key = f"{prefix}{len(names)}"
            names[key] = match.group(1)
            return key

        try:
            text = _QUOTED_OR_BACKTICKED.sub(placeholder, self.text.strip())
            tree = ast.parse(text, mode="eval").body
            self._check_size(tree)
            lines = text.encode().split(b"\n")
            for node in ast.walk(tree):
                if isinstance(node, ast.Name):
                    # Python takes some letters for others, columns do not: the name as it stands.
                    name = lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
                    node.id = names.get(name, name)
            self.evaluate(lambda _: np.empty(0, dtype=object), tree=tree)
        except MisfeatError:
            raise
        except (RecursionError, MemoryError) as error:
            raise self._refused("it is nested too deeply") from error
        except (SyntaxError, ValueError) as error:
            reason = getattr(error, "msg", error)
            raise self._refused(f"it does not parse ({reason})") from error
        return tree

    def _check_size(self, tree: ast.expr) -> None:
        """Refuse what would overrun the stack of some engine, or keep it busy for hours."""
        level = [tree]
        for _ in range(MOST_LEVELS):
            joins = [node.values for node in level if isinstance(node, ast.BoolOp)]
            unary = [node for node in level if isinstance(node, ast.UnaryOp)]
            joins.append([node.operand for node in unary if isinstance(node.op, ast.Not)])
            level = [operand for operands in joins for operand in operands]
        if level:
            raise self._refused(f"it is nested in more than {MOST_LEVELS} levels")
        others = [node.comparators for node in ast.walk(tree) if isinstance(node, ast.Compare)]
        if sum(map(len, others)) > MOST_COMPARISONS:
            raise self._refused(f"it has more than {MOST_COMPARISONS:,} comparisons")
        if sum(len(getattr(o, "elts", ())) for each in others for o in each) > MOST_CONSTANTS:
            raise self._refused(f"its lists hold more than {MOST_CONSTANTS:,} constants")

    def _refused(self, why: str) -> MisfeatError:
        return MisfeatError(
            f"The subgroup predicate {self.shown!r} cannot be used: {why}.",
            remedy="Write comparisons of columns with constants, joined by and, or, not, for "
            "example \"age > 65 and sex == 'F'\"; put column names with spaces in backticks.",
            parameter="groups",
        )


def joined(join: Callable[[Term, Term], Term], terms: Sequence[Term]) -> Term:
    """Join terms pairwise, nested no deeper than need be: long chains overrun engines' stacks."""
    while len(terms) > 1:
        terms = [reduce(join, terms[i : i + 2]) for i in range(0, len(terms), 2)]
    return terms[0]


def that_may_occur(constants: Constants, integers: bool) -> list[Any]:
    """The constants that a column can hold, in its type: no fractions among `integers`."""
    plain = map(canonical, constants)
    if integers:
        return [value for value in plain if not isinstance(value, float)]
    return [float(value) if type(value) is int else value for value in plain]


def is_in_array(values: NDArray[Any], constants: Constants) -> NDArray[np.bool_]:
    """Which elements of an array are among some constants."""
    chosen = that_may_occur(constants, values.dtype.kind in "iu")
    if values.dtype == object:
        return np.fromiter(map(set(chosen).__contains__, values), dtype=bool, count=len(values))
    return np.isin(values, np.array(chosen, dtype=values.dtype))


def _constants(node: ast.expr) -> tuple[Any, ...]:
    """The constants that a node spells: one, several for a list, none for anything else."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return (value,)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return (-value,)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return tuple(constant for element in elements for constant in _constants(element))
    return ()


class Kind(Enum):
    """What a column holds, as far as coding it is concerned."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    FLAG = "flag"
    TIME = "time"
    UNSUPPORTED = "unsupported"

    @property
    def ordered(self) -> bool:
        """Whether values can be cut into bins."""
        return self in (Kind.INTEGER, Kind.NUMBER, Kind.TIME)


@dataclass(frozen=True)
class Reading:
    """How to read one raw column: which values are missing, and what text stands for."""

    column: str
    missing: tuple[Value, ...] = ()  # Values that mean missing, as the column holds them
    as_number: bool = False  # Every text that is not missing reads as a number
    pieces: tuple[tuple[str, str], ...] = ()  # What to replace so that a plain number is left
    texts: tuple[str, ...] = ()  # Where values are looked up, such as dates: the texts
    values: tuple[Value, ...] = ()  # What each of them stands for


@dataclass(frozen=True)
class EdgeCoder:
    """Code = how many edges lie below the value: bins, or each value of an ordered column."""

    reading: Reading
    edges: tuple[Value, ...]  # Ascending; a value equal to an edge belongs to the bin below it
    labels: tuple[str, ...]  # One more than there are edges


@dataclass(frozen=True)
class CategoryCoder:
    """Code = the position of the value in a list; every other value shares one last code."""

    reading: Reading
    values: tuple[Value, ...]  # The values that have a code of their own, in code order
    labels: tuple[str, ...]  # As many as there are values, plus one where other values exist


@dataclass(frozen=True)
class PredicateCoder:
    """Code = 1 where a predicate holds, 0 where it does not."""

    readings: tuple[Reading, ...]  # Where a column is missing, the row is coded missing
    predicate: Predicate
    labels: tuple[str, ...]  # The label where it does not hold, and where it does


Coder = EdgeCoder | CategoryCoder | PredicateCoder


@dataclass(frozen=True)
class CodedRows:
    """Distinct coded rows with their counts, in ascending lexicographic order."""

    codes: Codes  # (n_coders, n_rows); len(labels) stands for missing
    weights: Counts  # Of shape (n_rows,): how many rows of the table each one stands for
    masses: Counts | None = None  # (n_rows,): sums of the sampling weights of these rows
    squares: Counts | None = None  # Those of their squares, in a unit of their own

    @property
    def more(self) -> list[Counts]:
        """What else is counted of the rows: masses and squares, where there are any."""
        return [one for one in (self.masses, self.squares) if one is not None]

    def where(self, kept: NDArray[np.bool_]) -> CodedRows:
        """Some of the rows."""
        more = (one[kept] for one in self.more)
        return CodedRows(self.codes[:, kept], self.weights[kept], *more)


def radices(coders: Sequence[Coder]) -> list[int]:
    """The number of codes of each coder, the one for missing included."""
    return [len(coder.labels) + 1 for coder in coders]


def split_into_keys(bases: Sequence[int]) -> list[slice]:
    """Cut a list of radices into runs whose mixed-radix numbers fit a 64-bit key."""
    runs: list[slice] = []
    start, product = 0, 1
    for position, base in enumerate(bases):
        if product * base > LARGEST_KEY:
            runs.append(slice(start, position))
            start, product = position, 1
        product *= base
    runs.append(slice(start, len(bases)))
    return runs


def code_dtype(bases: Sequence[int]) -> type[np.signedinteger]:
    """The smallest signed integer type that holds every code."""
    largest = max(bases, default=1)
    return next(t for t in (np.int8, np.int16, np.int32) if largest <= np.iinfo(t).max)


def unpack_keys(
    keys: Sequence[Counts], weights: Counts, bases: Sequence[int], more: Sequence[Counts] = ()
) -> CodedRows:
    """Turn keys of `pack_keys` in any order into sorted rows; `more` has sums of weights."""
    order = sorting_order(keys)
    codes = np.empty((len(bases), len(weights)), dtype=code_dtype(bases))
    for key, run in zip(keys, split_into_keys(bases), strict=True):
        rest = key[order]
        for position in range(run.stop - 1, run.start - 1, -1):
            np.remainder(rest, bases[position], out=codes[position], casting="unsafe")
            rest //= bases[position]
    return CodedRows(codes, *(one[order] for one in (weights, *more)))


def sorting_order(keys: Sequence[Counts]) -> NDArray[np.intp]:
    """The order that sorts rows by their first key, then the second, and so on."""
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def pack_keys(codes: Sequence[Codes], bases: Sequence[int]) -> list[Counts]:
    """Write the codes of every row as mixed-radix keys, the first code most significant."""
    keys = []
    for run in split_into_keys(bases):
        key = np.zeros(len(codes[0]), dtype=np.int64)
        for digit, base in zip(codes[run], bases[run], strict=True):
            key *= base
            key += digit
        keys.append(key)
    return keys


def collapse(
    codes: Sequence[Codes], weights: Counts, bases: Sequence[int], more: Sequence[Counts] = ()
) -> CodedRows:
    """Merge equal coded rows, and add up their weights and what else is counted of them."""
    keys = pack_keys(codes, bases)
    order = sorting_order(keys)
    first = np.zeros(len(order), dtype=bool)
    first[:1] = True
    for key in keys:
        ordered = key[order]
        first[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(first)
    totals, *others = (
        np.add.reduceat(one[order], starts) if len(starts) else one[:0] for one in (weights, *more)
    )
    chosen = order[starts]
    found = np.empty((len(bases), len(starts)), dtype=code_dtype(bases))
    for line, digit in zip(found, codes, strict=True):
        line[:] = digit[chosen]
    return CodedRows(found, totals, *others)


def replaced(text: str, pieces: Sequence[tuple[str, str]]) -> str:
    """A text with some of its pieces replaced, one after the other."""
    for piece, by in pieces:
        text = text.replace(piece, by)
    return text
