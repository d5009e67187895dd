"""The forms of a value: on the command line, in a settings file, and back in a message.

A parameter names the form that the command line reads it in (`Option.reads` in
`misfeat.parameters.declaring`); a plain one follows from what the parameter takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misfeat.cli.spelling import (
    by_name,
    each,
    is_flag,
    is_number,
    is_text,
    is_whole,
    listed,
    read_bins,
    read_blocks,
    read_codes,
    read_columns,
    read_costs,
    read_design,
    read_groups,
    read_size,
    read_ways,
    spell_bins,
    spell_by_name,
    spell_codes,
    spell_groups,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Form:
    """How a value is said outside Python."""

    words: str
    """What a settings file may say, for messages."""
    fits: Callable[[Any], bool]
    """Whether a value from a settings file is of this form."""
    hint: Any = str
    """What the command line reads: texts, where an option may be repeated."""
    read: Callable[[Any, str], Any] = lambda value, parameter: value  # noqa: ARG005
    """Makes the value for Python from what was said, given the parameter's name for messages."""
    spell: Callable[[Any], list[Any]] = lambda value: [value]
    """Makes what would be said on the command line from the value for Python; a part for each time
    that the option stands there.
    """
    names_columns: bool = False
    """Whether a shell completes names of columns."""
    is_path: bool = False
    """Whether it names a file; a settings file does so starting from its own folder."""

    @property
    def is_repeated(self) -> bool:
        """Whether the option may stand on the command line several times."""
        return bool(self.hint == list[str])


TEXT = Form("a text", is_text)
PATH = Form("a text", is_text, is_path=True)
WHOLE = Form("an integer", is_whole, hint=int)
NUMBER = Form("a number", is_number, hint=float)
FLAG = Form("true or false", is_flag, hint=bool)
COLUMN = Form("a text", is_text, names_columns=True)
COSTS = Form(
    "a table such as {mri = 400}, or a list of texts such as 'mri=400'",
    by_name(is_number),
    list[str],
    read_costs,
    spell_by_name,
    names_columns=True,
)
PLAIN = {str: TEXT, int: WHOLE, float: NUMBER, bool: FLAG}
"""Forms of plain values, by their type in Python."""
FORMS = {
    "columns": Form(
        "a text or a list of texts",
        each(is_text),
        list[str],
        read_columns,
        listed,
        names_columns=True,
    ),
    "groups": Form(
        "a text such as 'age:40,65', a table such as {age = [40, 65]}, or a list of these",
        each(lambda part: isinstance(part, str | dict)),
        list[str],
        read_groups,
        spell_groups,
        names_columns=True,
    ),
    "bins": Form(
        "an integer, a table such as {age = 3}, or a list of texts such as 'age=40,65'",
        lambda value: is_whole(value) or isinstance(value, dict) or each(is_text)(value),
        list[str],
        read_bins,
        spell_bins,
    ),
    "codes": Form(
        "a text, a number, a list of these, or a table such as {chol = [0]}",
        lambda value: (
            isinstance(value, dict) or each(lambda part: is_text(part) or is_number(part))(value)
        ),
        list[str],
        read_codes,
        spell_codes,
    ),
    "blocks": Form(
        "a table such as {lipids = ['hdl', 'ldl']}, or a list of texts such as 'lipids=hdl,ldl'",
        by_name(lambda part: isinstance(part, list)),
        list[str],
        read_blocks,
        spell_by_name,
    ),
    "ways": Form(
        "a table such as {zip = 'text'}, or a list of texts such as 'zip=text'",
        by_name(is_text),
        list[str],
        read_ways,
        spell_by_name,
        names_columns=True,
    ),
    "design": Form(
        "a table such as {strata = 'region'}, or a list of texts such as 'strata=region'",
        by_name(is_text),
        list[str],
        read_design,
        spell_by_name,
    ),
    "completer": TEXT,
    "size": Form(
        "an integer, or 'auto'",
        lambda value: is_whole(value) or value == "auto" or str(value).isdecimal(),
        str,
        read_size,
    ),
}
"""Forms of all other values, by the name that a parameter gives."""
