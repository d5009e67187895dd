"""Numbers that look like codes for missing values: -9, 999, or 0 in a measurement.

Nothing is done about them: a note suggests what to say, and what makes one think so. A code lies
apart from all other values, on its side of them, and occurs again and again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.coders import Kind
from misfeat.cohorts.values import Value, canonical, label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.profiles import Profile
    from misfeat.cohorts.table import ValueCounts

ABOVE = (77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999, 999999)
BELOW = (-1, -7, -8, -9, *(-code for code in ABOVE))
OF_A_SCALE = (7, 8, 9)
"""Codes beside the answers of a short scale."""
LONGEST_SCALE = 5
LEAST_ROWS = 3
"""What occurs less often is a slip."""
MEASURED = 20
"""A measurement has at least so many distinct values."""
FAR = 0.5
"""A code above lies this far beyond the others, as a share of their range."""
FAR_IN_TIMES = 0.25
"""And of their range in logarithms: incomes and counts have long tails."""
FROM_NOTHING = 0.15
"""The least measurement is this far from 0, as a share of the range of all but 2 % of them."""
VARIES = 0.5
"""The standard deviation of a measurement over its mean, at most."""
OFTEN = 3.0
"""A code within reach of other values occurs so many times as often as one of them does."""
EXTREMES = (0.01, 0.99)
_NONE = np.zeros(1, dtype=bool)


@dataclass(frozen=True)
class Suspects:
    """Values of a column that may stand for missing."""

    values: tuple[Value, ...] = ()
    """The values; none where nothing is suspected."""
    why: str = ""


def suspects(profile: Profile) -> Suspects:
    """The values of a column of numbers that look like codes for missing values."""
    counts = profile.counts
    if counts is None or profile.kind not in (Kind.INTEGER, Kind.NUMBER) or profile.distinct < 3:
        return Suspects()
    for find in (_below, _above, _beside_a_scale, _nothing):
        is_code = find(counts.values, counts.counts)
        if is_code.any() and int(counts.counts[is_code].sum()) >= LEAST_ROWS:
            return _told(counts, is_code)
    return Suspects()


def _told(counts: ValueCounts, is_code: NDArray[np.bool_]) -> Suspects:
    values = tuple(canonical(value) for value in counts.values[is_code])
    others = counts.values[~is_code]
    low, high = label(canonical(others[0])), label(canonical(others[-1]))
    rows = int(counts.counts[is_code].sum())
    shown = " or ".join(map(label, values))
    return Suspects(values, f"{shown} in {rows:,} rows, and from {low} to {high} in all others")


def _below(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Codes below 0, where nothing else is."""
    below = int(np.searchsorted(values, 0))
    first = np.arange(len(values)) < below
    if not 0 < below <= min(len(BELOW), len(values) - 2) or not np.isin(values[first], BELOW).all():
        return _NONE
    if below == 1 and values[0] == -1:
        often = counts[0] >= OFTEN * np.median(counts[1:])
        return first & bool(often and len(values) > MEASURED)
    return first


def _above(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Codes far above everything else."""
    del counts
    return _beyond(values, ABOVE)


def _beside_a_scale(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """7, 8 and 9 beside answers that go from 0 or 1 to 5 at most."""
    del counts
    found = _beyond(values, OF_A_SCALE)
    if not found.any():
        return _NONE
    scale = values[~found]
    return found & bool(scale[0] in (0, 1) and scale[-1] <= LONGEST_SCALE)


def _beyond(values: NDArray[Any], codes: tuple[int, ...]) -> NDArray[np.bool_]:
    """The largest values, where they are codes and far from the others."""
    if values[0] < 0 or values[-1] not in codes:
        return _NONE
    beyond = np.logical_and.accumulate(np.isin(values, codes)[::-1])[::-1]
    others = values[~beyond].astype(np.float64)
    if len(others) < 2:
        return _NONE
    code, low, high = float(values[beyond][0]), others[0], others[-1]
    far = code - high >= max(FAR * (high - low), 2.0)
    least = others[others > 0][0]
    far_in_times = np.log(code / high) >= FAR_IN_TIMES * np.log(high / least)
    return np.asarray(beyond & bool(far and far_in_times))


def _nothing(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """0 in a measurement that is nowhere near it."""
    if values[0] != 0 or len(values) <= MEASURED or not np.isfinite(values[-1]):
        return _NONE
    found = np.arange(len(values)) == 0
    others, rows = values[1:].astype(np.float64), counts[1:]
    low, high = _quantiles(others, rows)
    mean = float(np.average(others, weights=rows))
    deviation = float(np.sqrt(np.average((others - mean) ** 2, weights=rows)))
    apart = others[0] >= FROM_NOTHING * (high - low) and deviation <= VARIES * mean
    often = counts[0] >= OFTEN * np.median(rows)
    return np.asarray(found & bool(apart and often))


def _quantiles(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    reached = np.cumsum(counts) / counts.sum()
    low, high = (float(values[np.searchsorted(reached, share)]) for share in EXTREMES)
    return low, high
