"""What misfeat raises, warns of and notes."""

import logging
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from numbers import Integral
from typing import Any

from misfeat.messages import Message, Setting, as_message, listed

_log = logging.getLogger("misfeat")


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


def no_such_column(
    column: object, names: Iterable[str], role: str | Setting, parameter: str | None = None
) -> MisfeatError:
    """The error for a column that the table does not have, with the nearest names it has."""
    # It was asked for as a role; `parameter` named it where that does not say which did.
    names = list(names)
    near = get_close_matches(str(column), names, n=3, cutoff=0.6)
    has = listed(names) or "no columns"
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {has}."
    problem = f"The table has no column {column!r} (asked for as {role}); {hint}"
    return MisfeatError(problem, parameter=parameter, column=column, value=column)
