"""Which subgroup a name means, as people write names in short, and the order they expect."""

from __future__ import annotations

import re
from decimal import Decimal
from difflib import get_close_matches
from typing import TYPE_CHECKING

from misfeat.cohorts.values import canonical, label
from misfeat.exceptions import MisfeatError, Setting, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Spelling = Callable[[str], str]

BETWEEN_TERMS = " & "
"""What stands between the terms of a name."""
_OPERATOR = re.compile(r"\s*(==|<=|>=|<|>|=)\s*")
_SEVERAL = re.compile(r"\s*&\s*")
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


def subgroup_named(asked: object, names: Sequence[str], gone: Sequence[str] = ()) -> str:
    """The subgroup that a name means, where that is unambiguous.

    A subgroup is known by its whole name, by a term of it (``"age<=40"``), by the value or range in
    a term (``"va"``, ``"<=40"``), or by several of these, in any order, with ``&`` between them.
    Letters are taken as they are written; only where no subgroup is found, capitals do not matter.
    A value that is no text is taken by its label. Messages speak of subgroups that are `gone`,
    merged or left out.

    Examples
    --------
    >>> names = ["site=va & age<=40", "site=va & age>40", "site=ch & age<=40"]
    >>> subgroup_named("ch", names), subgroup_named("age > 40", names)
    ('site=ch & age<=40', 'site=va & age>40')
    >>> subgroup_named("<=40 & VA", names)
    'site=va & age<=40'
    """
    if asked in names:
        return str(asked)
    wanted = label(canonical(asked))
    for spelling in (str, str.casefold):
        found = _meant(wanted, names, spelling)
        if len(found) > 1:
            raise _ambiguous(wanted, found)
        if found:
            return found[0]
    raise _unknown(wanted, names, gone)


def _meant(wanted: str, names: Sequence[str], spelling: Spelling) -> list[str]:
    """The subgroups that a name may mean; where it is the whole name of one, only that."""
    plain = spelling(_plain(wanted))
    whole = [name for name in names if spelling(_plain(name)) == plain]
    if whole:
        return whole
    parts = [part for part in _SEVERAL.split(plain) if part]
    return [name for name in names if parts and _has_all(name, parts, spelling)]


def _has_all(name: str, parts: Sequence[str], spelling: Spelling) -> bool:
    known = [{spelling(one) for one in _short_forms(term)} for term in name.split(BETWEEN_TERMS)]
    return all(any(part in forms for forms in known) for part in parts)


def _short_forms(term: str) -> set[str]:
    """What a term may be called: itself, its value, or its range without the column.

    A bare number is no name of a range: ``40`` does not say on which side of it.
    """
    plain = _plain(term)
    forms = {plain}
    operators = list(_OPERATOR.finditer(plain))
    if operators and operators[0][1] == "=":
        forms.add(plain[operators[0].end() :])
    elif len(operators) == 1:
        forms.add(plain[operators[0].start() :])
    return forms


def _plain(text: str) -> str:
    """One spelling of spaces around operators, and of equality."""
    return _OPERATOR.sub(lambda found: found[1].replace("==", "="), text.strip())


def _ambiguous(wanted: str, found: Sequence[str]) -> MisfeatError:
    return MisfeatError(
        "{value!r} may mean {n} subgroups: {names}; write more of the name.",
        value=wanted,
        n=len(found),
        names=listed(found),
    )


def _unknown(wanted: str, names: Sequence[str], gone: Sequence[str]) -> MisfeatError:
    lost = _meant(wanted, [name for name in gone if name not in names], str.casefold)
    if lost:
        return MisfeatError(
            "The subgroup {value!r} has too few rows, and was merged with others or left out; "
            "there are {names}. {keep} keeps small subgroups.",
            value=lost[0],
            names=listed(names),
            keep=Setting("min_rows", 1),
        )
    near = _nearest(wanted, names)
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {listed(names)}."
    )
    return MisfeatError("There is no subgroup {value!r}; {hint}", value=wanted, hint=hint)


def _nearest(wanted: str, names: Sequence[str], most: int = 3) -> list[str]:
    """The subgroups whose names, terms or values are spelled most alike."""
    named_by: dict[str, list[str]] = {}
    for name in names:
        short = (form for term in name.split(BETWEEN_TERMS) for form in _short_forms(term))
        for form in {_plain(name), *short}:
            named_by.setdefault(form.casefold(), []).append(name)
    near = get_close_matches(_plain(wanted).casefold(), named_by, n=most)
    return list(dict.fromkeys(name for form in near for name in named_by[form]))[:most]


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
