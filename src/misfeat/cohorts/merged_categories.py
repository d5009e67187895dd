"""Columns of many categories, merged into few without a look at the target.

Groups that are learned from the target explain it by chance, and permuting the target afterwards
does not make up for that. Frequencies, the order of values and other features decide instead, so
that tests hold whatever a column is.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from misfeat.cohorts.column_profiles import Profile
from misfeat.reading.coders import CategoryCoder, CodedRows
from misfeat.reading.table_statistics import quantiles_of_counts
from misfeat.reading.values import MISSING_LABEL, label
from misfeat.runtime.array_types import Flags, Indices, Integers

Others = Mapping[str, tuple[int, tuple[str, ...]]]
FEWEST_ROWS = 5  # Rarer values are merged
MOST_VALUES = 500  # So many values are looked at one by one; all others are merged
RECORDED = "recorded"  # The one category of a column that is a feature by its gaps alone
BY_GAPS = "recorded or not"  # How such a column is treated
ENOUGH_BITS = 10.0  # Other rows must be 1,000 times as likely with it as without


class Merged(NamedTuple):
    """The groups that the values of a column are merged into."""

    codes: Integers  # The group of every row; as many as there are labels where it is missing
    labels: tuple[str, ...]
    treatment: str


def merge_neighbours(
    rows: CodedRows, line: int, others: Others, values: Sequence[str], *, bins: int, most: int
) -> Merged:
    """Merge neighbours among values that have an order, into bins that are about equally full."""
    # Where a value determines that of another feature, so does its bin: else the other would seem
    # to add what merging lost. `others` has the lines of other features, and what their codes mean.
    n, codes = len(values), rows.codes[line]
    cells = _determined(rows, line, n, others, most)[1]
    cell_of, sizes = np.zeros(n, dtype=np.int64), np.bincount(codes, rows.weights, minlength=n)
    cell_of[codes[codes < n]] = cells[codes < n]
    shares = [Fraction(share, bins) for share in range(1, bins)]
    cuts = set(quantiles_of_counts(np.arange(n), sizes[:n].astype(np.int64), shares)) - {n - 1}
    changes = np.flatnonzero(np.diff(cell_of)).tolist()
    edges = sorted({*cuts, *changes} if len(changes) < most else cuts)
    spans = zip([0, *(edge + 1 for edge in edges)], [*edges, n - 1], strict=True)
    labels = tuple(values[a] if a == b else f"{values[a]} to {values[b]}" for a, b in spans)
    groups = np.append(np.searchsorted(edges, np.arange(n)), len(labels))
    return Merged(groups[codes], labels, f"{len(labels)} bins in the order of the categories")


def merge_rare(
    rows: CodedRows, line: int, others: Others, values: Sequence[str], *, most: int
) -> Merged:
    """Keep the most frequent values, and merge all others, as in `merge_neighbours`."""
    # The line is as `common_values` codes it: after the values comes what is too rare to be looked
    # at. What is merged is told apart by the features that the values determine.
    n, codes = len(values), rows.codes[line]
    sizes = np.bincount(codes, rows.weights, minlength=n)[:n]
    by, cells = _determined(rows, line, n, others, most)
    kept = np.sort(np.argsort(-sizes, kind="stable")[: most - 1])
    group_of = np.full(n + 2, len(kept))
    group_of[kept] = np.arange(len(kept))
    groups, missing = group_of[codes], codes == n + 1
    merged = (groups == len(kept)) & ~missing
    labels, treatment = tuple(values[value] for value in kept), f"{len(kept)} most frequent values"
    present, first = np.unique(cells[merged], return_index=True)
    groups[merged] += np.searchsorted(present, cells[merged])
    if len(present):
        other = with_other(labels)[-1]
        named = [other] * len(present)
        for name in by:
            line, meant = others[name]
            own = [(*meant, MISSING_LABEL)[code] for code in rows.codes[line][merged][first]]
            named = [f"{one}, {name}={code}" for one, code in zip(named, own, strict=True)]
        labels = (*labels, *named)
        treatment += f", and {other} by {' and '.join(by)}" if by else f" and {other}"
    return Merged(np.where(missing, len(labels), groups), labels, treatment)


def _determined(
    rows: CodedRows, line: int, n: int, others: Others, most: int
) -> tuple[list[str], Integers]:
    """The features that the first `n` codes of a line determine, and a code of them together."""
    # Values of few rows each would determine anything, and rare values of others what is constant.
    values, named = rows.codes[line], rows.codes[line] < n
    names, cells = [], np.zeros(len(values), dtype=np.int64)
    sizes = np.bincount(values[named], rows.weights[named], minlength=n)
    common = sizes >= FEWEST_ROWS
    often = sizes.sum() >= FEWEST_ROWS * np.count_nonzero(sizes)
    for name, (other, _) in others.items() if often else ():
        codes = rows.codes[other]
        code_of = np.zeros(n, dtype=codes.dtype)
        code_of[values[named]] = codes[named]
        varies = len(np.unique(code_of[common])) > 1
        if varies and (code_of[values[named]] == codes[named]).all():
            joint = cells * (int(codes.max(initial=0)) + 1) + codes
            found, together = np.unique(joint, return_inverse=True)
            if int(cells.max(initial=0)) + 1 < len(found) <= most:
                names.append(name)
                cells = together.ravel().astype(np.int64)
    return names, cells


def lost_bits(
    values: Indices, merged: Merged, classes: Indices, weights: Integers, n: int
) -> float:
    """What values explain of other rows' classes, `n` of them, beyond their groups, in bits."""
    present = np.where(merged.codes < len(merged.labels), classes, n)
    fine, coarse = (
        left_out_gain(count_by_class(codes, present, weights, (int(codes.max(initial=0)) + 1, n)))
        for codes in (values, merged.codes)
    )
    return (fine - coarse) / max(int(weights[present < n].sum()), 1)


def gaps_explain(
    rows: CodedRows, missing: Flags, n_groups: int, classes: Indices, n_classes: int
) -> bool:
    """Whether being missing explains the target, in groups of which some rows are not missing."""
    groups = np.vstack([np.zeros_like(classes), rows.codes[:n_groups]])
    of_group = np.unique(groups, axis=1, return_inverse=True)[1].ravel()
    both = np.bincount(of_group, missing) * np.bincount(of_group, ~missing) > 0
    known = np.where(both[of_group], classes, n_classes)
    counts = count_by_class(missing.astype(np.int64), known, rows.weights, (2, n_classes))
    return left_out_gain(counts) >= ENOUGH_BITS


def left_out_gain(counts: Integers) -> float:
    """Bits by which values predict classes, each row by all others, from rows by both."""
    overall = (counts.sum(axis=0) + 1) / (counts.sum() + counts.shape[1])
    others = np.maximum(counts - 1, 0) + overall
    shares = others / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return float((counts * np.log2(shares / overall)).sum())


def count_by_class(
    values: Indices, classes: Indices, weights: Integers, shape: Sequence[int]
) -> Integers:
    """Rows by value and class, of those rows whose codes the shape holds."""
    held = (values < shape[0]) & (classes < shape[1])
    key = values[held].astype(np.int64) * shape[1] + classes[held]
    counted = np.bincount(key, weights=weights[held], minlength=shape[0] * shape[1])
    return counted.astype(np.int64).reshape(shape)


def common_values(profile: Profile, fewest: int = FEWEST_ROWS) -> CategoryCoder:
    """A coder of the values with enough rows, at most `MOST_VALUES`; the rest become one."""
    assert profile.counts is not None  # noqa: S101  (identifiers were left out before)
    counts = profile.counts.counts
    kept = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    values = tuple(profile.counts.values[np.sort(kept[counts[kept] >= fewest])].tolist())
    return CategoryCoder(profile.reading, values, with_other(map(label, values)))


def with_other(labels: Iterable[str]) -> tuple[str, ...]:
    """Labels, and one for all other values."""
    named = tuple(labels)
    return (*named, "other" if "other" not in named else "(other)")
