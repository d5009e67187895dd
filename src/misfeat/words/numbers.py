"""Numbers as people read them: with the digits that their uncertainty leaves, and no more."""

from __future__ import annotations

from math import floor, isnan, log10

MOST_DECIMALS = 4
"""Decimals of a score, where it is known to the last."""


def percent(share: float, low: float | None = None, high: float | None = None) -> str:
    """A share in per cent, to the digits that its interval leaves.

    Examples
    --------
    >>> percent(0.412, 0.24, 0.57), percent(0.0412, 0.036, 0.046), percent(0.412)
    ('41 %', '4.1 %', '41.2 %')
    >>> percent(0.003, 0.0, 0.05), percent(0.0, 0.0, 0.05), percent(float("nan"))
    ('under 1 %', '0 %', '–')
    """
    if isnan(share):
        return "–"
    digits = percent_decimals(low, high)
    least = 10.0**-digits
    if 0 < 100 * share < least / 2:
        return f"under {least:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def percent_between(low: float, high: float) -> str:
    """An interval of shares in per cent, to the digits that its width leaves.

    Examples
    --------
    >>> percent_between(0.24, 0.573), percent_between(0.0412, 0.0455), percent_between(0.2, 0.2)
    ('24–57 %', '4.1–4.5 %', '20.0 %')
    """
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
    """A score to the digits that its interval leaves.

    Examples
    --------
    >>> score_words(0.12345, 0.05, 0.21), score_words(0.12345, 0.12, 0.126)
    ('0.12', '0.1235')
    >>> score_words(0.12345, 0.12345, 0.12345)
    '0.1235'
    """
    return "–" if isnan(score) else f"{score:.{score_decimals(low, high)}f}"


def score_decimals(low: float, high: float) -> int:
    """How many decimals of a score an interval leaves."""
    width = high - low
    if not width > 0:
        return MOST_DECIMALS
    return min(MOST_DECIMALS, max(1, 1 - floor(log10(width))))


def p_words(p: float) -> str:
    """A p-value; none lies below what the number of deals can tell.

    Examples
    --------
    >>> p_words(0.0312), p_words(0.001), p_words(0.2)
    ('p = 0.031', 'p ≤ 0.001', 'p = 0.20')
    """
    if p < 0.0015:
        return "p ≤ 0.001"
    return f"p = {p:.3f}" if p < 0.0995 else f"p = {p:.2f}"


def count_words(number: float, one: str, several: str | None = None) -> str:
    """How many of something.

    Examples
    --------
    >>> count_words(1, "row"), count_words(1200, "row"), count_words(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    rounded = round(number)
    return f"{rounded:,} {one if rounded == 1 else several or f'{one}s'}"
