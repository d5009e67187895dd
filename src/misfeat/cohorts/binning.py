"""Bins: edges of numbers and dates, and categories that are merged into few."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.exceptions import MisfeatError, Setting
from misfeat.reading.coders import CategoryCoder, CodedRows, collapse
from misfeat.reading.values import LARGEST_INTEGER, Value, canonical, label, read_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts.profiles import Profile

    Counts = NDArray[np.int64]
    Groups = NDArray[np.int64]
    Learn = Callable[[Counts], Groups]


MOST_BINS = 250
MOST_CUT_POINTS = 1000


@dataclass(frozen=True)
class BinRules:
    """How many bins, and where."""

    bins: int = 5
    strategy: str = "quantile"
    """{"quantile", "uniform"}: equally full or equally wide."""
    by_column: Mapping[str, int | tuple[Value, ...]] = field(default_factory=dict)
    """Another number, or the cut points themselves, for single columns."""

    @classmethod
    def parse(cls, bins: object, strategy: str) -> BinRules:
        """Read the parameters ``bins`` (a number, or a dict by column) and ``binning``."""
        if not isinstance(bins, Mapping):
            return cls(_number_of_bins(bins), strategy)
        columns = {
            column: _number_of_bins(rule, column)
            if _is_integer(rule)
            else cut_points(rule, "bins", column)
            for column, rule in bins.items()
        }
        everywhere = columns.pop("*", cls.bins)
        if not isinstance(everywhere, int):
            raise MisfeatError(
                "{setting}; it must be a number of bins, such as 5.",
                setting=Setting("bins", bins["*"], column="*"),
            )
        return cls(everywhere, strategy, columns)


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _number_of_bins(value: Any, column: str | None = None) -> int:
    if not _is_integer(value) or not 2 <= value <= MOST_BINS:
        raise MisfeatError(
            "{setting}; it must be an integer from 2 to {most}.",
            setting=Setting("bins", value, column=column),
            most=MOST_BINS,
        )
    return int(value)


def cut_points(points: object, parameter: str, column: str | None = None) -> tuple[Value, ...]:
    """Check cut points: numbers or dates (ISO text will do), ascending, at least one.

    Messages name the parameter that they are given in, and the column that they cut.

    Examples
    --------
    >>> cut_points(["40", 65.5], "bins", "age")
    (40, 65.5)
    """
    setting = Setting(parameter, points, column=column)
    if not isinstance(points, Sequence | np.ndarray) or isinstance(points, str) or not len(points):
        raise MisfeatError(
            "{setting}; give cut points, such as {example}.",
            setting=setting,
            example=Setting(parameter, [40, 65], column=column),
        )
    parsed = tuple(map(_cut_point, points))
    if None in parsed:
        raise MisfeatError(
            "{setting}: {point!r} is neither a number nor a date.",
            setting=setting,
            point=points[parsed.index(None)],
        )
    if any(isinstance(p, int) and abs(p) > LARGEST_INTEGER for p in parsed):
        raise MisfeatError(
            "{setting} holds an integer that 64 bits do not; give cut points between -2**63 and "
            "2**63.",
            setting=setting,
        )
    if len(parsed) > MOST_CUT_POINTS:
        raise MisfeatError(
            "{setting} has {n:,} cut points; give at most {most:,}.",
            setting=setting,
            n=len(parsed),
            most=MOST_CUT_POINTS,
        )
    if len({isinstance(point, int | float) for point in parsed}) > 1:
        raise MisfeatError("{setting} mixes numbers and dates; give one kind.", setting=setting)
    if any(a >= b for a, b in itertools.pairwise(parsed)):
        raise MisfeatError("{setting} must ascend, without repeats.", setting=setting)
    return parsed


def _cut_point(point: object) -> Value:
    if isinstance(point, str):
        number = read_number(point)
        try:
            return canonical(dt.datetime.fromisoformat(point) if number is None else number)
        except ValueError:
            return None
    value = canonical(point)
    return None if isinstance(value, bool | str) else value


def quantile_edges(
    values: NDArray[Any], counts: NDArray[np.int64], bins: int, part: int = 0, parts: int = 1
) -> tuple[Value, ...]:
    """Edges that fill the bins as equally as ties allow; each edge is a value of the column.

    Edge k is the smallest value with at least k/bins of the rows at or below it. Counts are
    integers, so no rounding enters. All edges may be moved up by part/parts of a bin, where the
    first bin is what is cut off below them.

    Examples
    --------
    >>> quantile_edges(np.array([1, 2, 3, 4]), np.array([1, 1, 1, 1]), bins=2)
    (2,)
    >>> quantile_edges(np.array([1, 2, 3, 4]), np.array([1, 1, 1, 1]), bins=2, part=1, parts=2)
    (1, 3)
    """
    cumulative = np.cumsum(counts)
    numerators = np.array(_numerators(bins, part, parts), dtype=np.int64)
    wanted = numerators * int(cumulative[-1])
    positions = np.unique(np.searchsorted(cumulative * (bins * parts), wanted, side="left"))
    return tuple(canonical(values[p]) for p in positions if p < len(values) - 1)


def quantile_levels(bins: int, part: int = 0, parts: int = 1) -> list[Fraction]:
    """The shares of rows at or below the edges of `quantile_edges`, at least."""
    return [Fraction(numerator, bins * parts) for numerator in _numerators(bins, part, parts)]


def _numerators(bins: int, part: int, parts: int) -> list[int]:
    return [n for n in range(part, bins * parts, parts) if n > 0]


def uniform_edges(low: Value, high: Value, bins: int) -> tuple[Value, ...]:
    """Edges that make the bins equally wide."""
    if isinstance(low, dt.datetime):
        return tuple(low + (high - low) * k / bins for k in range(1, bins))
    if np.isfinite(high - low):
        return tuple(canonical(low + (high - low) * k / bins) for k in range(1, bins))
    return tuple(canonical(low * (1 - k / bins) + high * (k / bins)) for k in range(1, bins))


def interval_labels(edges: Sequence[Value]) -> tuple[str, ...]:
    """Labels of the bins between edges.

    Examples
    --------
    >>> interval_labels([40, 65])
    ('<=40', '(40, 65]', '>65')
    """
    cuts = _short_labels(edges)
    inner = [f"({a}, {b}]" for a, b in itertools.pairwise(cuts)]
    return (f"<={cuts[0]}", *inner, f">{cuts[-1]}") if cuts else ("any",)


def _short_labels(edges: Sequence[Value]) -> list[str]:
    """Six digits tell edges apart, or else all of them are shown."""
    short = [f"{edge:.6g}" if isinstance(edge, float) else label(edge) for edge in edges]
    return short if len(set(short)) == len(short) else [label(edge) for edge in edges]


FOLDS = 5
MOST_SHUFFLED = 1_000_000
"""Of more rows, every row draws its fold by itself."""
FEWEST_ROWS = (5, 20, 50, 100)
"""Values with fewer rows are merged with all others; the limit that tells most is taken."""
SHRINKAGE = 10.0
"""The overall shares of classes count as so many rows of every value."""
MOST_VALUES = 500
"""So many values are looked at one by one; all others are merged."""
NAMED = 2
"""Values that the label of a group names."""
TELLS_NOTHING = "its many values tell nothing of rows that they were not merged by"


@dataclass(frozen=True)
class Merger:
    """A way to merge values, and what it tells."""

    learn: Learn
    """Gives the group of every value from rows by value and class; the last group holds values that
    are merged with all others."""
    n_groups: int
    told: float
    """What groups tell of rows that they were not learned from, in bits per row."""


def by_frequency(counts: Counts, n_groups: int) -> Merger:
    """The most frequent values each by itself, all others together; the target has no say.

    `counts` are the rows of every value and class.
    """

    def learn(_: Counts) -> Groups:
        return _most_frequent(counts.sum(axis=1), n_groups)

    return Merger(learn, n_groups, told_of_others(split(counts), learn))


def by_target(counts: Counts, n_groups: int) -> Merger:
    """Values whose rows have similar targets together, as many groups of common values as asked.

    One more group holds all values that are too rare.
    """
    splits = split(counts)
    rows = np.sort(np.concatenate([learned.sum(axis=1) for learned, _ in splits]))
    tried: dict[int, Merger] = {}
    for fewest in FEWEST_ROWS:
        rare = int(np.searchsorted(rows, fewest))
        if rare in tried:
            continue  # the same values are rare as with the limit before

        def learn(learned: Counts, fewest: int = fewest) -> Groups:
            return _similar(learned, n_groups, fewest)

        tried[rare] = Merger(learn, n_groups + 1, told_of_others(splits, learn))
    return max(tried.values(), key=lambda one: one.told)


class Split(NamedTuple):
    """Rows by value and class: those to learn groups from, and those to try them on."""

    learned: Counts
    tried: Counts


def split(counts: Counts) -> list[Split]:
    """Rows by value and class, in as many ways as there are folds, each held out once."""
    folds = (fold.reshape(counts.shape) for fold in dealt_out(counts.ravel()))
    return [Split(counts - held_out, held_out) for held_out in folds]


def told_of_others(splits: Sequence[Split], learn: Learn) -> float:
    """Bits per row by which groups that were learned from some rows predict the others."""
    told, rows = 0.0, 0
    for rest, tried in splits:
        groups = learn(rest)
        overall = (rest.sum(axis=0) + 1) / (rest.sum() + rest.shape[1])
        learned, new = _by_group(rest, groups), _by_group(tried, groups)
        shares = (learned + overall) / (learned.sum(axis=1, keepdims=True) + 1)
        told += float((new * np.log2(shares / overall)).sum())
        rows += int(tried.sum())
    return told / max(rows, 1)


class Classes(NamedTuple):
    """The class of every row, and how many there are; where a target is missing, that number."""

    codes: NDArray[np.integer]
    number: int


def cross_fitted(
    rows: CodedRows,
    line: int,
    bases: Sequence[int],
    n_values: int,
    merger: Merger,
    order: Sequence[int] | None = None,
    classes: Classes | None = None,
) -> CodedRows:
    """Coded rows in which the values of one line are merged, each row by what others tell.

    The line holds codes of values, one for all other values, and one for missing; afterwards codes
    of groups, all other values in the last one, and then missing. The classes to learn from are the
    codes of the target, the last line, unless others are given; rows without one are not learned
    from. Rows are sorted by the lines in `order` before they are dealt out to folds, so that the
    order of columns in the table does not matter.
    """
    values, target = rows.codes[line], classes or Classes(rows.codes[-1], bases[-1] - 1)
    folds = [np.empty_like(rows.weights) for _ in range(FOLDS)]
    places = np.lexsort(rows.codes if order is None else rows.codes[list(order)])
    for fold, dealt in zip(folds, dealt_out(rows.weights[places]), strict=True):
        fold[places] = dealt
    tables = [table_of(values, target.codes, fold, (n_values, target.number)) for fold in folds]
    total = np.sum(tables, axis=0)
    parts, before = [], np.zeros_like(rows.weights)
    for fold, held_out in zip(folds, tables, strict=True):
        others, missing = merger.n_groups - 1, merger.n_groups
        code_of = np.array([*merger.learn(total - held_out), others, missing])
        codes = rows.codes[:, fold > 0]
        codes[line] = code_of[codes[line]]
        more = [_share(one, rows.weights, before, fold)[fold > 0] for one in rows.more]
        parts.append(CodedRows(codes, fold[fold > 0], *more))
        before = before + fold
    return collapse(
        list(np.concatenate([part.codes for part in parts], axis=1)),
        np.concatenate([part.weights for part in parts]),
        [*bases[:line], merger.n_groups + 1, *bases[line + 1 :]],
        [np.concatenate(held) for held in zip(*(part.more for part in parts), strict=True)],
    )


def _share(
    sums: NDArray[np.int64],
    weights: NDArray[np.int64],
    before: NDArray[np.int64],
    fold: NDArray[np.int64],
) -> NDArray[np.int64]:
    """What belongs to a fold of the sums of rows; all folds together have them whole."""
    every = np.maximum(weights, 1)
    until, since = (np.floor(sums * (held / every)) for held in (before + fold, before))
    shared: NDArray[np.int64] = np.maximum(until - since, 1.0).astype(np.int64)
    return shared


def table_of(
    values: NDArray[np.integer],
    target: NDArray[np.integer],
    weights: NDArray[np.int64],
    shape: tuple[int, int],
) -> Counts:
    """Rows by value and class, of those rows whose codes the shape holds."""
    held = (values < shape[0]) & (target < shape[1])
    key = values[held].astype(np.int64) * shape[1] + target[held]
    counted = np.bincount(key, weights=weights[held], minlength=shape[0] * shape[1])
    return counted.astype(np.int64).reshape(shape)


def dealt_out(weights: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Rows, given by how many are alike, dealt out to folds at random, the same way every time.

    Folds are equally large, or nearly so where there are very many rows.
    """
    chance = np.random.default_rng(0)
    if weights.sum() > MOST_SHUFFLED:
        drawn = chance.multinomial(weights, [1 / FOLDS] * FOLDS)
        return [np.ascontiguousarray(fold) for fold in drawn.T]
    fold_of = np.arange(int(weights.sum())) % FOLDS
    chance.shuffle(fold_of)
    place = np.repeat(np.arange(len(weights)) * FOLDS, weights) + fold_of
    dealt = np.bincount(place, minlength=len(weights) * FOLDS).astype(np.int64)
    return list(np.ascontiguousarray(dealt.reshape(-1, FOLDS).T))


def _most_frequent(rows: NDArray[np.int64], n_groups: int) -> Groups:
    groups = np.full(len(rows), n_groups - 1, dtype=np.int64)
    kept = np.sort(np.argsort(-rows, kind="stable")[: n_groups - 1])
    groups[kept] = np.arange(len(kept))
    return groups


def _similar(counts: Counts, n_groups: int, fewest: int) -> Groups:
    """Groups of about as many rows each, along the direction in which shares of classes differ."""
    rows = counts.sum(axis=1)
    overall = counts.sum(axis=0) / max(counts.sum(), 1)
    shares = (counts + SHRINKAGE * overall) / (rows + SHRINKAGE)[:, None]
    common = np.flatnonzero(rows >= fewest)
    groups = np.full(len(rows), n_groups, dtype=np.int64)
    if not len(common):
        return groups
    apart = shares[common] - overall
    order = common[np.argsort(apart @ _direction(apart, rows[common]), kind="stable")]
    middles = np.cumsum(rows[order]) - rows[order] / 2
    groups[order] = np.minimum(middles * n_groups // rows[order].sum(), n_groups - 1).astype(int)
    return groups


def _direction(apart: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """The direction in which shares of classes differ most, towards the later classes."""
    found: NDArray[np.float64] = np.linalg.svd(apart * np.sqrt(rows)[:, None], full_matrices=False)[
        2
    ][0]
    return found * (1.0 if found @ np.arange(len(found)) >= 0 else -1.0)


def _by_group(counts: Counts, groups: Groups) -> Counts:
    table = np.zeros((int(groups.max(initial=0)) + 1, counts.shape[1]), dtype=np.int64)
    np.add.at(table, groups, counts)
    return table


@dataclass(frozen=True)
class Merged:
    """Coded rows in which one column has few values left."""

    rows: CodedRows
    """The rows; as they were, where the column is to be left out."""
    labels: tuple[str, ...]
    """What its codes mean; empty where the column is to be left out."""
    treatment: str


def one_by_one(profile: Profile) -> CategoryCoder | None:
    """A coder of the values with enough rows, at most `MOST_VALUES`; None where hardly any has."""
    assert profile.counts is not None  # noqa: S101  (identifiers were left out before)
    counts = profile.counts.counts
    common = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    common = np.sort(common[counts[common] >= FEWEST_ROWS[0]])
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
