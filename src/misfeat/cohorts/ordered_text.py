"""Texts that have an order: scales, ranges, sub-grades, numbered things, months and weekdays.

A column has one of these orders where all of its texts belong to it, but for words for no answer
in a column of few values, which come last. `natural_order` is that of any texts.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

FEWEST = 3  # Fewer texts need no order
MOST, LONGEST = 500, 50  # More texts, or longer ones, are not looked at
FEW = 9  # Among so many texts there may be some for no answer
COMPLETE = 0.8  # The share of all sub-grades, from the first to the last, that occur
NO_ANSWER = re.compile(
    r"(un|not )(known|sure|stated|available|applicable|specified)|missing|refused|other|n/?a|"
    r"(don'?t|do not) know|no (answer|opinion|response)|prefer not to (say|answer)"
)
_TEXT = Path(__file__).with_name("scales.txt").read_text(encoding="utf-8")
_RANKS = [
    {word: rank for rank, word in enumerate(" ".join(scale.split()).split(", "))}
    for scale in _TEXT.split("\n\n")[1:]
]
_NUMBER = r"-?[$\u20ac\u00a3]?(?:\d[\d,]*(?:\.\d+)?|inf)"
_UNIT = r"(?:st|nd|rd|th)?(?: ?(?!to )[a-z%$\u20ac/]+\.?){0,2}"
_RANGE = re.compile(
    r"(?:(?P<below><=?|\u2264|under|below|(?:less|fewer|younger|lower) than|up to|at most)|"
    r"(?P<above>>=?|\u2265|over|above|(?:more|greater|older|higher) than|at least))? ?"
    rf"(?P<low>{_NUMBER}){_UNIT}(?: ?(?:[-\u2013\u2014]|to) ?(?P<high>{_NUMBER}){_UNIT})?"
    r"(?P<open> ?\+| (?:and|or) (?:over|older|more|above|up|higher))?"
    rf"(?P<short> (?:and|or) (?:under|younger|less|fewer|below|lower))?{_UNIT}"
)
_SUB_GRADE = re.compile(r"([a-z]) ?-?(\d{1,2})")
_NUMBERED = re.compile(
    r"(stage|grade|level|tier|phase|week|month|day|year|visit|wave|round|period|quarter|"
    r"quartile|quintile|decile|semester|term)[ _#-]?(\d{1,4})([a-d]?)"
)
_DIGITS = re.compile(r"([0-9]+)")
RANGE_START = re.compile(
    r"[\[(]?\s*(?:(?P<below><=?|≤|under|below|less than|up to)"
    r"|(?P<above>>=?|≥|over|above|more than)|from)?\s*"
    r"(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]+)?|inf(?:inity)?))(?!\.?[0-9])"
    r"(?P<open>\s*(?:\+|(?:and|or) (?:over|older|more|above))[\])]?$)?",
    re.IGNORECASE,
)  # Where a number or a range starts, and on which side of the number it lies


def order_of(texts: Sequence[str]) -> list[str] | None:
    """The texts of a column in their order, from the least; None where they have none."""
    if len(texts) > MOST or max(map(len, texts), default=0) > LONGEST:
        return None
    plain = {text: " ".join(text.split()).casefold() for text in texts}
    answers = [text for text in texts if not NO_ANSWER.fullmatch(plain[text])]
    if len(answers) < FEWEST or len(answers) < len(texts) > FEW:
        return None
    for find in (_on_a_scale, _as_ranges, _numbered, _as_sub_grades):
        ranks = find([plain[text] for text in answers])
        if ranks is not None and len(set(ranks)) == len(answers):
            ranked = [text for _, text in sorted(zip(ranks, answers, strict=True))]
            return [*ranked, *(text for text in texts if text not in set(answers))]
    return None


def _on_a_scale(texts: Sequence[str]) -> list[Any] | None:
    """The places of texts on a scale, in words."""
    for ranks in _RANKS:
        if all(text in ranks for text in texts):
            return [ranks[text] for text in texts]
    return None


def _as_ranges(texts: Sequence[str]) -> list[Any] | None:
    """Where ranges lie, and numbers beside them: none may overlap."""
    ranges = []
    for text in texts:
        in_brackets = text[0] in "[(" and text[-1] in ")]"
        match = _RANGE.fullmatch(text[1:-1].replace(", ", " to ") if in_brackets else text)
        if match is None:
            return None
        ends = (match["low"], match["high"] or match["low"])
        low, high = (float(re.sub(r"[$\u20ac\u00a3,]", "", end)) for end in ends)
        if match["below"] or match["short"]:
            low = -inf
        elif match["above"] or match["open"]:
            high = inf
        ranges.append((low, high))
    ordered = sorted(ranges)
    apart = all(a[1] <= b[0] for a, b in pairwise(ordered)) and all(a <= b for a, b in ranges)
    return ranges if apart and any(a < b for a, b in ranges) else None


def _numbered(texts: Sequence[str]) -> list[Any] | None:
    """The numbers of stages, weeks or visits, with letters after them."""
    found = [match for text in texts if (match := _NUMBERED.fullmatch(text))]
    if len(found) < len(texts) or len({match[1] for match in found}) > 1:
        return None
    return [(int(match[2]), match[3]) for match in found]


def _as_sub_grades(texts: Sequence[str]) -> list[Any] | None:
    """A letter and a number each, of which nearly all combinations occur, as from A1 to G5."""
    matches = [_SUB_GRADE.fullmatch(text) for text in texts]
    pairs = [(match[1], int(match[2])) for match in matches if match is not None]
    letters, numbers = {ord(letter) for letter, _ in pairs}, {number for _, number in pairs}
    if len(pairs) < len(texts) or len(letters) < 2 or len(numbers) < 2:
        return None
    spans = (max(letters) - min(letters) + 1) * (max(numbers) - min(numbers) + 1)
    return pairs if len(texts) >= COMPLETE * spans else None


def natural_order(labels: Sequence[str]) -> list[int]:
    """Positions in the order that people expect: ranges by where they lie, digits as numbers."""
    starts = [RANGE_START.match(label.strip()) for label in labels]
    are_ranges = all(starts)
    keys: list[Any] = []
    for text, start in zip(labels, starts, strict=True):
        # Text and digits in turn; digits are compared by how many there are first.
        parts: list[Any] = _DIGITS.split(text)
        parts[1::2] = [(len(digits), digits) for digits in (d.lstrip("0") for d in parts[1::2])]
        number, side = Decimal(0), 0
        if start is not None and are_ranges:
            number, side = Decimal(start["number"]), bool(start["above"] or start["open"])
            side -= start["below"] is not None
        keys.append((number, side, parts, text))
    return sorted(range(len(labels)), key=keys.__getitem__)
