"""Names as people list them, each of them a part of a message that can be marked as a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.exceptions import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_NAMES = 5
"""Names that are told one by one; of more, the first ones and how many there are."""


def joined(names: Sequence[str], most: int = MOST_NAMES, last: str = "and") -> Message:
    """Names as a person lists them, at least one; those beyond `most` are counted.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"], last="or")
    ('a', 'a and b', 'a, b or c')
    >>> joined(list("abcdef"), most=2)
    'a, b and 4 more'
    """
    shown = list(names) if len(names) <= most + 1 else list(names[:most])
    about = {f"name{number}": name for number, name in enumerate(shown)}
    fields = [f"{{{name}}}" for name in about]
    if len(shown) < len(names):
        fields.append(f"{len(names) - len(shown):,} more")
    head, tail = fields[:-1], fields[-1]
    return Message(f"{', '.join(head)} {last} {tail}" if head else tail, **about)
