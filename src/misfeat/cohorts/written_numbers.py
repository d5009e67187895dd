"""Numbers that are written in text: "$16,818", "12.2%", "1.234,56", "36 months", "(250)".

The texts of a whole column decide which way it writes numbers. What comes out is a list of pieces
of text to replace, after which every engine reads the same number.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.values import PLAIN_NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Pieces = tuple[tuple[str, str], ...]

_CODES = "USD EUR GBP JPY CHF CAD AUD NZD CNY INR BRL MXN SEK NOK DKK PLN CZK HUF RUB ZAR TRY"
CURRENCY = re.compile(
    rf"[A-Z]{{0,3}}[$\xa2-\xa5\u20a0-\u20bf]|kr\.?|z\u0142|Fr\.|Rs\.?|{_CODES.replace(' ', '|')}"
)
"""What may stand before a number; of symbols, those of Unicode's block of currencies."""
MAGNITUDES = {
    **dict.fromkeys(("k", "K", "thousand"), "e3"),
    **dict.fromkeys(("m", "M", "mn", "Mn", "mio", "Mio", "million"), "e6"),
    **dict.fromkeys(("b", "B", "bn", "Bn", "billion"), "e9"),
}
LONGEST_UNIT = 20
"""Characters; what follows a number and is longer is a sentence."""
MOST_PIECES = 40
"""A column of numbers is written in few ways; with more pieces of other text it is text."""
_MINUS = "\N{MINUS SIGN}\N{EN DASH}"
_BLANKS = " \t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
_QUOTES = "'\N{RIGHT SINGLE QUOTATION MARK}"
_SIGN = f"[+{_MINUS}-]?"
_WORD = rf"[^\d.,()<>+{_MINUS}{_QUOTES}{_BLANKS}-]"
"""What a currency or a unit starts with."""


def _body(decimal: str, thousands: str) -> str:
    """Digits with marks between them, such as 1,234.56; no group of thousands starts with 0."""
    mark, point = f"[{thousands}{_BLANKS}{_QUOTES}]", re.escape(decimal)
    grouped = rf"[1-9]\d{{0,2}}(?:(?P<mark>{mark})(?:\d{{2}}(?P=mark))*\d{{3}})+"
    return rf"(?:(?:{grouped}|\d+)(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d{{1,3}})?"


def _written(decimal: str, thousands: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<open>\()?(?P<sign>{_SIGN})[{_BLANKS}]*(?P<prefix>{_WORD}[^\d(<>]{{0,3}}?)?[{_BLANKS}]*"
        rf"(?P<inner>{_SIGN})(?P<body>{_body(decimal, thousands)})(?(open)(?P<close>\))?)"
        rf"(?P<suffix>[{_BLANKS}]*(?:{_WORD}\D{{0,{LONGEST_UNIT}}})?)(?(open)(?(close)|\)))"
    )


_FORMS = {".": _written(".", ","), ",": _written(",", ".")}
_BOUND = re.compile(r"[<>\N{LESS-THAN OR EQUAL TO}\N{GREATER-THAN OR EQUAL TO}]=?\s*")
_AT_LEAST = re.compile(r"(?<=\d)\s*\+(?!\d)")
_CODE = re.compile(r"0\d|\d{17}")
_COULD_BE_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")


@dataclass(frozen=True)
class NumberStyle:
    """The way in which a column writes numbers."""

    pieces: Pieces
    """What to replace by what, in this order; what is left reads as a plain number."""
    decimal: str
    """{".", ","}: the decimal mark."""
    unit: str = ""
    """The currency, the unit or the per cent sign; empty where there is none."""
    doubtful: str = ""
    """A text that could be read with the other decimal mark as well, where none decides."""

    def read(self, text: str) -> float | None:
        """The number that a text stands for, or None."""
        plain = replaced(text, self.pieces)
        number = float(plain) if PLAIN_NUMBER.fullmatch(plain) else np.inf
        return number if np.isfinite(number) else None


def replaced(text: str, pieces: Pieces) -> str:
    """A text with some of its pieces replaced, one after the other."""
    for piece, by in pieces:
        text = text.replace(piece, by)
    return text


def number_style(
    counts: Mapping[str, int], decimal: str | None = None, *, codes: bool = False
) -> NumberStyle | None:
    """Find the way in which a column writes numbers; None where it does not.

    `counts` says how often each text occurs. The decimal mark is what the user says, or else the
    one by which more rows read. With `codes`, digits that look like a code are numbers all the
    same.

    Examples
    --------
    >>> style = number_style({"1.234,50 kg": 1, "80 kg": 2})
    >>> style.read("1.234,50 kg"), style.decimal, style.unit
    (1234.5, ',', 'kg')
    >>> number_style({"red": 1, "blue": 2}), number_style({"00123": 5, "10115": 5})
    (None, None)
    """
    marks = (decimal,) if decimal else (".", ",")
    found = {mark: _matches(counts, _FORMS[mark]) for mark in marks}
    rows = {mark: sum(counts[text] for text in matches) for mark, matches in found.items()}
    best = max(marks, key=lambda mark: rows[mark])  # the point, where both read as many
    matches = found[best]
    if not matches or (not codes and any(is_code(match["body"]) for match in matches.values())):
        return None
    scaled = _are_magnitudes(matches.values())
    units = Counter[str]()
    for text, match in matches.items():
        units[_unit(match, scaled)] += counts[text]
    units.pop("", None)
    unit = max(units, key=lambda one: units[one], default="")
    kept = [match for match in matches.values() if _unit(match, scaled) in ("", unit)]
    shown = next((_shown(match, scaled) for match in kept if _unit(match, scaled)), "")
    pieces = _pieces(kept, best, scaled)
    if len(pieces) > MOST_PIECES:
        return None
    tied = len(rows) > 1 and rows["."] == rows[","]
    plain = tied and not any(match["prefix"] for match in kept)
    either = plain and all(_COULD_BE_EITHER.fullmatch(match["body"]) for match in kept)
    return NumberStyle(pieces, best, shown, kept[0].string if either else "")


def is_code(text: str) -> bool:
    """Whether digits start with a zero that no number would have, or are more than numbers hold.

    Examples
    --------
    >>> is_code("02134"), is_code("0.5"), is_code("0"), is_code("90000000000000001")
    (True, False, False, True)
    """
    return _CODE.match(text.strip()) is not None


def _matches(texts: Iterable[str], form: re.Pattern[str]) -> dict[str, re.Match[str]]:
    matched = ((text, form.fullmatch(text.strip())) for text in texts)
    return {text: match for text, match in matched if match and _is_number(match)}


def _is_number(match: re.Match[str]) -> bool:
    """Whether what stands before a number is a currency, and there is one sign at most."""
    prefix = (match["prefix"] or "").strip()
    signs = bool(match["sign"]) + bool(match["inner"]) + bool(match["open"])
    return (not prefix or bool(CURRENCY.fullmatch(prefix))) and signs <= 1


def _suffix(match: re.Match[str]) -> str:
    return match["suffix"].strip(_BLANKS)


def _are_magnitudes(matches: Iterable[re.Match[str]]) -> bool:
    """Whether what follows numbers multiplies them: several factors, or one beside a currency."""
    matches = list(matches)
    suffixes = {_suffix(match) for match in matches} - {""}
    if not suffixes or not suffixes <= MAGNITUDES.keys():
        return False
    several = len({MAGNITUDES[suffix] for suffix in suffixes}) > 1
    return several or any(match["prefix"] or len(_suffix(match)) > 3 for match in matches)


def _unit(match: re.Match[str], scaled: bool) -> str:
    """A currency or a unit, the same in the singular and the plural."""
    shown = _shown(match, scaled)
    return shown if len(shown) < 4 else shown.lower().rstrip(".").removesuffix("s")


def _shown(match: re.Match[str], scaled: bool) -> str:
    parts = ((match["prefix"] or "").strip(), "" if scaled else _suffix(match))
    return " ".join(filter(None, parts))


def _pieces(matches: Iterable[re.Match[str]], decimal: str, scaled: bool) -> Pieces:
    """What to replace, longer pieces first; the decimal mark becomes a point at the end."""
    by: dict[str, str] = {}
    for match in matches:
        by.update((blank, "") for blank in _BLANKS if blank in match.string)
        by.update((piece, "") for piece in (match["prefix"], match["mark"]) if piece)
        by.update((dash, "-") for dash in _MINUS if dash in match["sign"] + match["inner"])
        if suffix := _suffix(match):
            by[suffix if scaled else match["suffix"].rstrip(_BLANKS)] = (
                MAGNITUDES[suffix] if scaled else ""
            )
        if match["open"]:
            by.update({"(": "-", ")": ""})
    ordered = sorted(by.items(), key=lambda pair: (-len(pair[0]), pair[0]))
    return (*ordered, *([] if decimal == "." else [(",", ".")]))


def bounded_numbers(counts: Mapping[str, int]) -> dict[str, float] | None:
    """What texts stand for where some are bounds: "< 1 year", "10+ years", ">100".

    A bound lies next to the number that it names, on its own side, so that "< 1" comes before "1".

    Examples
    --------
    >>> found = bounded_numbers({"< 1 year": 4, "1 year": 3, "10+ years": 2})
    >>> sorted(found, key=found.get)
    ['< 1 year', '1 year', '10+ years']
    """
    sides = {text: _side(text) for text in counts}
    if not any(sides.values()):
        return None
    plain = {text: _AT_LEAST.sub("", _BOUND.sub("", text.strip())) for text in counts}
    merged = Counter[str]()
    for text, count in counts.items():
        merged[plain[text]] += count
    style = number_style(merged)
    if style is None:
        return None
    read = {text: style.read(plain[text]) for text in counts}
    return {
        text: float(np.nextafter(number, sides[text] * np.inf)) if sides[text] else number
        for text, number in read.items()
        if number is not None
    }


def _side(text: str) -> int:
    """-1 for what lies below a number, 1 for what lies above it, 0 for the number itself."""
    found = _BOUND.match(text.strip())
    if found:
        return -1 if found[0][0] in "<\N{LESS-THAN OR EQUAL TO}" else 1
    return 1 if _AT_LEAST.search(text) else 0
