"""Subgroups in the rows: which stretches belong to which, what each recorded, and small ones.

Subgroups with too few rows are merged with others that recorded the same, or left out;
`rows_to_tell` says from how many rows on a subgroup is not small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from misfeat.exceptions import Message, MisfeatError, Setting, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from misfeat.cohorts.coding import Coding
    from misfeat.cohorts.rules import Notes


DROPPED = -1
PART_OF_A_COHORT = 10
"""Fewer rows may record a feature, or lack it, by chance."""
BY_CHANCE = 0.001
"""How likely rows may be like this by chance, and are not taken for rows of another kind."""


@dataclass(frozen=True)
class Runs:
    """Stretches of sorted rows that belong to one cohort each."""

    bounds: NDArray[np.int64]
    """Run r holds the rows ``bounds[r]:bounds[r + 1]``."""
    cohort: NDArray[np.int64]
    """The cohort of each run, `DROPPED` for rows that belong to none."""
    codes: NDArray[np.integer]
    """Of shape (n_groupings, n_runs): the codes of the groupings, which are the same throughout a
    run."""
    rows: NDArray[np.int64]
    """Of shape (n_runs,): how many rows of the table each run holds."""
    without: NDArray[np.int64]
    """Of shape (n_features, n_runs): how many of them lack each feature."""

    def of(self, cohort: int) -> list[slice]:
        """The stretches of rows that belong to a cohort."""
        return [
            slice(self.bounds[r], self.bounds[r + 1]) for r in np.flatnonzero(self.cohort == cohort)
        ]

    def in_cohorts(self, by_run: NDArray[np.int64], n_cohorts: int) -> NDArray[np.int64]:
        """Add up what was counted in every run, along the last axis, over those of a cohort."""
        totals = np.zeros((n_cohorts, *by_run.shape[:-1]), dtype=np.int64)
        kept = self.cohort != DROPPED
        np.add.at(totals, self.cohort[kept], by_run.T[kept])
        return totals.T

    def sizes(self, n_cohorts: int) -> NDArray[np.int64]:
        """How many rows of the table each cohort holds."""
        return self.in_cohorts(self.rows, n_cohorts)

    def cohort_of(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """The cohort of each column of grouping codes, `DROPPED` where no run has them."""
        known = dict(zip(map(tuple, self.codes.T.tolist()), self.cohort.tolist(), strict=True))
        found = [known.get(tuple(column), DROPPED) for column in codes.T.tolist()]
        return np.array(found, dtype=np.int64)


def rows_without(
    codes: NDArray[np.integer],
    weights: NDArray[np.int64],
    starts: NDArray[np.int64],
    cardinalities: Iterable[int],
) -> NDArray[np.int64]:
    """How many rows of the table lack each feature, in each run: of shape (n_features, n_runs).

    `cardinalities` are the numbers of codes, the one for missing not counted.
    """
    without = np.zeros((len(codes), len(starts)), dtype=np.int64)
    for feature, (line, cardinality) in enumerate(zip(codes, cardinalities, strict=True)):
        absent = line == cardinality
        if absent.any():
            without[feature] = np.add.reduceat(np.where(absent, weights, 0), starts)
    return without


def joined_recordings(
    runs: Runs, names: Sequence[str], features: Sequence[str], threshold: float
) -> tuple[tuple[str, str], ...]:
    """Cohorts made of several parts, with a feature that some recorded and others did not.

    Of a part with few rows that is said only where they would hardly be like this by chance, had
    they been drawn from the other parts. A feature counts as never recorded from the threshold of
    missing values on.
    """
    if (runs.cohort != DROPPED).sum() == len(names):
        return ()
    parts = _Parts.of(runs, len(names))
    never = parts.without / parts.rows >= threshold
    others_never = parts.others_without / np.maximum(parts.others, 1) >= threshold
    many = parts.rows >= PART_OF_A_COHORT
    apart = (never & ~others_never & parts.hardly_by_chance(recorded=False)) | (
        ~never & others_never & parts.hardly_by_chance(recorded=True)
    )
    apart &= parts.others > 0
    found = []
    for at, feature in enumerate(features):
        for number, name in enumerate(names):
            own = parts.cohort == number
            both_kinds = np.unique(never[at, own & many])
            if len(both_kinds) == 2 or apart[at, own].any():
                found.append((name, feature))
    return tuple(found)


@dataclass(frozen=True)
class _Parts:
    """Parts of cohorts, and the other parts of the same cohort together."""

    without: NDArray[np.int64]
    others_without: NDArray[np.int64]
    """Of shape (n_features, n_parts): rows that lack a feature."""
    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    cohort: NDArray[np.int64]

    @classmethod
    def of(cls, runs: Runs, n_cohorts: int) -> _Parts:
        kept = runs.cohort != DROPPED
        rows, without, cohort = runs.rows[kept], runs.without[:, kept], runs.cohort[kept]
        others = runs.sizes(n_cohorts)[cohort] - rows
        others_without = runs.in_cohorts(runs.without, n_cohorts)[:, cohort] - without
        return cls(without, others_without, rows, others, cohort)

    def hardly_by_chance(self, recorded: bool) -> NDArray[np.bool_]:
        """Where rows drawn from the cohort would hardly record a feature so often, or lack it.

        That k of n rows are of a kind that K of N are has at most the probability
        C(n, k) C(K, k) / C(N, k).
        """
        own = self.rows - self.without if recorded else self.without
        others = self.others - self.others_without if recorded else self.others_without
        bound = (
            _log_choose(self.rows, own)
            + _log_choose(own + others, own)
            - _log_choose(self.rows + self.others, own)
        )
        hardly: NDArray[np.bool_] = bound < np.log(BY_CHANCE)
        return hardly


def _log_choose(n: NDArray[np.int64], k: NDArray[np.int64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return found


SMALL = "other"
"""The name of the cohort that small subgroups are merged into."""
MOST_FEATURES = 3
"""So many features are named in the name of a merged cohort."""
MOST_NAMED = 10
"""So many subgroups are named in a message."""
_KEPT_BY = Message(
    " So few could not tell a pair of features from chance; {keep} keeps them.",
    keep=Setting("min_rows", 1),
)
TELLS = 0.2
"""A pair that tells this share of the target must be clear of chance."""
DEVIATIONS = 2.0
"""So many standard deviations of chance."""


@dataclass(frozen=True)
class Recorded:
    """What subgroups recorded."""

    features: tuple[str, ...]
    sizes: NDArray[np.int64]
    """Of shape (n_subgroups,): how large each subgroup is: its rows, or how many of equal weight
    they are worth."""
    rows: NDArray[np.int64]
    without: NDArray[np.int64]
    """Of shape (n_subgroups, n_features): how many of them lack each feature."""
    threshold: float
    """From this share of missing values on a feature counts as never recorded."""

    @property
    def never(self) -> NDArray[np.bool_]:
        """Which subgroups never recorded which features."""
        never: NDArray[np.bool_] = self.without / self.rows[:, None] >= self.threshold
        return never

    def joined(self, parts: Sequence[NDArray[np.int64]]) -> Recorded:
        """The same of subgroups that are joined from parts."""
        sizes, rows = (
            np.array([one[part].sum() for part in parts], dtype=np.int64)
            for one in (self.sizes, self.rows)
        )
        without = np.array([self.without[part].sum(axis=0) for part in parts], dtype=np.int64)
        return replace(self, sizes=sizes, rows=rows, without=without)


def settle_small(
    runs: Runs,
    names: list[str],
    recorded: Recorded,
    coding: Coding,
    floor: int,
    notes: Notes,
) -> tuple[Runs, list[str]]:
    """Merge or drop the subgroups with too few rows, and say which.

    Small is what has fewer than `floor` rows, where `coding` says nothing else.
    """
    sizes = recorded.sizes
    least = _least_rows(coding, sizes, floor)
    small = np.flatnonzero(sizes < least.value)
    if not len(small):
        return runs, names
    shown = _small_ones(names, sizes, small)
    large = np.flatnonzero(sizes >= least.value)
    together = int(sizes[small].sum())
    merging = coding.small_groups == "merge"
    if not merging and not len(large):
        raise MisfeatError(
            "Every subgroup has fewer than {least} rows: {shown}.",
            remedy="Lower it.",
            least=least,
            shown=shown,
        )
    merged = _merged(small, recorded, least.value) if merging else []
    others = _merged_names(recorded.joined(merged)) if merging else []
    fate = f"are merged into {listed(others)}" if merging else "are left out"
    chosen = coding.min_rows is None
    notes.add(
        "Subgroups with fewer than {least} rows {fate}: {shown}.{remedy}",
        least=least,
        fate=fate,
        shown=shown,
        remedy=_KEPT_BY if chosen else "",
    )
    if merging and together < least.value and not chosen:
        notes.warn(
            "The merged subgroup {name!r} has {rows:,} rows, still fewer than {least}; lower it, "
            "or use {dropping}.",
            name=SMALL,
            rows=together,
            least=least,
            dropping=Setting("small_groups", "drop"),
        )
    renumbered = np.full(len(names) + 1, DROPPED, dtype=np.int64)
    renumbered[large] = np.arange(len(large))
    for number, part in enumerate(merged, len(large)):
        renumbered[part] = number
    return replace(runs, cohort=renumbered[runs.cohort]), [*(names[i] for i in large), *others]


def _merged(small: NDArray[np.int64], recorded: Recorded, least: int) -> list[NDArray[np.int64]]:
    """Small subgroups put together where they recorded the same.

    What has still too few rows joins those that recorded most nearly the same. The subgroups of
    each come in their order, and first comes what lacks the fewest features.
    """
    patterns, number = np.unique(recorded.never[small], axis=0, return_inverse=True)
    parts = [small[number.ravel() == one] for one in range(len(patterns))]
    enough = max(least, PART_OF_A_COHORT)
    while len(parts) > 1:
        found = recorded.joined(parts)
        few = int(np.argmin(found.sizes))
        if found.sizes[few] >= enough:
            break
        apart = (found.never != found.never[few]).sum(axis=1)
        apart[few] = len(found.features) + 1
        nearest = min(range(len(parts)), key=lambda one: (apart[one], -found.sizes[one]))
        parts[nearest] = np.sort(np.concatenate([parts[nearest], parts[few]]))
        del parts[few]
    lacking = recorded.joined(parts).never.sum(axis=1)
    return [parts[one] for one in np.argsort(lacking, kind="stable")]


def _merged_names(recorded: Recorded) -> list[str]:
    """Names of merged subgroups: by what they lack, where others of them recorded it."""
    never = recorded.never
    telling = never.any(axis=0) & ~never.all(axis=0)
    return [_merged_name(np.flatnonzero(lacks & telling), recorded.features) for lacks in never]


def _merged_name(lacking: NDArray[np.int64], features: Sequence[str]) -> str:
    if not len(lacking):
        return SMALL
    shown = ", ".join(features[feature] for feature in lacking[:MOST_FEATURES])
    more = len(lacking) - MOST_FEATURES
    return f"{SMALL} without {shown}" + (f" and {more:,} more" if more > 0 else "")


def _least_rows(coding: Coding, sizes: NDArray[np.int64], floor: int) -> Setting:
    """The parameter that says from how many rows on a subgroup is not small.

    Where none was asked for, it is the floor, unless nothing would be left above it, or a single
    subgroup would be merged with no other.
    """
    least = coding.min_rows
    if least is None:
        small = int((sizes < floor).sum())
        pointless = small == 1 and coding.small_groups == "merge"
        least = 1 if small == len(sizes) or pointless else floor
    return Setting("min_rows", int(least))


def _small_ones(names: list[str], sizes: NDArray[np.int64], small: NDArray[np.int64]) -> str:
    """The small subgroups with their rows."""
    shown = ", ".join(f"{names[i]} ({sizes[i]:,})" for i in small[:MOST_NAMED])
    more = len(small) - MOST_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def rows_to_tell(cardinalities: Sequence[int], by_class: ArrayLike) -> int:
    """The rows that tell a pair of usual features from chance; 1 where there is nothing to tell.

    If two features tell nothing, the score of their pair in N rows is about chi-squared over 2 N,
    with (cells - 1)(classes - 1) degrees of freedom, d: what it exceeds its mean by has the
    standard deviation sqrt(2 d) / (2 N). A pair that tells a fifth of the target is clear of that
    by two standard deviations from

        N = 2 sqrt(2 d) / (2 * 0.2 * H)

    rows on, H being the entropy of the target. With two features of five values and two classes
    that are equally common it is 50 rows; with two values each, 18; with five values and 1 % of
    cases, 619. The pair is one of two features with the median number of values; `by_class` are
    the rows of each class in the whole table.

    Examples
    --------
    >>> rows_to_tell([5, 5, 2, 5], [500, 500]), rows_to_tell([2, 2], [500, 500])
    (50, 18)
    """
    counts = np.asarray(by_class, dtype=np.float64)
    shares = counts[counts > 0] / max(counts.sum(), 1.0)
    entropy = float(-(shares * np.log(shares)).sum())
    if not len(cardinalities) or len(shares) < 2:
        return 1
    cells = float(np.median(cardinalities)) ** 2
    freedom = max(cells - 1, 1.0) * (len(shares) - 1)
    return max(ceil(DEVIATIONS * sqrt(2 * freedom) / (2 * TELLS * entropy)), 1)
