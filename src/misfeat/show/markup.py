"""Messages as HTML: every name from a table stands apart as text, whatever it holds."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from misfeat.exceptions import InPython, Message, Setting
from misfeat.visible import visible

if TYPE_CHECKING:
    from misfeat.exceptions import Spelling


def as_html(text: str, spell: Spelling = str, mark: str = "name") -> Markup:
    """A message with its names isolated and its parameters marked; other text escaped.

    Examples
    --------
    >>> as_html(Message("{name} < {n}", name="<b>", n=3))
    Markup('<bdi class="name">&lt;b&gt;</bdi> &lt; 3')
    """
    if not isinstance(text, Message):
        return _plain(text)
    if not text.about:
        return _plain(text.template)
    parts = []
    for literal, field, form, conversion in Formatter().parse(text.template):
        parts.append(_plain(literal))
        if field is not None:
            parts.append(_field(text.about[field], form or "", conversion, spell, mark))
    return Markup("").join(parts)


def _field(value: object, form: str, conversion: str | None, spell: Spelling, mark: str) -> Markup:
    if isinstance(value, Message):
        return as_html(value, spell, mark)
    if isinstance(value, Setting):
        return Markup("<code>{}</code>").format(visible(spell(value)))
    if isinstance(value, InPython):
        return _plain(value.words if spell is str else value.elsewhere)
    if isinstance(value, str):
        text = repr(value) if conversion == "r" else value
        return Markup('<bdi class="{}">{}</bdi>').format(mark, visible(text))
    return _plain(format(repr(value) if conversion == "r" else value, form))


def _plain(text: str) -> Markup:
    """Text on its own; a number stays with its unit and its name."""
    kept = visible(text)
    for words in (" %", "p = ", "p ≤ "):
        kept = kept.replace(words, words.replace(" ", "\N{NO-BREAK SPACE}"))
    return escape(kept)
