"""Samples of the rows of a table in an engine, where memory does not hold all different ones.

Every coded row has a hash between 0 and 1 that follows from its codes alone and looks random. Of a
row that occurs n times, so many are kept as the binomial distribution has at that quantile: what is
kept are rows drawn one by one, and all engines draw the same. Large subgroups give up rows first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from misfeat.reading.coders import CodedRows
from misfeat.runtime.array_types import Integers

PRIME = 2_147_483_629  # Hashes are whole numbers below this prime, the squares of which fit 64 bits
TURNS = (1_003_515_245, 747_796_405, 389_019_331)  # Added before each squaring
SPREAD = 1_327_217_885  # Takes neighbouring numbers far apart: about PRIME over the golden ratio


def add_key(value: Any, key: Any) -> Any:
    """A hash moved on by a whole number; arrays and expressions of an engine alike."""
    return (key % PRIME + value) % PRIME


def turned(value: Any, turn: int) -> Any:
    """A hash moved on so that where it came from cannot be seen."""
    return (value + turn) * ((value + turn) % PRIME) % PRIME


def hashes_of(keys: Sequence[Integers]) -> Integers:
    """The hashes of coded rows, from the whole numbers that hold their codes."""
    value = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        value = add_key(value, key)
        for turn in TURNS:
            value = turned(value, turn)
    return value


@dataclass(frozen=True)
class Drawing:
    """How many rows are kept, by subgroup."""

    one_in: dict[int, int]  # By combination of group codes: one row in so many is kept, else all
    n_rows: int  # How many different rows there are, about

    @classmethod
    def planned(
        cls, groups: Integers, counts: Integers, looked_at: int, most: int
    ) -> "Drawing | None":
        """Draw so that at most so many different rows are left, from one in `looked_at` of them."""
        if len(groups) * looked_at <= most:
            return None
        by_group = {int(g): counts[groups == g] for g in np.unique(groups)}
        sizes = np.sort([len(own) * looked_at for own in by_group.values()])
        share, left = float(sizes[-1]), most  # so many rows may a group keep
        for position, own in enumerate(sizes.tolist()):
            if own >= left / (len(sizes) - position):
                share = left / (len(sizes) - position)
                break
            left -= own
        one_in = {}
        for group, counted in by_group.items():
            if len(counted) * looked_at > share:
                rate = 1  # the first of 1, 2, …, 8, 10, 12, 14, 16, 20, … that leaves so few rows
                while (1.0 - (1.0 - 1.0 / rate) ** counted).sum() > share / looked_at:
                    rate += max(1, (1 << (rate.bit_length() - 1)) // 4)
                one_in[group] = rate
        return cls(one_in, len(groups) * looked_at)

    def by_rate(self) -> dict[int, list[int]]:
        """The groups of which one row in so many is kept, by that number."""
        return {
            rate: [group for group, one_in in self.one_in.items() if one_in == rate]
            for rate in dict.fromkeys(self.one_in.values())
        }


def drawn(rows: CodedRows, hashes: Integers, rates: Integers) -> CodedRows:
    """The rows that are kept of coded rows, one in `rates`, by their `hashes_of`."""
    from scipy.stats import binom

    at, share = hashes / PRIME, 1.0 / rates
    kept = np.where(at < share, 1, 0).astype(np.int64)
    kept = np.where(rates == 1, rows.weights, kept)
    several = (rates > 1) & (rows.weights > 1)
    kept[several] = binom.isf(at[several], rows.weights[several], share[several]).astype(np.int64)
    some = kept > 0
    share = (kept / rows.weights)[some]
    more = [np.ceil(one[some] * share).astype(np.int64) for one in rows.more]
    return CodedRows(rows.codes[:, some], kept[some], *more)
