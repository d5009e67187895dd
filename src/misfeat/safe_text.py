r"""Text of strangers made safe to print: what a terminal would obey is shown instead.

Names and values come from tables and files that others wrote. A terminal takes some characters for
commands (escape sequences that recolour, retitle or rewrite what was printed), and some turn the
order of all that follows. They are shown as Python spells them: ``\x1b``, ``\u202e``.
"""

import json
import unicodedata

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
