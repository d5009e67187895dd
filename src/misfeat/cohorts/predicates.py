"""Named predicates such as ``"age > 65 and sex == 'F'"``: a small, safe language over columns.

A predicate is parsed into a tree and evaluated with whatever stands for a column (a dataframe
expression or an array), so one text means the same on every engine. Nothing is ever executed.
"""

from __future__ import annotations

import ast
import operator
import re
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from misfeat.cohorts.values import canonical
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Constants = tuple[Any, ...]

Term = TypeVar("Term")

MOST_LEVELS = 50
"""How deeply a predicate may be nested; engines overrun their stacks at some hundreds."""
MOST_COMPARISONS = 1000
MOST_CONSTANTS = 10_000
"""Constants in the lists of a predicate, all together."""
MOST_CHARACTERS = 1_000_000
LONGEST_SHOWN = 200
"""Characters of a predicate that messages show."""

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
    """A condition on the columns of one row.

    Examples
    --------
    >>> import numpy as np
    >>> predicate = Predicate("age > 65 and `blood type` in ['A', 'AB']")
    >>> predicate.columns
    ('age', 'blood type')
    >>> data = {"age": np.array([70, 70, 50]), "blood type": np.array(["A", "B", "A"])}
    >>> predicate.evaluate(data.__getitem__).tolist()
    [True, False, False]
    """

    text: str
    """As the user wrote it. Column names that are not identifiers stand in backticks."""

    @property
    def shown(self) -> str:
        """The text for messages, cut off where it is long."""
        return self.text if len(self.text) <= LONGEST_SHOWN else f"{self.text[:LONGEST_SHOWN]}..."

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads, in the order in which they first occur."""
        found = [n for n in ast.walk(self._parse()) if isinstance(n, ast.Name)]
        found.sort(key=lambda n: (n.lineno, n.col_offset))
        return tuple(dict.fromkeys(node.id for node in found))

    @property
    def comparisons(self) -> tuple[tuple[str, Any], ...]:
        """Every (column, constant) that the predicate compares."""
        return tuple(
            (side.id, constant)
            for node in ast.walk(self._parse())
            if isinstance(node, ast.Compare)
            for side in (node.left, *node.comparators)
            if isinstance(side, ast.Name)
            for other in (node.left, *node.comparators)
            if other is not side
            for constant in _constants(other)
        )

    @property
    def compared_columns(self) -> tuple[tuple[str, str], ...]:
        """Every pair of columns that the predicate compares with each other."""
        return tuple(
            (left.id, right.id)
            for node in ast.walk(self._parse())
            if isinstance(node, ast.Compare)
            for left, right in pairwise((node.left, *node.comparators))
            if isinstance(left, ast.Name) and isinstance(right, ast.Name)
        )

    def evaluate(
        self,
        column: Callable[[str], Any],
        settle: Callable[[Any], Any] = lambda flag: flag,
        is_in: Callable[[str, Constants], Any] | None = None,
    ) -> Any:
        """Evaluate with `column` giving what stands for a column by its name.

        `settle` is applied to every single comparison before comparisons are joined, and `is_in`
        tells whether a column is one of several constants; without it, columns are arrays.
        """
        if is_in is None:

            def is_in(name: str, constants: Constants) -> Any:
                return is_in_array(column(name), constants)

        return self._visit(self._parse(), _Meaning(column, settle, is_in))

    def _parse(self) -> ast.expr:
        """The tree, in which every name is that of a column."""
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

        if len(self.text) > MOST_CHARACTERS:
            raise self._refused(f"it has more than {MOST_CHARACTERS:,} characters")
        try:
            text = _QUOTED_OR_BACKTICKED.sub(placeholder, self.text.strip())
            tree = ast.parse(text, mode="eval").body
            self._check_size(tree)
            lines = text.encode().split(b"\n")
            for node in ast.walk(tree):
                if isinstance(node, ast.Name):
                    # Python takes some letters for others, columns do not: the name as it stands.
                    stands = lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
                    node.id = names.get(stands, stands)
            self._visit(tree, _ANYTHING)
        except SyntaxError as error:
            raise self._refused(f"it does not parse ({error.msg})") from error
        except (RecursionError, MemoryError) as error:
            raise self._refused("it is nested too deeply") from error
        except ValueError as error:
            if isinstance(error, MisfeatError):
                raise
            raise self._refused(f"it does not parse ({error})") from error
        return tree

    def _check_size(self, tree: ast.expr) -> None:
        """Refuse what would overrun the stack of some engine, or keep it busy for hours."""
        n_comparisons = n_constants = 0
        level: list[ast.AST] = [tree]
        for _ in range(MOST_LEVELS):
            below: list[ast.AST] = []
            for node in level:
                match node:
                    case ast.BoolOp(values=values):
                        below.extend(values)
                    case ast.UnaryOp(op=ast.Not(), operand=operand):
                        below.append(operand)
                    case ast.Compare(comparators=others):
                        n_comparisons += len(others)
                        n_constants += sum(len(getattr(other, "elts", ())) for other in others)
            level = below
        if level:
            raise self._refused(f"it is nested in more than {MOST_LEVELS} levels")
        if n_comparisons > MOST_COMPARISONS:
            raise self._refused(f"it has more than {MOST_COMPARISONS:,} comparisons")
        if n_constants > MOST_CONSTANTS:
            raise self._refused(f"its lists hold more than {MOST_CONSTANTS:,} constants")

    def _visit(self, node: ast.expr, meaning: _Meaning) -> Any:
        match node:
            case ast.BoolOp(op=op, values=values):
                join = operator.and_ if isinstance(op, ast.And) else operator.or_
                return joined(join, [self._visit(value, meaning) for value in values])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ~self._visit(operand, meaning)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                terms = [left, *comparators]
                parts = [
                    meaning.settle(self._compare(a, op, b, meaning))
                    for a, op, b in zip(terms, ops, terms[1:], strict=False)
                ]
                return joined(operator.and_, parts)
        raise self._refused(f"{ast.unparse(node)[:LONGEST_SHOWN]!r} is not a comparison")

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr, meaning: _Meaning) -> Any:
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(left, ast.Name) or not isinstance(right, ast.List | ast.Tuple):
                raise self._refused("'in' takes a column on its left and a list on its right")
            constants = _constants(right)
            if not constants or len(constants) != len(right.elts):
                raise self._refused("the list after 'in' must hold constants, at least one")
            found = meaning.is_in(left.id, constants)
            return ~found if isinstance(op, ast.NotIn) else found
        if type(op) not in _COMPARE:
            raise self._refused("it uses an operator other than < <= > >= == != in, not in")
        if not isinstance(left, ast.Name) and not isinstance(right, ast.Name):
            raise self._refused("a comparison needs a column on one side")
        compare, column = _COMPARE[type(op)], meaning.column
        return compare(self._operand(left, column), self._operand(right, column))

    def _operand(self, node: ast.expr, column: Callable[[str], Any]) -> Any:
        if isinstance(node, ast.Name):
            return column(node.id)
        constants = _constants(node)
        if len(constants) != 1 or isinstance(node, ast.List | ast.Tuple):
            raise self._refused(
                f"{ast.unparse(node)[:LONGEST_SHOWN]!r} is neither a column nor a constant"
            )
        return constants[0]

    def _refused(self, why: str) -> MisfeatError:
        return MisfeatError(
            "The subgroup predicate {predicate!r} cannot be used: {why}.",
            remedy="Write comparisons of columns with constants, joined by and, or, not, for "
            "example \"age > 65 and sex == 'F'\"; put column names with spaces in backticks.",
            predicate=self.shown,
            why=why,
            groups=Setting("groups"),
        )


class _Anything:
    """Stands for a column while a predicate is checked: every operation gives itself back."""

    def _itself(self, *_: object) -> _Anything:
        return self

    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __rand__ = __ror__ = _itself
    __invert__ = _itself
    __eq__ = __ne__ = _itself  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class _Meaning:
    """What stands for columns, for a single comparison, and for a list of constants."""

    column: Callable[[str], Any]
    settle: Callable[[Any], Any]
    is_in: Callable[[str, Constants], Any]


_ANYTHING = _Meaning(lambda _: _Anything(), lambda flag: flag, lambda *_: _Anything())


def joined(join: Callable[[Term, Term], Term], terms: Sequence[Term]) -> Term:
    """Join terms pairwise, nested no deeper than need be: long chains overrun engines' stacks.

    Examples
    --------
    >>> joined(lambda left, right: f"({left}{right})", "abcde")
    '(((ab)(cd))e)'
    """
    while len(terms) > 1:
        terms = [reduce(join, terms[i : i + 2]) for i in range(0, len(terms), 2)]
    return terms[0]


def that_may_occur(constants: Constants, integers: bool) -> list[Any]:
    """The constants that a column can hold, numbers in its type; of `integers`, fractions are none.

    Examples
    --------
    >>> that_may_occur((1.0, 2.5, 3), integers=True), that_may_occur((1, 2.5), integers=False)
    ([1, 3], [1.0, 2.5])
    """
    plain = map(canonical, constants)
    if integers:
        return [value for value in plain if not isinstance(value, float)]
    return [float(value) if type(value) is int else value for value in plain]


def is_in_array(values: NDArray[Any], constants: Constants) -> NDArray[np.bool_]:
    """Which elements of an array are among some constants."""
    chosen = that_may_occur(constants, values.dtype.kind in "iu")
    if values.dtype == object:
        return np.fromiter(map(set(chosen).__contains__, values), dtype=bool, count=len(values))
    found: NDArray[np.bool_] = np.isin(values, np.array(chosen, dtype=values.dtype))
    return found


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
