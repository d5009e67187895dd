"""Text with many values, once rows are counted: merged by what the values tell, or left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coders import CategoryCoder, CodedRows
from misfeat.cohorts.merging import (
    FEWEST_ROWS,
    Classes,
    by_frequency,
    by_target,
    cross_fitted,
    table_of,
)
from misfeat.cohorts.values import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.profiles import Profile

MOST_VALUES = 500
"""So many values are looked at one by one; all others are merged."""
NAMED = 2
"""Values that the label of a group names."""
TELLS_NOTHING = "its many values tell nothing of rows that they were not merged by"


@dataclass(frozen=True)
class Merged:
    """Coded rows in which one column has few values left."""

    rows: CodedRows
    """The rows; as they were, where the column is to be left out."""
    labels: tuple[str, ...]
    """What its codes mean; empty where the column is to be left out."""
    treatment: str


def one_by_one(profile: Profile, least_rows: int) -> CategoryCoder | None:
    """A coder of the values with enough rows, at most `MOST_VALUES`; None where hardly any has."""
    assert profile.counts is not None  # noqa: S101  (identifiers were left out before)
    counts = profile.counts.counts
    common = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    common = np.sort(common[counts[common] >= max(FEWEST_ROWS[0], least_rows)])
    if len(common) < 2:
        return None
    values = tuple(profile.counts.values[common].tolist())
    return CategoryCoder(profile.reading, values, _with_other(map(label, values)))


def merged(
    rows: CodedRows,
    line: int,
    bases: Sequence[int],
    values: Sequence[str],
    n_bins: int,
    most: int,
    must_stay: bool,
    order: Sequence[int],
    classes: Classes | None = None,
) -> Merged:
    """Merge the values of one line of coded rows, by their targets or by how frequent they are.

    The line is as `one_by_one` codes it, and `bases` have the number of codes of every line, the
    one for missing included. There may be `n_bins` groups of values that are alike, or `most` of
    frequent ones. The rest is as in `cross_fitted`.
    """
    target = classes or Classes(rows.codes[-1], bases[-1] - 1)
    shape = len(values), target.number
    counts = table_of(rows.codes[line], target.codes, rows.weights, shape)
    alike = by_target(counts, n_bins)
    frequent = by_frequency(counts, min(most, len(values) + 1))
    best = alike if alike.told > max(frequent.told, 0.0) else frequent
    if best.told <= 0 and not must_stay:
        return Merged(rows, (), TELLS_NOTHING)
    labels = _group_labels(values, best.learn(counts), counts.sum(axis=1), best.n_groups - 1)
    found = cross_fitted(rows, line, bases, len(values), best, order, target)
    if best is alike:
        treatment = f"{len(labels)} groups of {len(values)} values, by what they tell,"
    else:
        treatment = f"{len(labels)} most frequent values"
    if not (found.codes[line] == best.n_groups - 1).any():
        is_missing = found.codes[line] == best.n_groups
        found.codes[line][is_missing] = best.n_groups - 1
        return Merged(found, labels, treatment.rstrip(","))
    labels = _with_other(labels)
    return Merged(found, labels, f"{treatment} and {labels[-1]}")


def _group_labels(
    values: Sequence[str], groups: NDArray[np.int64], rows: NDArray[np.int64], n_groups: int
) -> tuple[str, ...]:
    """The most frequent values of every group, and how many there are."""
    labels = []
    for group in range(n_groups):
        held = np.flatnonzero(groups == group)
        names = [label(values[place]) for place in held[np.argsort(-rows[held], kind="stable")]]
        more = f", … ({len(names)} values)" if len(names) > NAMED else ""
        labels.append(", ".join(names[:NAMED]) + more if names else f"group {group + 1}")
    return tuple(labels)


def _with_other(labels: Sequence[str] | map[str]) -> tuple[str, ...]:
    named = tuple(labels)
    return (*named, "other" if "other" not in named else "(other)")
