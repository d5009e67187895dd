"""An open table, looked over once: weights checked, columns counted and groupings made ready.

Everything that is made of a table starts from here, so that its columns are read once.

``groups="auto"`` chooses columns that tell subgroups apart that recorded other features. A feature
that only one site measures is missing by site. Columns are chosen one after the other, each the one
that explains most of what is missing: by how much less surprising it is, feature by feature,
whether a row lacks it once its subgroup is known. Chance explains something, too, and the more so
the more subgroups there are; as in the Bayesian information criterion, log(n) / 2 is taken off for
every feature and subgroup.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.binning import quantile_edges
from misfeat.cohorts.coding import as_it_is, profile_column
from misfeat.cohorts.rules import AUTO, ByCuts, ByValue, Grouping, GroupRule, prepare
from misfeat.cohorts.targets import check_target
from misfeat.cohorts.weights import FREQUENCY, MOST_MASS, SAMPLING
from misfeat.exceptions import Message, MisfeatError, Setting, no_such_column
from misfeat.reading.coders import CategoryCoder, Coder, EdgeCoder, Kind, radices
from misfeat.reading.table import Weighing, WeightRange
from misfeat.words.names import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.profiles import Profile
    from misfeat.cohorts.rules import CohortRules
    from misfeat.reading.table import Table
    from misfeat.runtime.progress import Progress

    Counts = NDArray[np.float64]


MOST_APART = 1e5
"""Weights that differ by more than this factor would leave one row a subgroup that counts."""
LEAST_WEIGHT = 1e-140
"""The heaviest row weighs at least this, so that squares of weights are numbers."""


@dataclass(frozen=True)
class ProfiledTable:
    """An open table, and what is known of it before its rows are coded."""

    table: Table
    target: str
    rules: CohortRules
    profiles: Mapping[str, Profile]
    """What is known of each column, in the table's order."""
    groupings: tuple[Grouping, ...]
    chosen: Proposal | None = None
    """How that was chosen, where it was."""
    weighing: Weighing | None = None
    """How rows are weighed; None where all weigh the same."""


def profile_table(
    table: Table, target: str, rules: CohortRules, progress: Progress | None = None
) -> ProfiledTable:
    """Check the names of columns, and count the values of every column inside the engine."""
    check_columns(table, target, rules)
    if table.n_rows() == 0:
        raise MisfeatError("The table has no rows; check the file or the filter that made it.")
    weighing, weights = None, rules.weights
    if weights.column is not None:
        weighing = weighing_of(table, weights.column, weights.kind)
        table = table if weighing is None else table.weighed(weighing)
    # What only says how much a row counts is not read; strata and clusters are, as they are.
    names = [name for name in table.names if name != weights.column]
    n_rows = table.n_rows()
    found = {}
    for done, column in enumerate([target, *(name for name in names if name != target)]):
        if progress is not None:
            progress("Reading columns", done, len(names))
        found[column] = profile_column(table, column, rules.codes, n_rows, rules.way(column))
        if column == target:
            check_target(found[column], rules)
    profiles = {column: found[column] for column in names}
    if progress is not None:
        progress("Reading columns", len(names), len(names))
    chosen = None
    if rules.auto:
        rules, chosen = _with_groups_chosen(table, target, rules, profiles)
    groupings = tuple(prepare(rule, profiles) for rule in rules.groups)
    return ProfiledTable(table, target, rules, profiles, groupings, chosen, weighing)


def _with_groups_chosen(
    table: Table, target: str, rules: CohortRules, profiles: Mapping[str, Profile]
) -> tuple[CohortRules, Proposal | None]:
    """Rules with columns that tell subgroups apart; one that is named so is meant itself."""
    if AUTO in profiles:
        named = replace(rules, groups=(ByValue(AUTO, {}),), auto=False)
        check_columns(table, target, named)
        return named, None
    chosen = proposed(table, profiles, target)
    return replace(rules, groups=chosen.rules), chosen


def check_columns(table: Table, target: str | None, rules: CohortRules) -> None:
    """Refuse names of columns that the table does not have, and a target that is a group."""
    for column in rules.group_columns:
        if column not in table.names:
            raise no_such_column(column, table.names, Setting("groups"))
        if column == target:
            raise MisfeatError(
                "{column!r} is both the target and a group; within a subgroup it would tell "
                "nothing.",
                remedy="Take it out of {groups}.",
                column=column,
                groups=Setting("groups"),
            )
    if target is not None:
        rules.weights.check(table.names, target, rules.group_columns)
    named: dict[str, Iterable[str]] = {
        "bins": rules.bins.by_column,
        "missing_values": rules.codes.by_column,
        "read": rules.ways,
    }
    for parameter, columns in named.items():
        for column in columns:
            if column not in table.names:
                raise no_such_column(column, table.names, Setting(parameter))


def weighing_of(table: Table, column: str, kind: str) -> Weighing | None:
    """Check a column of weights, and say how they are summed; None where all are the same."""
    if column not in table.names:
        raise no_such_column(column, table.names, "the weights")
    if table.kind(column) not in (Kind.INTEGER, Kind.NUMBER):
        raise MisfeatError(
            "The weights {column!r} are {kind} values; pass numbers, one a row, none negative.",
            column=column,
            kind=table.kind(column).value,
        )
    found = table.weight_range(column)
    _check_range(found, column)
    n_rows = table.n_rows()
    if kind == FREQUENCY:
        _check_frequencies(found, column, n_rows)
        return Weighing(column, frequency=True)
    if found.least == found.greatest:
        return None
    if not LEAST_WEIGHT <= found.greatest <= 1.0 / LEAST_WEIGHT:
        raise MisfeatError(
            "The weights {column!r} go up to {greatest:g}, whose square no number holds; divide "
            "all of them by it.",
            column=column,
            greatest=found.greatest,
        )
    square_scale = _scale(n_rows, found.greatest * found.greatest)
    lost = square_scale * found.lightest**2 < 1.0
    if lost or found.greatest > MOST_APART * found.lightest:
        raise MisfeatError(
            "The weights {column!r} go from {lightest:g} to {greatest:g}, too far apart to weigh "
            "rows against each other; check the largest, or cap it.",
            column=column,
            lightest=found.lightest,
            greatest=found.greatest,
        )
    return Weighing(
        column,
        frequency=False,
        scale=_scale(n_rows, found.greatest),
        square_scale=square_scale,
        leaves_out=found.least == 0,
    )


def _scale(n_rows: int, greatest: float) -> float:
    """The power of 2 that makes so many numbers, none greater than this one, large but not too."""
    most = MOST_MASS / n_rows / greatest
    if not np.isfinite(most) or most == 0.0:
        raise MisfeatError(
            "Weights of {greatest:g} cannot be summed up; divide all weights by a constant.",
            greatest=greatest,
        )
    return float(2.0 ** np.floor(np.log2(most)))


def _check_range(found: WeightRange, column: str) -> None:
    if found.missing:
        raise MisfeatError(
            "The weights {column!r} are missing in {rows:,} rows; leave these rows out, or give "
            "them a weight.",
            column=column,
            rows=found.missing,
        )
    if found.least < 0:
        raise MisfeatError(
            "The weights {column!r} hold {value:g}; no weight may be negative.",
            remedy="Check where it comes from.",
            column=column,
            value=found.least,
        )
    if not np.isfinite(found.greatest):
        raise MisfeatError(
            "The weights {column!r} hold an infinite value; leave its row out, or correct it.",
            column=column,
        )
    if found.greatest == 0:
        raise MisfeatError(
            "All weights {column!r} are zero, so that no row counts; pass the weights of the rows.",
            column=column,
        )


def _check_frequencies(found: WeightRange, column: str, n_rows: int) -> None:
    if not found.whole:
        raise MisfeatError(
            "{setting} takes whole numbers, how often each row occurs, and {column!r} holds "
            "fractions; use {other}.",
            setting=Setting("weights", FREQUENCY),
            column=column,
            other=Setting("weights", SAMPLING),
        )
    if found.greatest * n_rows > MOST_MASS:
        raise MisfeatError(
            "The weights {column!r} are too large for frequencies, up to {value:g}; use {other}.",
            column=column,
            value=found.greatest,
            other=Setting("weights", SAMPLING),
        )


MOST_COLUMNS = 3
MOST_SUBGROUPS = 30
MOST_VALUES = 30
"""Text of more values is no column that tells subgroups apart."""
FEW_VALUES = 10
"""A number of so few values is taken by value, one of more is cut."""
MOST_CUTS = 2
FINEST = 64
"""Values or quantiles of a number between which a cut is looked for."""
NEARLY_ALWAYS = 0.95
"""A column must be recorded in this share of the rows to tell subgroups apart."""
EXPLAINS = 0.1
"""The first column must explain so much of what is missing."""
EXPLAINS_MORE = 0.05
"""And each further column or cut so much more."""
MOST_ROWS = 100_000
"""Of more distinct rows, so many are looked at."""


@dataclass(frozen=True)
class Proposal:
    """Columns that tell subgroups apart."""

    rules: tuple[GroupRule, ...]
    """The columns, in the table's order, and where they are cut."""
    explained: float
    gaps: int
    """Features that are missing in some rows."""

    def sentence(self) -> Message:
        """What was chosen, in words."""
        if not self.gaps:
            return Message("No value is missing anywhere: all rows are one subgroup.")
        if not self.rules:
            return Message(
                "No column explains where values are missing ({n} features have gaps): all rows "
                "are one subgroup. Choose columns yourself with {groups}.",
                n=self.gaps,
                groups=Setting("groups"),
            )
        return Message(
            "Subgroups are told apart by {columns}, which {explain} {share:.0f} % of where "
            "features are missing. Choose other columns with {groups}.",
            columns=joined([_in_words(rule) for rule in self.rules]),
            explain="explains" if len(self.rules) == 1 else "explain",
            share=100 * self.explained,
            groups=Setting("groups"),
        )


def _in_words(rule: GroupRule) -> str:
    if isinstance(rule, ByCuts):
        return f"{rule.column} (cut at {', '.join(map(str, rule.points))})"
    return rule.columns[0]


def proposed(table: Table, profiles: Mapping[str, Profile], target: str) -> Proposal:
    """Choose the few columns that explain most of where features are missing.

    The target is neither looked at nor chosen. One group-by is asked of the table.
    """
    others = [profile for column, profile in profiles.items() if column != target]
    lacking = [p for p in others if p.kind is not Kind.UNSUPPORTED and 0 < p.missing < p.rows]
    if not lacking:
        return Proposal((), 0.0, 0)
    candidates = [candidate for candidate in map(_candidate, others) if candidate is not None]
    coders = [*(one.coder for one in candidates), *map(_flag, lacking)]
    rows = table.count_codes(coders)
    every = -(-len(rows.weights) // MOST_ROWS)
    codes, weights = rows.codes[:, ::every], rows.weights[::every].astype(np.float64)
    bases = radices(coders)
    search = _Search(codes[len(candidates) :] == 1, weights)
    cells = _Cells(np.zeros(len(weights), dtype=np.int64), 1, 0.0)
    chosen: dict[str, GroupRule] = {}
    while len(chosen) < MOST_COLUMNS:
        found = [
            choice
            for number, candidate in enumerate(candidates)
            if candidate.column not in chosen
            for choice in search.choices(cells, candidate, codes[number], bases[number])
        ]
        needed = cells.explained + (EXPLAINS_MORE if chosen else EXPLAINS)
        found = [one for one in found if one.cells.explained >= needed]
        if not found:
            break
        best = max(found, key=lambda one: (round(one.cells.explained, 2), -one.cells.n))
        cells, chosen[best.rule.columns[0]] = best.cells, best.rule
    rules = tuple(chosen[column] for column in profiles if column in chosen)
    return Proposal(rules, cells.explained, len(lacking))


@dataclass(frozen=True)
class _Candidate:
    """A column that may tell subgroups apart, coded by value, or finely to be cut."""

    coder: Coder
    column: str
    cut: bool


def _candidate(profile: Profile) -> _Candidate | None:
    """A column as a candidate; None where it is none."""
    if profile.counts is None or profile.kind is Kind.UNSUPPORTED or profile.is_identifier:
        return None
    if profile.recorded < NEARLY_ALWAYS * profile.rows or profile.distinct < 2:
        return None
    few = FEW_VALUES if profile.kind.ordered else MOST_VALUES
    if profile.distinct <= few:
        return _Candidate(as_it_is(profile), profile.column, cut=False)
    if not profile.kind.ordered:
        return None
    edges = quantile_edges(profile.counts.values, profile.counts.counts, FINEST)
    if profile.distinct <= FINEST:
        edges = as_it_is(profile).edges  # type: ignore[union-attr]
    coder = EdgeCoder(profile.reading, edges, tuple(map(str, range(len(edges) + 1))))
    return _Candidate(coder, profile.column, cut=True)


def _flag(profile: Profile) -> Coder:
    """Code 0 where a feature is recorded, and 1 where it is not."""
    if profile.kind.ordered:
        return EdgeCoder(profile.reading, (), ("recorded",))
    return CategoryCoder(profile.reading, (), ("recorded",))


@dataclass(frozen=True, eq=False)
class _Cells:
    """Subgroups by what was chosen so far."""

    of_row: NDArray[np.int64]
    n: int
    explained: float


@dataclass(frozen=True, eq=False)
class _Choice:
    """A further column, and the subgroups that it makes."""

    cells: _Cells
    rule: GroupRule


class _Search:
    """Looks for columns that explain where features are missing."""

    def __init__(self, lacks: NDArray[np.bool_], weights: Counts) -> None:
        patterns: dict[bytes, list[int]] = {}
        for number, line in enumerate(np.packbits(lacks, axis=1)):
            patterns.setdefault(line.tobytes(), []).append(number)
        first = [numbers[0] for numbers in patterns.values()]
        self._alike = np.array([len(numbers) for numbers in patterns.values()], dtype=np.float64)
        self._lacking = [np.where(lacks[number], weights, 0.0) for number in first]
        self._weights = weights
        self._rows = float(weights.sum())
        lacking = np.array([line.sum() for line in self._lacking])
        self._surprise = _surprise(lacking, np.full(len(first), self._rows))

    def choices(
        self, cells: _Cells, candidate: _Candidate, codes: NDArray[np.integer], base: int
    ) -> list[_Choice]:
        """What may be chosen next of a column: its values, or cuts of it; at most one."""
        if not isinstance(candidate.coder, EdgeCoder) or not candidate.cut:
            made = self._told_apart(cells, codes.astype(np.int64), base)
            return [] if made is None else [_Choice(made, ByValue(candidate.column, {}))]
        rows, lacking = self._counts(cells.of_row * base + codes, cells.n * base)
        rows, lacking = rows.reshape(cells.n, base), lacking.reshape(-1, cells.n, base)
        cuts: list[int] = []
        found: list[_Choice] = []
        while len(cuts) < MOST_CUTS:
            cuts = sorted([*cuts, self._best_cut(rows, lacking, cuts)])
            part = np.searchsorted(np.array(cuts), np.arange(base), side="left")
            part[-1] = len(cuts) + 1  # where the column itself is missing
            made = self._told_apart(cells, part[codes], len(cuts) + 2)
            if made is None:
                break
            if found and made.explained < found[-1].cells.explained + EXPLAINS_MORE:
                break
            points = tuple(candidate.coder.edges[cut] for cut in cuts)
            found.append(_Choice(made, ByCuts(candidate.column, points)))
        return found[-1:]

    def _told_apart(self, cells: _Cells, part: NDArray[np.int64], n_parts: int) -> _Cells | None:
        """Subgroups that one more column tells apart; None where they are too many."""
        occurring, of_row = np.unique(cells.of_row * n_parts + part, return_inverse=True)
        if len(occurring) > MOST_SUBGROUPS:
            return None
        explained = self._explained(*self._counts(of_row, len(occurring)))
        return _Cells(of_row, len(occurring), explained)

    def _counts(self, cell: NDArray[np.int64], n_cells: int) -> tuple[Counts, Counts]:
        lines = (self._weights, *self._lacking)
        counts = np.array(
            [np.bincount(cell, weights=line, minlength=n_cells) for line in lines], dtype=np.float64
        )
        return counts[0], counts[1:]

    def _explained(self, rows: Counts, lacking: Counts) -> float:
        """The share of what is missing that cells explain, chance taken off."""
        cells = int((rows > 0).sum())
        left = _surprise(lacking, rows).sum(axis=1)
        gain = self._surprise - left - (cells - 1) * np.log(self._rows) / 2
        whole = float(self._alike @ self._surprise)
        return float(self._alike @ np.maximum(gain, 0.0)) / whole if whole > 0 else 0.0

    def _best_cut(self, rows: Counts, lacking: Counts, cuts: Sequence[int]) -> int:
        """The bin after which a further cut leaves the least surprise."""
        n_bins = rows.shape[1] - 1
        bounds = [0, *(cut + 1 for cut in cuts), n_bins]
        best, most = bounds[1] - 1 if cuts else 0, -np.inf
        for start, stop in pairwise(bounds):
            own = self._left(rows[:, start:stop], lacking[:, :, start:stop])
            for cut in range(start, stop - 1):
                halves = (slice(start, cut + 1), slice(cut + 1, stop))
                gain = own - sum(self._left(rows[:, h], lacking[:, :, h]) for h in halves)
                if gain > most:
                    best, most = cut, gain
        return best

    def _left(self, rows: Counts, lacking: Counts) -> float:
        """The surprise that is left where bins are put together."""
        surprise = _surprise(lacking.sum(axis=2), rows.sum(axis=1)).sum(axis=1)
        return float(self._alike @ surprise)


def _surprise(lacking: Counts, rows: Counts) -> Counts:
    """Rows times the entropy of whether they lack something, in nats."""
    recorded = rows - lacking
    found: Counts = _x_log_x(rows) - _x_log_x(lacking) - _x_log_x(recorded)
    return found


def _x_log_x(x: Counts) -> Counts:
    return x * np.log(np.where(x > 0, x, 1.0))
