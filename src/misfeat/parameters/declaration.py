"""A parameter said once: its name, type, default, check, words and command-line spelling.

An estimator declares its parameters as fields of its class. From these come its ``__init__``, the
check in ``fit``, the section of its docstring, and the option of the command line with its help and
its completion.
"""

from __future__ import annotations

import re
from dataclasses import Field, dataclass, field, fields
from numbers import Real
from textwrap import dedent, fill, indent
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from misfeat.exceptions import UNSAID, InPython, MisfeatError, Setting, check_count, check_jobs

if TYPE_CHECKING:
    from collections.abc import Callable

    Check = Callable[[object, str], None]

Kind = TypeVar("Kind", bound=type)
TABLE, COLUMNS = "Table", "Subgroups and columns"
PREDICTIONS, OUTPUT = "Predictions", "Output"
"""Headings that options stand under."""
_WIDTH = 88
"""Columns of a line in a docstring."""
_UNBROKEN = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Takes:
    """What a parameter takes."""

    words: str
    """Its type, as a numpydoc docstring spells it."""
    check: Check
    """Raises unless a value, given with the parameter's name, is one of these."""
    choices: tuple[str, ...] = ()
    kind: type = str
    """What a plain value is: int, float, bool or str."""


@dataclass(frozen=True)
class Option:
    """How a parameter is said on the command line and in a settings file."""

    help: str
    panel: str
    name: str | None = None
    """The option's name, where it is not the parameter's own."""
    reads: str = "plain"
    """How texts become a value: a plain one, or one of the forms that the command line knows by
    this name."""
    default: Any = UNSAID
    """The value where the option is not given, if not the parameter's own default."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of an estimator."""

    name: str
    default: Any
    takes: Takes
    doc: str
    option: Option | None

    @property
    def option_name(self) -> str:
        """What the command line calls it, with underscores."""
        return (self.option.name if self.option else None) or self.name


def parameter(doc: str, takes: Takes, *, default: Any, option: Option | None = None) -> Any:
    """Declare a parameter as the field of an estimator's class; lines of `doc` are filled anew."""
    return field(default=default, metadata={"takes": takes, "doc": doc, "option": option})


def parameters_of(kind: Any) -> dict[str, Parameter]:
    """The parameters of an estimator's class or instance, by name."""
    return {one.name: _as_parameter(one) for one in fields(kind)}


def check_parameters(estimator: Any) -> None:
    """Raise for the first parameter of an estimator whose value it cannot take."""
    for name, one in parameters_of(estimator).items():
        one.takes.check(getattr(estimator, name), name)


@dataclass_transform(field_specifiers=(parameter,), eq_default=False)
def with_parameters(kind: Kind) -> Kind:
    """Make the ``__init__`` of an estimator's class, and the list of parameters in its docstring.

    The docstring holds the line ``{parameters}`` where the list goes.

    Examples
    --------
    >>> @with_parameters
    ... class Counter:
    ...     '''Count.
    ...
    ...     {parameters}
    ...     '''
    ...
    ...     step: int = parameter("How far to step.", an_integer(), default=1)
    >>> Counter(step=2).step
    2
    >>> Counter.__doc__.splitlines()[-2:]
    ['step : int, default=1', '    How far to step.']
    """
    made: Any = dataclass(eq=False, repr=False)(kind)
    made.__doc__ = dedent(f"    {made.__doc__}").strip().replace("{parameters}", _section(made))
    return made  # type: ignore[no-any-return]


def _as_parameter(one: Field[Any]) -> Parameter:
    said = one.metadata
    return Parameter(one.name, one.default, said["takes"], said["doc"], said["option"])


def _section(kind: Any) -> str:
    lines = ["Parameters", "----------"]
    for one in parameters_of(kind).values():
        lines.append(f"{one.name} : {one.takes.words}, default={_spelled(one.default)}")
        lines.append(indent(_filled(one.doc), "    "))
    return "\n".join(lines)


def _filled(doc: str) -> str:
    """Text in lines of a docstring; literals such as ``{"age": [40]}`` are not broken."""
    whole = re.sub(r"``.*?``", lambda found: found[0].replace(" ", _UNBROKEN), _on_one_line(doc))
    lines = fill(whole, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return lines.replace(_UNBROKEN, " ")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _spelled(default: object) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def anything(words: str) -> Takes:
    """What is parsed and checked by whoever uses it."""
    return Takes(words, lambda value, name: None)  # noqa: ARG005


def an_integer(least: int = 1, none: bool = False) -> Takes:
    """An integer of at least `least`, or None where allowed."""
    words = "int or None" if none else "int"
    return Takes(words, lambda value, name: check_count(value, name, least, none), kind=int)


def an_integer_or(word: str) -> Takes:
    """An integer of at least 1, or one word."""

    def check(value: object, name: str) -> None:
        if isinstance(value, str) and value != word:
            raise MisfeatError(
                "{setting}; it must be an integer of at least 1, or {word!r}.",
                setting=Setting(name, value),
                word=word,
            )
        if not isinstance(value, str):
            check_count(value, name)

    return Takes(f'int or "{word}"', check, kind=int)


def a_number_of_threads() -> Takes:
    """As joblib reads it."""
    return Takes("int or None", lambda value, name: check_jobs(value), kind=int)  # noqa: ARG005


def a_share() -> Takes:
    """A number above 0 and at most 1."""

    def check(value: object, name: str) -> None:
        if not _is_share(value):
            raise MisfeatError(
                "{setting}; it must be above 0 and at most 1.", setting=Setting(name, value)
            )

    return Takes("float", check, kind=float)


def a_level() -> Takes:
    """A number strictly between 0 and 1, or None."""

    def check(value: object, name: str) -> None:
        if value is not None and (not _is_share(value) or value == 1):
            raise MisfeatError(
                "{setting}; it must lie between 0 and 1{or_none}.",
                setting=Setting(name, value),
                or_none=InPython(", or be None"),
            )

    return Takes("float or None", check, kind=float)


def a_flag() -> Takes:
    """True or False."""

    def check(value: object, name: str) -> None:
        if not _is_flag(value):
            raise MisfeatError("{setting}; use True or False.", setting=Setting(name, value))

    return Takes("bool", check, kind=bool)


def a_verbosity() -> Takes:
    """An integer from 0 on, or a flag."""

    def check(value: object, name: str) -> None:
        if not _is_flag(value):
            check_count(value, name, least=0)

    return Takes("int", check, kind=int)


def one_of(*choices: str) -> Takes:
    """One of a few names."""
    words = "{" + ", ".join(f'"{choice}"' for choice in choices) + "}"

    def check(value: object, name: str) -> None:
        if not isinstance(value, str) or value not in choices:
            raise MisfeatError(
                "{setting} is unknown; use {choices}.",
                setting=Setting(name, value),
                choices=_alternatives(choices),
            )

    return Takes(words, check, choices)


def _alternatives(choices: tuple[str, ...]) -> str:
    """``'a', 'b' or 'c'``."""
    *others, last = map(repr, choices)
    return f"{', '.join(others)} or {last}" if others else last


def _is_share(value: object) -> bool:
    number: Any = value
    return isinstance(number, Real) and not _is_flag(number) and bool(0 < number <= 1)  # type: ignore[operator]


def _is_flag(value: object) -> bool:
    # Imported only where a value is no plain flag: a shell that completes options waits for this.
    if isinstance(value, bool):
        return True
    from numpy import bool_

    return isinstance(value, bool_)
