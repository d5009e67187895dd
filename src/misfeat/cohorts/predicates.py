"""Named predicates such as ``"age > 65 and sex == 'F'"``: a small, safe language over columns.

A predicate is parsed into a tree and evaluated with whatever stands for a column (a dataframe
expression or an array), so one text means the same on every engine. Nothing is ever executed.
"""

from __future__ import annotations

import ast
import operator
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

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

    Attributes
    ----------
    text : str
        As the user wrote it. Column names that are not identifiers stand in backticks.

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

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads, in the order in which they first occur."""
        tree, names = self._parse()
        found = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
        found.sort(key=lambda n: (n.lineno, n.col_offset))
        return tuple(dict.fromkeys(names.get(node.id, node.id) for node in found))

    @property
    def comparisons(self) -> tuple[tuple[str, Any], ...]:
        """Every (column, constant) that the predicate compares."""
        tree, names = self._parse()
        return tuple(
            (names.get(side.id, side.id), constant)
            for node in ast.walk(tree)
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
        tree, names = self._parse()
        return tuple(
            (names.get(left.id, left.id), names.get(right.id, right.id))
            for node in ast.walk(tree)
            if isinstance(node, ast.Compare)
            for left, right in pairwise((node.left, *node.comparators))
            if isinstance(left, ast.Name) and isinstance(right, ast.Name)
        )

    def evaluate(
        self, column: Callable[[str], Any], settle: Callable[[Any], Any] = lambda flag: flag
    ) -> Any:
        """Evaluate with `column` giving what stands for a column by its name.

        `settle` is applied to every single comparison before comparisons are joined.
        """
        tree, names = self._parse()
        return self._visit(tree, lambda name: column(names.get(name, name)), settle)

    def _parse(self) -> tuple[ast.expr, dict[str, str]]:
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
            self._visit(tree, lambda _: _Anything(), lambda flag: flag)
        except SyntaxError as error:
            raise self._refused(f"it does not parse ({error.msg})") from error
        except (RecursionError, MemoryError) as error:
            raise self._refused("it is nested too deeply") from error
        return tree, names

    def _visit(
        self, node: ast.expr, column: Callable[[str], Any], settle: Callable[[Any], Any]
    ) -> Any:
        match node:
            case ast.BoolOp(op=op, values=values):
                join = operator.and_ if isinstance(op, ast.And) else operator.or_
                result = self._visit(values[0], column, settle)
                for value in values[1:]:
                    result = join(result, self._visit(value, column, settle))
                return result
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ~self._visit(operand, column, settle)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                terms = [left, *comparators]
                parts = [
                    settle(self._compare(a, op, b, column))
                    for a, op, b in zip(terms, ops, terms[1:], strict=False)
                ]
                result = parts[0]
                for part in parts[1:]:
                    result = result & part
                return result
        raise self._refused(f"{ast.unparse(node)!r} is not a comparison")

    def _compare(
        self, left: ast.expr, op: ast.cmpop, right: ast.expr, column: Callable[[str], Any]
    ) -> Any:
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(left, ast.Name) or not isinstance(right, ast.List | ast.Tuple):
                raise self._refused("'in' takes a column on its left and a list on its right")
            value, constants = column(left.id), _constants(right)
            if not constants or len(constants) != len(right.elts):
                raise self._refused("the list after 'in' must hold constants, at least one")
            found = value == constants[0]
            for constant in constants[1:]:
                found = found | (value == constant)
            return ~found if isinstance(op, ast.NotIn) else found
        if type(op) not in _COMPARE:
            raise self._refused("it uses an operator other than < <= > >= == != in, not in")
        if not isinstance(left, ast.Name) and not isinstance(right, ast.Name):
            raise self._refused("a comparison needs a column on one side")
        return _COMPARE[type(op)](self._operand(left, column), self._operand(right, column))

    def _operand(self, node: ast.expr, column: Callable[[str], Any]) -> Any:
        if isinstance(node, ast.Name):
            return column(node.id)
        constants = _constants(node)
        if len(constants) != 1 or isinstance(node, ast.List | ast.Tuple):
            raise self._refused(f"{ast.unparse(node)!r} is neither a column nor a constant")
        return constants[0]

    def _refused(self, why: str) -> MisfeatError:
        return MisfeatError(
            "The subgroup predicate {predicate!r} cannot be used: {why}.",
            remedy="Write comparisons of columns with constants, joined by and, or, not, for "
            "example \"age > 65 and sex == 'F'\"; put column names with spaces in backticks.",
            predicate=self.text,
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
