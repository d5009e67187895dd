"""Numbers and names as people read them: the same words on the terminal, in reports, in Python.

Numbers have the digits that their uncertainty leaves, and no more.
"""

from collections.abc import Sequence
from math import floor, isnan, log10

from misfeat.messages import Message

MOST_DECIMALS = 4  # decimals of a score, where it is known to the last
MOST_NAMES = 5  # names that are listed one by one; of more, the first ones and how many there are


def percent(share: float, low: float | None = None, high: float | None = None) -> str:
    """A share in per cent, to the digits that its interval leaves."""
    if isnan(share):
        return "–"
    digits = percent_decimals(low, high)
    least = 10.0**-digits
    if 0 < 100 * share < least / 2:
        return f"under {least:.{digits}f} %"
    return f"{round(100 * share, digits) + 0.0:.{digits}f} %"


def percent_between(low: float, high: float) -> str:
    """An interval of shares in per cent, to the digits that its width leaves."""
    if isnan(low) or isnan(high):
        return "–"
    if low == high:
        return percent(low)
    digits = percent_decimals(low, high)
    least, most = (f"{round(100 * end, digits) + 0.0:.{digits}f}" for end in (low, high))
    return f"{least}–{most} %"


def percent_decimals(low: float | None, high: float | None) -> int:
    """How many decimals of a per cent an interval leaves."""
    if low is None or high is None or not high > low:
        return 1
    width = 100 * (high - low)
    return 0 if width >= 2 else 1 if width >= 0.2 else 2


def score_words(score: float, low: float, high: float) -> str:
    """A score to the digits that its interval leaves."""
    if isnan(score):
        return "–"
    width = high - low
    digits = min(MOST_DECIMALS, max(1, 1 - floor(log10(width)))) if width > 0 else MOST_DECIMALS
    return f"{score:.{digits}f}"


def p_words(p: float, permutations: int = 999, *, unadjusted: float | None = None) -> str:
    """A p-value, such as "p = 0.031", or "p ≤ 0.005" where no permutation reached the score."""
    # Of an adjusted p-value only a bound is known where the unadjusted one is a bound.
    bound = (p if unadjusted is None else unadjusted) * (permutations + 1) < 1 + 1e-6
    shown = max(p, 0.001)
    return f"p {'≤' if bound or p < 0.001 else '='} {shown:.{3 if shown < 0.0995 else 2}f}"


def count_words(number: float, one: str) -> str:
    """How many of something, such as "1,200 rows"."""
    rounded = round(number)
    return f"{rounded:,} {one}{'' if rounded == 1 else 's'}"


def joined(names: Sequence[str], most: int = MOST_NAMES) -> Message:
    """Names as a person lists them, at least one; those beyond `most` are counted."""
    shown = list(names) if len(names) <= most + 1 else list(names[:most])
    about = {f"name{number}": name for number, name in enumerate(shown)}
    fields = [f"{{{name}}}" for name in about]
    if len(shown) < len(names):
        fields.append(f"{len(names) - len(shown):,} more")
    head, tail = fields[:-1], fields[-1]
    return Message(f"{', '.join(head)} and {tail}" if head else tail, **about)
