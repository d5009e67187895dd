"""What misfeat raises and warns: messages as data, so that whoever shows one chooses the words."""

import logging
import re
import sys
import warnings
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from numbers import Integral
from string import Formatter
from typing import Any

from misfeat.safe_text import visible

Spelling = Callable[["Setting"], str]
LONGEST_FIELD = 1000  # characters of a name or value in a message; tables hold longer ones
_log = logging.getLogger("misfeat")
_LONG_WORD = re.compile(rf"\S{{{LONGEST_FIELD},}}")
UNSAID: Any = object()  # Stands for a value that was not given, where None is one
_MARKED = re.compile("\ue000(.*?)\ue001", re.DOTALL)
"""A parameter within a text: characters for private use, around what `Setting` is made of."""


@dataclass(frozen=True)
class Setting:
    """A parameter that a message names, with the value and the column it is about, if any.

    Within an f-string it stays a parameter, which whoever shows the message spells.
    """

    parameter: str
    value: Any = UNSAID
    column: str | None = None
    """The column that the value is given for, where the parameter takes values by column."""

    @property
    def has_value(self) -> bool:
        """Whether the message speaks of a value."""
        return self.value is not UNSAID

    def __str__(self) -> str:
        if self.column is not None:
            value = shortened(self.value) if self.has_value else "..."
            return f"{self.parameter}={{{self.column!r}: {value}}}"
        return f"{self.parameter}={shortened(self.value)}" if self.has_value else self.parameter

    def __format__(self, spec: str) -> str:
        value: tuple[str, ...] = ()
        if self.has_value:
            value = (repr(self.value),)
            try:
                literal_eval(value[0])
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                value = (shortened(self.value),)
        return f"\ue000{(self.parameter, self.column, *value)!r}\ue001"

    @classmethod
    def _read(cls, mark: str) -> "Setting":
        parameter, column, *shown = literal_eval(mark)
        value = _Shown(shown[0]) if shown else UNSAID
        if shown:
            with suppress(ValueError, SyntaxError):
                value = literal_eval(shown[0])
        return cls(parameter, value, column)


class _Shown(str):
    """How a value is shown that cannot be written down."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Message(str):
    """A message and what it is made of; as a string it speaks Python.

    It is an f-string with parameters as `Setting`, or a template with a field such as
    ``{column!r}`` for every name in it, which pages set apart.
    """

    template: str
    about: dict[str, Any]

    def __new__(cls, template: str, **about: Any) -> "Message":
        """Fill the fields in; text without fields is taken as it is."""
        message = super().__new__(cls, _filled(template, about, str))
        message.template, message.about = template, about
        return message

    def told(self, spell: Spelling) -> str:
        """The message with its parameters in the words of whoever shows it."""
        return _filled(self.template, self.about, spell)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The parameters it names, in their order."""
        named: list[Setting] = []

        def note(setting: Setting) -> str:
            named.append(setting)
            return ""

        self.told(note)
        return tuple(named)

    def __add__(self, other: str) -> "Message":
        if not isinstance(other, Message):
            other = Message(str(other))
        return Message("{first}{second}", first=self, second=other)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Message, **self.about), (self.template,)


def _filled(template: str, about: dict[str, Any], spell: Spelling) -> str:
    if about:
        words = {name: _spelled(value, spell) for name, value in about.items()}
        return _FIELDS.format(template, **words)
    parts = [part if isinstance(part, str) else spell(part) for part in text_and_settings(template)]
    return visible(_LONG_WORD.sub(lambda word: _cut(word[0]), "".join(parts)))


def text_and_settings(text: str) -> Iterator[str | Setting]:
    """The parts of a text and the parameters between them, in turn."""
    for place, part in enumerate(_MARKED.split(text)):
        try:
            yield Setting._read(part) if place % 2 else part
        except (ValueError, SyntaxError, TypeError):
            yield part  # somebody's own characters for private use


class _VisibleFields(Formatter):
    """Fills fields in so that nothing in them commands a terminal; the template is ours."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return visible(super().format_field(value, format_spec))


_FIELDS = _VisibleFields()


def _spelled(value: Any, spell: Spelling) -> Any:
    if isinstance(value, Setting):
        return spell(value)
    if isinstance(value, Message):
        return value.told(spell)
    return _cut(value) if isinstance(value, str) else value


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_FIELD else f"{text[:LONGEST_FIELD]}…"


def as_message(text: str) -> Message:
    """Text as a message without fields; a message stays what it is."""
    return text if isinstance(text, Message) else Message(text)


class MisfeatError(ValueError):
    """The table or the request cannot be answered; the message says what to do.

    Parameters
    ----------
    problem : str
        What is wrong.
    remedy : str, default=""
        What to do about it.
    parameter : str, optional
        The parameter that it is about. Defaults to the first that its text names.
    column : str, optional
        The column that it is about.
    value : object, optional
        The value that was refused.

    Attributes
    ----------
    message : Message
        The whole text, which `Message.told` spells in other words.
    remedy : Message
        What to do, empty where the problem says it.
    parameter : str or None
        The parameter that the error is about.
    column : str or None
        The column that it is about.
    value : object
        The value that was refused, None where there is none.

    Examples
    --------
    >>> from misfeat import MisfeatError, SubgroupSelector
    >>> try:
    ...     SubgroupSelector(k=0).fit({"a": [0, 1], "y": [0, 1]}, "y")
    ... except MisfeatError as error:
    ...     print(error, error.parameter, error.value)
    k=0; it must be an integer of at least 1. k 0
    """

    def __init__(
        self,
        problem: str,
        *,
        remedy: str = "",
        parameter: str | None = None,
        column: object = None,
        value: Any = None,
    ) -> None:
        self.message = as_message(f"{problem} {remedy}" if remedy else problem)
        super().__init__(self.message)
        self.remedy = as_message(remedy)
        first = next(iter(self.message.settings), None)
        self.parameter = parameter or (first.parameter if first else None)
        if column is None:
            column = self.message.about.get("column", first.column if first else None)
        self.column = None if column is None else str(column)
        self.value = first.value if first and first.has_value else value


class DamagedFileError(MisfeatError):
    """A file was changed or cut off, or is of another version; else the same as `MisfeatError`.

    Examples
    --------
    >>> from misfeat import DamagedFileError, MisfeatError
    >>> issubclass(DamagedFileError, MisfeatError)
    True
    """


class MemoryLimitError(MisfeatError):
    """What was asked for would take more memory than it may."""


class MisfeatWarning(UserWarning):
    """The answer stands, but something in the table was left out or cannot be trusted.

    Examples
    --------
    >>> from misfeat import MisfeatWarning
    >>> issubclass(MisfeatWarning, UserWarning)
    True
    """


class UnseenSubgroupWarning(MisfeatWarning):
    """A table to transform has subgroups that the table at fit did not have.

    Examples
    --------
    >>> from misfeat import MisfeatWarning, UnseenSubgroupWarning
    >>> issubclass(UnseenSubgroupWarning, MisfeatWarning)
    True
    """


def warn(text: str, kind: type[MisfeatWarning] = MisfeatWarning) -> None:
    """Warn from the user's own line: the first frame outside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].split(".")[0] == "misfeat":
        level, frame = level + 1, frame.f_back
    warnings.warn(kind(as_message(text)), stacklevel=level)


@dataclass
class Notes:
    """Collects what happened to rows and columns, and says it in the log or as a warning."""

    texts: list[str] = field(default_factory=list)

    def add(self, template: str, **about: Any) -> None:
        """Note something that was expected; the words are those of `Message`."""
        self.texts.append(Message(template, **about))
        _log.info(self.texts[-1])

    def warn(self, template: str, **about: Any) -> None:
        """Note something that the user should look at."""
        self.texts.append(Message(template, **about))
        warn(self.texts[-1])


def check_count(value: object, name: str, least: int = 1, none: bool = False) -> None:
    """Raise unless an integer of at least `least` (or None, where allowed)."""
    if none and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise MisfeatError(
            f"{Setting(name, value)}; it must be an integer of at least {least}"
            f"{', or None' if none else ''}."
        )


def listed(names: Iterable[object], most: int = 10) -> str:
    """Names for a message, only the first of them where there are many."""
    return first_of(list(map(repr, names)), most)


def first_of(texts: Sequence[str], most: int) -> str:
    """Texts for a message, only the first of them where there are many."""
    rest = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def shortened(value: object, most: int = 60) -> str:
    """A value for a message, on one line; only its type where it is long."""
    with suppress(Exception):  # some objects cannot be spelled
        if len(shown := repr(value)) <= most and "\n" not in shown:
            return shown
    size = f" of {len(value):,}" if isinstance(value, Sized) else ""
    return f"a {type(value).__name__}{size}"


def no_such_column(
    column: object, names: Iterable[str], role: str | Setting, parameter: str | None = None
) -> MisfeatError:
    """The error for a column that the table does not have, with the nearest names it has."""
    # It was asked for as a role; where that does not say which parameter named it, `parameter`
    # does.
    names = list(names)
    near = get_close_matches(str(column), names, n=3, cutoff=0.6)
    has = listed(names) or "no columns"
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {has}."
    problem = f"The table has no column {column!r} (asked for as {role}); {hint}"
    return MisfeatError(problem, parameter=parameter, column=column, value=column)
