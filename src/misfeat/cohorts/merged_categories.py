"""Columns of many categories, merged into few: by their targets, or by how frequent they are.

Groups that are learned from the target would explain the rows that they were learned from by chance
alone. They are therefore cross-fitted: a row's group is learned from the rows of the other folds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.reading.coders import CategoryCoder, CodedRows, collapse
from misfeat.reading.values import label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.column_profiles import Profile

    Codes = NDArray[np.integer]
    Counts = NDArray[np.int64]
    Groups = NDArray[np.int64]
    Learn = Callable[[Counts], Groups]


FOLDS = 5
MOST_SHUFFLED = 1_000_000  # Of more rows, every row draws its fold by itself
FEWEST_ROWS = (5, 20, 50, 100)  # Rarer values are merged; the limit that explains most is taken
SHRINKAGE = 10.0  # The overall shares of classes count as so many rows of every value
MOST_VALUES = 500  # So many values are looked at one by one; all others are merged
NAMED = 2  # Values that the label of a group names
TELLS_NOTHING = "its categories carry no out-of-sample information"
RECORDED = "recorded"  # The one category of a column that is a feature by its gaps alone
BY_GAPS = "recorded or not"  # How such a column is treated
ENOUGH_BITS = 10.0  # Other rows must be 1,000 times as likely with it as without


class Merger(NamedTuple):
    """A way to merge values, and how much it explains."""

    learn: Learn  # The group of each value, from rows by value and class; the last holds the rest
    n_groups: int
    gain: float  # What groups explain of rows that they were not learned from, in bits per row


def merge_values(
    rows: CodedRows,
    line: int,
    bases: Sequence[int],
    values: Sequence[str],
    *,
    n_bins: int,
    most: int,
    must_stay: bool,
    n_groups: int,
    why: str,
    order: Sequence[int],
    classes: Codes,
    n_classes: int,
) -> tuple[CodedRows, tuple[str, ...], str]:
    """Merge the values of a line, by their targets or by how frequent they are.

    Gives the rows, what the codes of the line mean (nothing where it is to be left out), and the
    treatment. Where values explain nothing, or are not looked at, as `why` says, gaps may. The line
    is as `common_values` codes it; `bases` have the number of codes of every line, the one for
    missing included, and the first `n_groups` lines those of groups. The rest is as in
    `cross_fitted`.
    """
    counts = count_by_class(rows.codes[line], classes, rows.weights, (len(values), n_classes))
    alike = by_target(counts, n_bins)
    frequent = by_frequency(counts, min(most, len(values) + 1))
    best = alike if alike.gain > max(frequent.gain, 0.0) else frequent
    if best.gain <= 0 and not must_stay:
        missing = rows.codes[line] == bases[line] - 1
        if not _gaps_explain(rows, missing, n_groups, classes, n_classes):
            return rows, (), why
        codes, left = list(rows.codes), [*bases[:line], 2, *bases[line + 1 :]]
        codes[line] = missing.astype(np.int8)
        by_gaps = collapse(codes, rows.weights, left, rows.more)
        return by_gaps, (RECORDED,), f"{BY_GAPS} ({why})"
    labels = _group_labels(values, best.learn(counts), counts.sum(axis=1), best.n_groups - 1)
    merged = cross_fitted(rows, line, bases, best, counts.shape, order, classes)
    treatment = f"{len(labels)} most frequent values"
    if best is alike:
        treatment = f"{len(labels)} groups of {len(values)} values, by the target"
    if (merged.codes[line] == best.n_groups - 1).any():
        labels, comma = with_other(labels), "," if best is alike else ""
        return merged, labels, f"{treatment}{comma} and {labels[-1]}"
    merged.codes[line][merged.codes[line] == best.n_groups] = best.n_groups - 1
    return merged, labels, treatment


def _gaps_explain(
    rows: CodedRows, missing: NDArray[np.bool_], n_groups: int, classes: Codes, n_classes: int
) -> bool:
    """Whether being missing explains the target, in groups of which some rows are not missing."""
    groups = np.vstack([np.zeros_like(classes), rows.codes[:n_groups]])
    of_group = np.unique(groups, axis=1, return_inverse=True)[1].ravel()
    both = np.bincount(of_group, missing) * np.bincount(of_group, ~missing) > 0
    known = np.where(both[of_group], classes, n_classes)
    counts = count_by_class(missing.astype(np.int64), known, rows.weights, (2, n_classes))
    gain = _held_out_gain(_splits(counts), lambda _: np.arange(2))
    return gain * int(counts.sum()) >= ENOUGH_BITS


def by_frequency(counts: Counts, n_groups: int) -> Merger:
    """The most frequent values each by itself, all others together; the target has no say."""
    rows = counts.sum(axis=1)
    groups = np.full(len(rows), n_groups - 1, dtype=np.int64)
    kept = np.sort(np.argsort(-rows, kind="stable")[: n_groups - 1])
    groups[kept] = np.arange(len(kept))
    return Merger(lambda _: groups, n_groups, _held_out_gain(_splits(counts), lambda _: groups))


def by_target(counts: Counts, n_groups: int) -> Merger:
    """Values with similar targets together; one more group holds all values that are too rare."""
    splits = _splits(counts)
    learners = [partial(_similar, n_groups=n_groups, fewest=fewest) for fewest in FEWEST_ROWS]
    mergers = [Merger(learn, n_groups + 1, _held_out_gain(splits, learn)) for learn in learners]
    return max(mergers, key=lambda merger: merger.gain)


def _splits(counts: Counts) -> list[tuple[Counts, Counts]]:
    """Rows by value and class to learn from, and those to try groups on, for each fold."""
    folds = (fold.reshape(counts.shape) for fold in random_folds(counts.ravel()))
    return [(counts - held_out, held_out) for held_out in folds]


def _held_out_gain(splits: Sequence[tuple[Counts, Counts]], learn: Learn) -> float:
    """Bits per row by which groups that were learned from some rows predict the others."""
    gain, rows = 0.0, 0
    for rest, tried in splits:
        groups = learn(rest)
        overall = (rest.sum(axis=0) + 1) / (rest.sum() + rest.shape[1])
        learned, new = np.zeros((2, int(groups.max(initial=0)) + 1, rest.shape[1]), dtype=np.int64)
        np.add.at(learned, groups, rest)
        np.add.at(new, groups, tried)
        shares = (learned + overall) / (learned.sum(axis=1, keepdims=True) + 1)
        gain += float((new * np.log2(shares / overall)).sum())
        rows += int(tried.sum())
    return gain / max(rows, 1)


def _similar(counts: Counts, n_groups: int, fewest: int) -> Groups:
    """Groups of about as many rows each, along the direction in which shares of classes differ.

    That direction is the first right singular vector of the shares of classes, less the overall
    ones, weighted by the square roots of the rows; it points towards the later classes.
    """
    rows = counts.sum(axis=1)
    overall = counts.sum(axis=0) / max(counts.sum(), 1)
    shares = (counts + SHRINKAGE * overall) / (rows + SHRINKAGE)[:, None]
    common = np.flatnonzero(rows >= fewest)
    groups = np.full(len(rows), n_groups, dtype=np.int64)
    if not len(common):
        return groups
    apart = shares[common] - overall
    weighted = apart * np.sqrt(rows[common])[:, None]
    direction = np.linalg.svd(weighted, full_matrices=False)[2][0]
    direction = direction * (1.0 if direction @ np.arange(len(direction)) >= 0 else -1.0)
    order = common[np.argsort(apart @ direction, kind="stable")]
    middles = np.cumsum(rows[order]) - rows[order] / 2
    groups[order] = np.minimum(middles * n_groups // rows[order].sum(), n_groups - 1).astype(int)
    return groups


def cross_fitted(
    rows: CodedRows,
    line: int,
    bases: Sequence[int],
    merger: Merger,
    shape: tuple[int, ...],
    order: Sequence[int],
    classes: Codes,
) -> CodedRows:
    """Coded rows in which the values of one line are merged, each row by what others tell.

    The shape has the numbers of values and of classes to learn from. Rows are sorted by the lines
    in `order` before they are split into folds, so that the order of columns in the table does not
    matter.
    """
    values, folds = rows.codes[line], [np.empty_like(rows.weights) for _ in range(FOLDS)]
    sorting = np.lexsort(rows.codes[list(order)])
    for fold, drawn in zip(folds, random_folds(rows.weights[sorting]), strict=True):
        fold[sorting] = drawn
    tables = [count_by_class(values, classes, fold, shape) for fold in folds]
    total = np.sum(tables, axis=0)
    parts, before = [], np.zeros_like(rows.weights)
    for fold, held_out in zip(folds, tables, strict=True):
        others, missing = merger.n_groups - 1, merger.n_groups
        code_of = np.array([*merger.learn(total - held_out), others, missing])
        codes = rows.codes[:, fold > 0]
        codes[line] = code_of[codes[line]]
        # What belongs to the fold of the sums of rows; all folds together have them whole.
        until, since = ((held / np.maximum(rows.weights, 1)) for held in (before + fold, before))
        shares = (np.floor(sums * until) - np.floor(sums * since) for sums in rows.more)
        more = [np.maximum(share, 1.0).astype(np.int64)[fold > 0] for share in shares]
        parts.append(CodedRows(codes, fold[fold > 0], *more))
        before = before + fold
    all_rows = stacked(parts)
    left = [*bases[:line], merger.n_groups + 1, *bases[line + 1 :]]
    return collapse(list(all_rows.codes), all_rows.weights, left, all_rows.more)


def stacked(parts: Sequence[CodedRows]) -> CodedRows:
    """Coded rows one after the other; equal ones are not merged."""
    more = (np.concatenate(sums) for sums in zip(*(part.more for part in parts), strict=True))
    codes = np.concatenate([part.codes for part in parts], axis=1)
    return CodedRows(codes, np.concatenate([part.weights for part in parts]), *more)


def count_by_class(values: Codes, classes: Codes, weights: Counts, shape: Sequence[int]) -> Counts:
    """Rows by value and class, of those rows whose codes the shape holds."""
    held = (values < shape[0]) & (classes < shape[1])
    key = values[held].astype(np.int64) * shape[1] + classes[held]
    counted = np.bincount(key, weights=weights[held], minlength=shape[0] * shape[1])
    return counted.astype(np.int64).reshape(shape)


def random_folds(weights: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Rows, by how many are alike, split at random, the same way every time, into equal folds."""
    rng = np.random.default_rng(0)
    if weights.sum() > MOST_SHUFFLED:
        drawn = rng.multinomial(weights, [1 / FOLDS] * FOLDS)
        return [np.ascontiguousarray(fold) for fold in drawn.T]
    fold_of = np.arange(int(weights.sum())) % FOLDS
    rng.shuffle(fold_of)
    cell = np.repeat(np.arange(len(weights)) * FOLDS, weights) + fold_of
    counts = np.bincount(cell, minlength=len(weights) * FOLDS).astype(np.int64)
    return list(np.ascontiguousarray(counts.reshape(-1, FOLDS).T))


def _group_labels(
    values: Sequence[str], groups: Groups, rows: NDArray[np.int64], n_groups: int
) -> tuple[str, ...]:
    """The most frequent values of every group, and how many there are."""
    labels = []
    for group in range(n_groups):
        held = np.flatnonzero(groups == group)
        names = [label(values[value]) for value in held[np.argsort(-rows[held], kind="stable")]]
        more = f", … ({len(names)} values)" if len(names) > NAMED else ""
        labels.append(", ".join(names[:NAMED]) + more if names else f"group {group + 1}")
    return tuple(labels)


def common_values(profile: Profile) -> CategoryCoder | None:
    """A coder of the values with enough rows, at most `MOST_VALUES`; None where hardly any has."""
    coder = most_frequent(profile, MOST_VALUES + 1, FEWEST_ROWS[0])
    return coder if len(coder.values) > 1 else None


def most_frequent(profile: Profile, most: int, fewest: int = 1) -> CategoryCoder:
    """Keep the most frequent values, ties in the order of the values; the rest become one."""
    assert profile.counts is not None  # noqa: S101  (identifiers were left out before)
    counts = profile.counts.counts
    kept = np.argsort(-counts, kind="stable")[: most - 1]
    values = tuple(profile.counts.values[np.sort(kept[counts[kept] >= fewest])].tolist())
    return CategoryCoder(profile.reading, values, with_other(map(label, values)))


def with_other(labels: Iterable[str]) -> tuple[str, ...]:
    """Labels, and one for all other values."""
    named = tuple(labels)
    return (*named, "other" if "other" not in named else "(other)")
