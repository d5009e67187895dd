"""Features that say the same twice: pairs of which one determines the other.

All pairs are counted on a sample of the rows, and those that look it on all of them. What a pair
shares is measured above chance, so that many values in few rows determine nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.caution import MOST_NAMED, NOTE, Caution
from misfeat.cohorts.model import NOT_RECORDED
from misfeat.exceptions import Message, Setting
from misfeat.information.mutual_info import entropy
from misfeat.information.null_expectation import expected_information, n_log_n

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts

    Codes = NDArray[np.int64]
    Counts = NDArray[np.float64]

DUPLICATE, DETERMINED = "duplicate", "determined"
SAME = 0.95
"""A feature that tells this share of another one determines it."""
LOOKS_SAME = 0.9
"""Pairs that tell this share in the sample are counted on all rows."""
SAMPLE = 500
"""Rows of which all pairs are counted."""
LEAST_ROWS = 30
"""In fewer rows a feature determines another one easily by chance."""
FEW_OTHERS = 10
"""So many rows must differ from a feature's commonest value, or there is little to determine."""


def duplicates(cohorts: Cohorts) -> Iterator[Caution]:
    """Pairs of features that determine each other, or of which one determines the other."""
    pairs, names = determined_pairs(cohorts), cohorts.features
    for kind, mutual, template, how in (
        (
            DUPLICATE,
            True,
            "Features {one!r} and {other!r} determine each other: they say the same twice.",
            "determine each other",
        ),
        (
            DETERMINED,
            False,
            "Feature {one!r} determines {other!r}: sets with both tell no more than without it.",
            "are such that one determines the other",
        ),
    ):
        own = [(names[one], names[other]) for one, other, both in pairs if both == mutual]
        for one, other in own[:MOST_NAMED]:
            remedy = Message(
                "Leave one of them out: {exclude}.", exclude=Setting("exclude", [other])
            )
            sentence = Message(template, one=one, other=other)
            yield Caution(kind, sentence, remedy, columns=(one, other), severity=NOTE)
        more = own[MOST_NAMED:]
        if more:
            sentence = Message("{count:,} more pairs of features {how}.", count=len(more), how=how)
            columns = tuple(dict.fromkeys(name for pair in more for name in pair))
            yield Caution(kind, sentence, columns=columns, severity=NOTE)


def determined_pairs(cohorts: Cohorts) -> list[tuple[int, int, bool]]:
    """Pairs of which the first feature determines the second, and whether each the other."""
    ends = np.cumsum(cohorts.weights)
    total = int(ends[-1])
    # Evenly over all rows: sorted as they are, every part has its share.
    drawn = np.arange(min(SAMPLE, total)) * total // min(SAMPLE, total)
    rows = np.searchsorted(ends, drawn, side="right")
    codes = np.array([_codes(cohorts, feature, rows) for feature in range(len(cohorts.features))])
    pairs = []
    for one, other in _looking_determined(codes, cohorts.categories):
        table = _table(cohorts, one, other)
        forth, back = _determines(table), _determines(table.T)
        if forth or back:
            pairs.append((*((one, other) if forth else (other, one)), forth and back))
    return pairs


def _codes(cohorts: Cohorts, feature: int, rows: Any) -> Codes:
    """Codes of some rows, in which every missing value is NOT_RECORDED."""
    codes: Codes = cohorts.codes[feature][rows].astype(np.int64)
    codes[np.isin(codes, cohorts.gap_codes[feature])] = NOT_RECORDED
    return codes


def _looking_determined(
    codes: Codes, categories: tuple[tuple[str, ...], ...]
) -> list[tuple[int, int]]:
    """Pairs of which one tells nearly all of the other in a sample of rows."""
    bases = np.array([len(labels) + 1 for labels in categories])
    shifted = codes + 1  # 0: missing
    starts = np.concatenate([[0], np.cumsum(bases)])
    found = []
    for one in range(len(codes) - 1):
        later = shifted[one + 1 :] + (starts[one + 1 : -1] - starts[one + 1])[:, None]
        width = int(starts[-1] - starts[one + 1])
        cells = shifted[one][None, :] * width + later
        counts = np.bincount(cells.ravel(), minlength=int(bases[one]) * width)
        table = counts.reshape(int(bases[one]), width)[1:].astype(np.float64)
        own = starts[one + 1 : -1] - starts[one + 1]
        table[:, own] = 0.0  # the other one is missing
        same = np.flatnonzero(_most_told(table, own) >= LOOKS_SAME).tolist()
        found += [(one, one + 1 + place) for place in same]
    return found


def _most_told(table: Counts, starts: NDArray[np.int64]) -> Counts:
    """What two features tell of the less telling one, for tables side by side from `starts`."""
    of_one = np.add.reduceat(table, starts, axis=1)
    total = np.maximum(of_one.sum(axis=0), 1.0)
    joint = np.add.reduceat(n_log_n(table).sum(axis=0), starts)
    own = n_log_n(of_one).sum(axis=0)
    others = np.add.reduceat(n_log_n(table.sum(axis=0)), starts)
    one, other = np.log(total) - own / total, np.log(total) - others / total
    shared = one + other - (np.log(total) - joint / total)
    least = np.minimum(one, other)
    told: Counts = np.divide(shared, least, out=np.zeros_like(shared), where=least > 1e-9)
    return told


def _table(cohorts: Cohorts, one: int, other: int) -> Counts:
    """Rows by the values of two features, of the rows that have both."""
    first, second = (_codes(cohorts, feature, slice(None)) for feature in (one, other))
    both = (first != NOT_RECORDED) & (second != NOT_RECORDED)
    shape = len(cohorts.categories[one]), len(cohorts.categories[other])
    cells = first[both] * shape[1] + second[both]
    counts = np.bincount(cells, weights=cohorts.weights[both], minlength=shape[0] * shape[1])
    return counts.astype(np.float64).reshape(shape)


def _determines(table: Counts) -> bool:
    """Whether the feature of the rows tells nearly all of that of the columns, beyond chance."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if columns.sum() < LEAST_ROWS or columns.sum() - columns.max() < FEW_OTHERS:
        return False
    whole = entropy(columns)
    shared = entropy(rows) + whole - entropy(table.ravel())
    chance = expected_information(rows[rows > 0], columns[columns > 0])
    return bool(whole - chance > 0 and shared - chance >= SAME * (whole - chance))
