r"""Text of strangers made safe for spreadsheets: nothing in it is run as a formula.

A spreadsheet takes a cell for a formula that begins with ``=``, ``+``, ``-`` or ``@``, some also
after blanks or quotes, some also where the sign is of full width. Names and values come from tables
that others wrote, so such text is marked as text. What has no place in a cell (control characters,
ends of lines, signs that turn the order of text) is shown as `misfeat.visible` shows it.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from misfeat.show.answer_columns import in_a_row
from misfeat.visible import visible

MOST_CHARACTERS = 32_767
"""Of a cell of Excel, in units of UTF-16."""
CUT = "…"
"""Stands at the end of text that was cut."""
_SIGNS = "=+\\-@＝＋－＠﹢﹣﹦﹫−"
_FORMULA = re.compile(rf"(^|;)(?=[\s\"'`´‘’“”«»]*[{_SIGNS}])")
"""The start of a cell, or of what becomes one where cells are separated by semicolons."""
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")
"""What no XML may hold, and `visible` leaves as it is."""


def plain_value(value: Any) -> str | int | float | bool | None:
    """A value as a cell holds it: text, a number, whether something holds, or nothing.

    Examples
    --------
    >>> plain_value(("cp", "ca")), plain_value(float("nan")), plain_value(0.25)
    ('cp, ca', None, 0.25)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple | list):
        return legal_text(in_a_row(list(map(str, value))))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return legal_text(str(value))


def legal_text(text: str) -> str:
    r"""Text on one line that every format can hold.

    Examples
    --------
    >>> print(legal_text("a\x1b[31m\nb\uffff"))
    a\x1b[31m\nb\uffff
    """
    return _NO_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))


def begins_as_formula(text: str) -> bool:
    """Whether a spreadsheet might run text; a plain number is none.

    Examples
    --------
    >>> begins_as_formula("=1+1"), begins_as_formula(' "@a'), begins_as_formula("-1")
    (True, True, False)
    """
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


def inert(text: str) -> str:
    """Text with an apostrophe before all that a spreadsheet might run when it opens a CSV file.

    That is the start of a cell, and what comes after a semicolon, which separates cells in some
    countries. A plain number is left as it is.

    Examples
    --------
    >>> inert("=1+1"), inert("a;=1+1"), inert("a=1"), inert("-1")
    ("'=1+1", "a;'=1+1", 'a=1', '-1')
    """
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'", text)


def cut_to(text: str, most: int = MOST_CHARACTERS) -> str:
    """Text of at most so many units of UTF-16, as Excel counts; what is cut ends in ``…``.

    Examples
    --------
    >>> cut_to("abcdef", 4)
    'abc…'
    """
    units = text.encode("utf-16-le")
    if len(units) <= 2 * most:
        return text
    return units[: 2 * (most - 1)].decode("utf-16-le", "ignore") + CUT
