r"""Messages as data, so that whoever shows one chooses the words, and text made safe to print.

Names and values come from tables and files that others wrote. A terminal takes some characters for
commands (escape sequences that recolour, retitle or rewrite what was printed), and some turn the
order of all that follows. They are shown as Python spells them: ``\x1b``, ``\u202e``.
"""

import json
import re
import unicodedata
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from string import Formatter
from typing import Any

JOINERS = "\u200c\u200d"
"""What joins emoji and letters of some scripts, and commands nothing."""
_COMMANDS = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Control and format characters, halves of characters, and ends of lines and paragraphs."""


def visible(text: str) -> str:
    r"""Text on one line in which every character prints as itself."""
    if text.isprintable():
        return text
    return "".join(repr(letter)[1:-1] if _commands(letter) else letter for letter in text)


def visible_json(line: str) -> str:
    """A line of JSON in which such characters are escaped as JSON does it: the same data."""
    if line.isprintable():
        return line
    return "".join(
        json.dumps(letter)[1:-1] if letter != "\n" and _commands(letter) else letter
        for letter in line
    )


def _commands(letter: str) -> bool:
    return letter not in JOINERS and unicodedata.category(letter) in _COMMANDS


Spelling = Callable[["Setting"], str]
LONGEST_FIELD = 1000  # characters of a name or value in a message; tables hold longer ones
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
