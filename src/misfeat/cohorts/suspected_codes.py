"""Values that look like codes for missing values: -9, 999, or 0 in a measurement.

Nothing is done about these: a note suggests what to say, and what makes one think so. A code lies
apart from all other values, on its side of them, and occurs again and again.
"""

import datetime as dt
import re
from collections.abc import Sequence

import numpy as np

from misfeat.cohorts.column_profiles import Profile
from misfeat.reading.coders import Kind
from misfeat.reading.table_statistics import quantiles_of_counts
from misfeat.reading.values import Value, canonical, label
from misfeat.runtime.array_types import Array, Flags, Integers

WORDS_FOR_MISSING = frozenset(("?", "-", ".", "n/a", "nan", "null", "unknown", "missing"))
WHOLE = (77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999, 999999)
ABOVE = (*WHOLE, 99.9, 99.99, 999.9, 9999.9)
BELOW = (-1, -7, -8, -9, *(-code for code in ABOVE))
OF_A_SCALE = (7, 8, 9)  # Codes beside the answers of a short scale
LONGEST_SCALE = 5
LEAST_CODED = 3  # What occurs less often is a slip
MEASURED = 20  # A measurement has at least so many distinct values
FAR = 0.5  # A code above lies this far beyond the others, as a share of their range
FAR_IN_TIMES = 0.25  # And of their range in logarithms: incomes and counts have long tails
FROM_NOTHING = 0.15  # The least measurement is so far from 0, as a share of the range of most
VARIES = 0.5  # The standard deviation of a measurement over its mean, at most
OFTEN = 3.0  # A code within reach of other values occurs so many times as often as one of them does
EXTREMES = (0.01, 0.99)
NO_DATES = re.compile(
    r"(1753|1800|1900|1970)-01-01|1899-12-3[01]|1900-01-02|(2099|2199|2999|9999)-12-31"
)


def suspects(profile: Profile) -> tuple[tuple[Value, ...], str]:
    """The values of a column of numbers that look like codes for missing values, and why."""
    counts = profile.counts
    if profile.kind is Kind.TEXT and counts is not None:
        known = WORDS_FOR_MISSING - ({"-"} if "+" in counts.values else set())
        texts = zip(counts.values.tolist(), counts.counts.tolist(), strict=True)
        words = {text: n for text, n in texts if text.strip().casefold() in known}
        if len(words) < profile.distinct and sum(words.values()) >= LEAST_CODED:
            return tuple(words), f"{' or '.join(map(repr, words))} in {sum(words.values()):,} rows"
    if profile.kind is Kind.TIME and counts is not None and profile.distinct > 2:
        dates = [date for date in map(canonical, counts.values) if isinstance(date, dt.date)]
        return _no_date(dates, counts.counts) if len(dates) == profile.distinct else ((), "")
    if counts is None or profile.kind not in (Kind.INTEGER, Kind.NUMBER) or profile.distinct < 3:
        return (), ""
    for find in (_below, _above, _beside_a_scale, _zero):
        is_code = find(counts.values, counts.counts)
        rows = int(counts.counts[is_code].sum())
        if rows >= LEAST_CODED:
            values = tuple(canonical(value) for value in counts.values[is_code])
            low, high = (label(canonical(counts.values[~is_code][end])) for end in (0, -1))
            shown = " or ".join(map(label, values))
            return values, f"{shown} in {rows:,} rows, and from {low} to {high} in all others"
    return (), ""


def _no_date(dates: Sequence[Value], counts: Integers) -> tuple[tuple[Value, ...], str]:
    """The first or the last date, where it is written for none and is far from the others."""
    day = [date.toordinal() for date in dates]
    ends = (0, day[1] - day[0], day[-1] - day[1]), (-1, day[-1] - day[-2], day[-2] - day[0])
    for end, apart, others in ends:
        code = label(dates[end])[:10]
        if NO_DATES.fullmatch(code) and apart >= FAR * others and counts[end] >= LEAST_CODED:
            low, high = (label(dates[at])[:10] for at in (end + 1, end - 1))
            why = f"{code} in {counts[end]:,} rows, and from {low} to {high} in all others"
            return (code,), why
    return (), ""


def _below(values: Array, counts: Integers) -> Flags:
    """Codes below 0, where nothing else is, or far below the others."""
    below = values < 0
    n_below = int(below.sum())
    suspected = n_below <= len(values) - 2 and bool(np.isin(values[below], BELOW).all())
    if n_below == 1 and values[0] == -1:
        often = counts[0] >= OFTEN * np.median(counts[1:])
        suspected = suspected and bool(often) and len(values) > MEASURED
    return below & suspected | _above(-values[::-1], counts)[::-1]


def _beside_a_scale(values: Array, counts: Integers) -> Flags:
    """7, 8 and 9 beside answers that go from 0 or 1 to 5 at most."""
    beyond = _above(values, counts, OF_A_SCALE)
    scale = values[~beyond]
    return beyond & bool(scale[0] in (0, 1) and scale[-1] <= LONGEST_SCALE)


def _above(values: Array, _: Integers, codes: tuple[float, ...] = ABOVE) -> Flags:
    """The largest values, where they are codes and far from the others."""
    beyond = np.logical_and.accumulate(np.isin(values, codes)[::-1])[::-1]
    others = values[~beyond].astype(np.float64)
    if not beyond.any() or len(others) < 2:
        return np.zeros_like(beyond)
    code, low, high = float(values[beyond][0]), others[0], others[-1]
    far = code - high >= max(FAR * (high - low), 2.0)
    if low >= 0:
        least = others[others > 0][0]
        far = far and np.log(code / high) >= FAR_IN_TIMES * np.log(high / least)
    return np.asarray(beyond & bool(far))


def _zero(values: Array, counts: Integers) -> Flags:
    """0 in a measurement that is nowhere near it."""
    if values[0] != 0 or len(values) <= MEASURED or not np.isfinite(values[-1]):
        return np.zeros(len(values), dtype=bool)
    others, rows = values[1:] / values[-1], counts[1:]
    low, high = quantiles_of_counts(others, rows, EXTREMES)
    mean = float(np.average(others, weights=rows))
    deviation = float(np.sqrt(np.average((others - mean) ** 2, weights=rows)))
    apart = others[0] >= FROM_NOTHING * (high - low) and deviation <= VARIES * mean
    often = counts[0] >= OFTEN * np.median(rows)
    return np.asarray((values == 0) & bool(apart and often))
