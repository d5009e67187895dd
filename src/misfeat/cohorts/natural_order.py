"""The order in which people expect names: c2 before c10, and ranges by where they lie."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = r"([+-]?(?:[0-9]+(?:\.[0-9]+)?|inf(?:inity)?))"
_RANGE = re.compile(
    rf"[\[(]?\s*(<=?|>=?|≤|≥|under|below|less than|up to|over|above|more than|from)?\s*{_NUMBER}"
    rf"(\s*(?:-|–|—|to|until|,|\.\.)\s*{_NUMBER}"
    r"|\s*(?:\+|and (?:over|older|more|above)|or (?:older|more|above)))?"
    r"\s*[\])]?",
    re.IGNORECASE,
)
_BELOW = ("<", "<=", "≤", "under", "below", "less than", "up to")
_ABOVE = (">", ">=", "≥", "over", "above", "more than")
_DIGITS = re.compile(r"([0-9]+)")


def natural_order(labels: Sequence[str]) -> list[int]:
    """The positions of labels in the order in which people expect them.

    Where all of them are numbers or ranges, they go by where these lie; else digits within a text
    are compared as numbers, and everything else as it is.

    Examples
    --------
    >>> def ordered(*labels):
    ...     return [labels[position] for position in natural_order(labels)]
    >>> ordered("c1", "c10", "c2")
    ['c1', 'c2', 'c10']
    >>> ordered("100+", "18-39", "40-99", "<18")
    ['<18', '18-39', '40-99', '100+']
    """
    ranges = [_place(label) for label in labels]
    if all(place is not None for place in ranges):
        return sorted(range(len(labels)), key=lambda at: (ranges[at], labels[at]))
    return sorted(range(len(labels)), key=lambda at: (_parts(labels[at]), labels[at]))


def _place(label: str) -> tuple[Decimal, int, Decimal] | None:
    """Where a number or a range starts, on which side of that, and where it ends; None for others.

    What lies below a number comes before what starts there, and what lies above it after.
    """
    found = _RANGE.fullmatch(label.strip())
    if found is None:
        return None
    side, start, more, end = found.groups()
    place = Decimal(start)
    if side is not None and side.lower() in _BELOW:
        return place, -1, place
    if (side is not None and side.lower() in _ABOVE) or (more is not None and end is None):
        return place, 1, place
    return place, 0, place if end is None else Decimal(end)


def _parts(label: str) -> list[str | tuple[int, str]]:
    """Text and digits in turn; digits are compared by how many there are first."""
    parts = _DIGITS.split(label)
    digits = [part.lstrip("0") for part in parts[1::2]]
    numbers = [(len(one), one) for one in digits]
    return [part for pair in zip(parts[::2], [*numbers, (0, "")], strict=True) for part in pair]
