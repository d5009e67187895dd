"""Why a set is informative: its cells, what each holds of every class, and what it adds.

Cells of sets that a subgroup did not record are expected from the rows of those that did. What the
subgroup recorded, r, and the class y are as in its own rows. Given these, the other features, u,
are as in all subgroups that recorded the whole set: P(u) is refined to P(u | p), with p the
features that u depends on most, to P(u | p, y) and to P(u | p, y, r), each shrunk to the one
before. Where no subgroup recorded the whole set, each of u depends on p and y alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from misfeat.answers.selection_base import FitResult, set_members
from misfeat.cohorts.cohort_data import Cohorts, distinct_columns
from misfeat.cohorts.survival import counts_of, survival_of
from misfeat.exceptions import MisfeatError
from misfeat.information.count_tables import CountTables
from misfeat.information.mutual_info import entropy
from misfeat.messages import Setting, listed
from misfeat.number_formatting import count_words, percent
from misfeat.runtime.array_types import Array, Floats, Indices, Integers

NOTHING = 1e-9  # a cell that adds less adds nothing, in nats, however numbers were rounded
WELL_FILLED = 5  # rows of a cell that are worth a sentence
WORTH_A_SENTENCE = 0.02  # the part of a score that a cell has to hold to be worth one
WELL_DRAWN = 20  # rows of a cell whose course over time is drawn
MOST_DRAWN = 2  # such cells with fewer events than all rows, and as many with more
SHRINKING = 2.0  # rows that weigh as much as what is expected without them
PROXIES = 2  # features that an unrecorded one may be read from
MUCH = 1 / 3  # the part of a score that is a concern where nearly empty cells hold it


@dataclass(frozen=True)
class Share:
    """How much of a cell a class holds; bounds are NaN if predicted, the lift without rows."""

    label: str
    share: float
    low: float
    high: float
    overall: float
    lift: float
    contribution: float


@dataclass(frozen=True)
class Cell:
    """The rows of a subgroup that agree in all features of a set."""

    words: str  # what they agree in, such as "age > 60 and thal = 7"
    values: tuple[str, ...]  # the same, a value or range a feature
    rows: float
    shares: tuple[Share, ...]
    # Where counts are protected, and so not exact: how many rows counted exactly say as much.
    worth: float | None = None

    @property
    def well_filled(self) -> bool:
        """Whether it has rows enough for a sentence."""
        return (self.rows if self.worth is None else self.worth) >= WELL_FILLED

    @property
    def most(self) -> Share:
        """The class that it is most about."""
        return max(self.shares, key=lambda share: share.contribution)

    @property
    def contribution(self) -> float:
        """What the cell adds to the score, in nats; never below 0."""
        return sum(share.contribution for share in self.shares)

    def sentence(self, target: str, *, predicted: bool = False) -> str:
        """The cell in a sentence, by the class that it is most about."""
        most, about = self.most, "" if self.worth is None else "about "
        count = f"{about}{count_words(self.rows, 'row')}{', predicted' if predicted else ''}"
        return (
            f"{self.words}: {percent(most.share, 0, 1)} {condition(target, most.label)} ({count}), "
            f"against {percent(most.overall, 0, 1)} overall."
        )


@dataclass(frozen=True)
class Explanation:
    """The cells behind the score of a set, those first that add most; predicted if not recorded."""

    subgroup: str
    features: tuple[str, ...]
    target: str
    predicted: bool
    cells: tuple[Cell, ...]

    @property
    def score(self) -> float:
        """What all cells add up to: the score of the rows as they are, or of the predicted ones."""
        return sum(cell.contribution for cell in self.cells)

    def sentences(self, k: int = 3) -> list[str]:
        """The k cells that add most, a sentence each; cells that add almost nothing have none.

        Cells of fewer than 5 rows have none either, where there are others; where they hold much
        of the score, a last sentence says so.
        """
        least = max(NOTHING, WORTH_A_SENTENCE * self.score)
        large = [cell for cell in self.cells if cell.contribution > least]
        cells = [cell for cell in large if cell.well_filled] or large
        shown = cells[:k]
        others = [cell for cell in cells[k:] if cell.most.label != cells[0].most.label]
        if k > 1 and others and len({cell.most.label for cell in shown}) == 1:
            shown[-1] = others[0]  # where all are about one class, room for another's first
        sentences = [cell.sentence(self.target, predicted=self.predicted) for cell in shown]
        held = sum(cell.contribution for cell in self.cells if not cell.well_filled)
        if not self.predicted and self.score > NOTHING and held >= MUCH * self.score:
            sentences.append(
                f"Take care: {percent(held / self.score, 0, 1)} of what these rows score comes "
                f"from combinations of values with fewer than {WELL_FILLED} rows each, which may "
                "be chance."
            )
        return sentences


def explanation(selection: FitResult, subgroup: str, features: Sequence[str]) -> Explanation:
    """The cells behind the score of a set (`Selection.why`)."""
    return explanations(selection, [(subgroup, features)])[0]


def explanations(
    selection: FitResult, sets: Iterable[tuple[str, Sequence[str]]]
) -> list[Explanation]:
    """The same of many sets: what predictions need is prepared once."""
    asked = [
        (selection.cohorts.position(name), tuple(set_members(selection, features)))
        for name, features in sets
    ]
    measure, names = selection.set_scores.measure, selection.feature_names
    if not measure.largest_table:
        raise MisfeatError(
            "A set is explained by what the cells of its values add to mutual information, of "
            f"which {Setting('measure', measure.name)} knows nothing; use "
            f"{Setting('measure', 'mutual_info')}."
        )
    for _, members in asked:
        if len(members) > measure.largest_table:
            raise MisfeatError(
                f"{listed([names[m] for m in members])} cannot be explained: only counts of sets "
                f"of up to {measure.largest_table} features are at hand, no rows."
            )
    counted, classes = cell_counts(selection, asked), selection.cohorts.with_cells().classes
    records = []
    for cohort, members in asked:
        predicted = bool(selection.missing[cohort, list(members)].any())
        features = tuple(names[m] for m in members)
        confidence = None if predicted else selection.confidence
        cells = cells_of(counted[cohort, members], features, classes, confidence)
        subgroup, target = selection.cohorts.names[cohort], selection.cohorts.target
        records.append(Explanation(subgroup, features, target, predicted, cells))
    return records


def cell_counts(
    selection: FitResult, sets: Iterable[tuple[int, tuple[int, ...]]]
) -> dict[tuple[int, tuple[int, ...]], "CellCounts"]:
    """Rows by cell and class of many sets (a cohort, and members ascending), or expected ones."""
    tables, unrecorded = selection.set_scores.measure.tables, ExpectedCells(selection)
    by_set = {}
    for cohort, members in sets:
        if selection.missing[cohort, list(members)].any():
            codes, expected = unrecorded.of(cohort, members)
            labels = [selection.cohorts.categories[member] for member in members]
            counts = CellCounts(_labels(labels, codes), expected)
        elif tables is None:
            counts = _recorded_counts(selection.cohorts, cohort, list(members))
        else:
            counts = _tabled_counts(tables, cohort, members)
        by_set[cohort, members] = counts
    return by_set


def cells_of(
    counts: "CellCounts", features: Sequence[str], classes: Sequence[str], confidence: float | None
) -> tuple[Cell, ...]:
    """Cells, those that add most to the score first; no intervals without `confidence`."""
    rows, by_class = counts.counts.sum(axis=1), counts.counts.sum(axis=0)
    shown = rows if counts.rows is None else counts.rows
    total = by_class.sum()
    overall = by_class / total
    with np.errstate(divide="ignore", invalid="ignore"):
        share = counts.counts / rows[:, None]
        lift = np.where(overall > 0, share / overall, np.nan)
    contribution = counts.counts / total * np.log(np.where(lift > 0, lift, 1.0))
    low = high = np.full(share.shape, np.nan)
    if confidence is not None:  # Wilson's interval
        z, n = NormalDist().inv_cdf((1.0 + confidence) / 2.0), rows[:, None]
        centre = share + z**2 / (2.0 * n)
        reach = z * np.sqrt(share * (1.0 - share) / n + z**2 / (4.0 * n**2))
        scale = 1.0 + z**2 / n
        low = np.maximum((centre - reach) / scale, 0.0)
        high = np.minimum((centre + reach) / scale, 1.0)
    parts = share, low, high, np.broadcast_to(overall, share.shape), lift, contribution
    cells = [
        Cell(
            words=" and ".join(map(condition, features, values)),
            values=values,
            rows=float(shown[cell]),
            worth=float(rows[cell]) if counts.protected else None,
            shares=tuple(
                Share(label, *map(float, numbers))
                for label, *numbers in zip(classes, *(part[cell] for part in parts), strict=True)
            ),
        )
        for cell, values in enumerate(counts.values)
    ]
    return tuple(sorted(cells, key=lambda cell: -cell.contribution))


def condition(name: str, label: str) -> str:
    """A feature and its value or range, in words."""
    if label.startswith("<="):
        return f"{name} <= {label[2:]}"
    if label.startswith(">"):
        return f"{name} > {label[1:]}"
    if label.startswith("(") and label.endswith("]"):
        low, _, high = label[1:-1].partition(", ")
        return f"{low} < {name} <= {high}" if high else f"{name} = {label}"
    return f"{name} = {label}"


def explanation_columns(explanation: Explanation) -> dict[str, list[Any]]:
    """A line a cell and class, as columns of a dataframe."""
    lines = [(cell, share) for cell in explanation.cells for share in cell.shares]
    numbers = ("share", "low", "high", "overall", "lift", "contribution")
    return {
        "subgroup": [explanation.subgroup] * len(lines),
        "cell": [cell.words for cell, _ in lines],
        "values": [cell.values for cell, _ in lines],
        "rows": [cell.rows for cell, _ in lines],
        "class": [share.label for _, share in lines],
        **{name: [getattr(share, name) for _, share in lines] for name in numbers},
        "source": ["predicted" if explanation.predicted else "recorded"] * len(lines),
    }


class CellCounts(NamedTuple):
    """Rows of a subgroup by the cells of a set and by class, or expected ones.

    With weights, counts are as many rows of equal weight as carry as much information, and `rows`
    those of the table in each cell; so they are where counts were `protected`: none is exact.
    """

    values: list[tuple[str, ...]]
    counts: Floats
    rows: Floats | None = None
    protected: bool = False

    @property
    def in_rows(self) -> Floats:
        """The rows of each cell, shared out over the classes as their weights are."""
        if self.rows is None:
            return self.counts
        return np.asarray(self.counts * (self.rows / self.counts.sum(axis=1))[:, None])


def _recorded_counts(cohorts: Cohorts, cohort: int, members: Sequence[int]) -> CellCounts:
    """The cells of a set that a subgroup recorded; rows that lack a value count in none."""
    own = cohorts.at(cohort)
    labels, n_classes = [cohorts.categories[m] for m in members], len(cohorts.classes)
    whole = (own.codes[members] >= 0).all(axis=0)
    cells: Array = own.codes[members][:, whole]
    first, inverse = distinct_columns(cells)
    cells = cells[:, first]
    if cohorts.horizons:
        ranks = cohorts.ranks[cohorts.offsets[cohort] : cohorts.offsets[cohort + 1]][whole]
        within = _labels(labels, cells)
        return _followed_counts(within, inverse, ranks, own.counts[whole], cohorts)
    places, many = inverse * n_classes + own.target[whole], cells.shape[1] * n_classes
    flat: Floats = np.bincount(places, own.counts[whole], many).astype(np.float64, copy=False)
    counts = flat.reshape(-1, n_classes)
    in_cells = None
    if own.effective is not None:
        in_cells = np.bincount(inverse, own.weights[whole], len(counts)).astype(np.float64)
    return CellCounts(_labels(labels, cells), counts, in_cells)


def _followed_counts(
    labels: list[tuple[str, ...]],
    cells: Indices,
    ranks: Indices,
    weights: Floats,
    cohorts: Cohorts,
) -> CellCounts:
    """The same of a time to an event: Kaplan and Meier's chance of it by a horizon in each cell."""
    # Counts are as many rows as would be as sure, had all been followed (Greenwood's variance).
    horizon, n_ranks = cohorts.last_bin(len(cohorts.horizons) // 2), cohorts.grids.shape[1]
    lines = []
    for cell in range(len(labels)):
        by_state = counts_of(ranks[cells == cell], weights[cells == cell], n_ranks)
        chance, variance = (part[horizon] for part in survival_of(by_state)[1::2])
        rows, spread = by_state.sum(), chance * (1.0 - chance)
        known = min(spread / variance, rows) if variance > 0 and spread > 0 else rows
        lines.append((known * (1.0 - chance), known * chance, rows))
    table = np.array(lines, dtype=np.float64).reshape(-1, 3)
    return CellCounts(labels, table[:, :2], table[:, 2])


class EventFree(NamedTuple):
    """The share of some rows without the event over time (Kaplan and Meier)."""

    words: str  # what the rows agree in
    rows: int
    shares: list[float]  # at 0 and at each of the times


def event_free_curves(
    selection: FitResult, explanation: Explanation
) -> tuple[list[float], list[EventFree]]:
    """Times until the last horizon, and curves of all rows and of some cells."""
    # These are the cells that add most, as many with fewer events than all rows as with more.
    cohorts, number = selection.cohorts, selection.cohorts.position(explanation.subgroup)
    own, n_ranks = cohorts.at(number), cohorts.grids.shape[1]
    ranks = cohorts.ranks[cohorts.offsets[number] : cohorts.offsets[number + 1]]
    audit = next(audit for audit in cohorts.columns if audit.column == cohorts.target)
    last = cohorts.last_bin(-1) + 1
    members = [cohorts.features.index(name) for name in explanation.features]
    drawn = [cell for cell in explanation.cells if cell.rows >= WELL_DRAWN]
    fewer, more = (
        [cell for cell in drawn if (cell.shares[1].lift > 1.0) == risky][:MOST_DRAWN]
        for risky in (False, True)
    )
    lines: list[tuple[str, Any]] = [("all rows", np.ones(len(ranks), dtype=bool))]
    for cell in (*fewer, *more):
        codes = [cohorts.categories[m].index(v) for m, v in zip(members, cell.values, strict=True)]
        lines.append((cell.words, (own.codes[members] == np.array(codes)[:, None]).all(axis=0)))
    curves = []
    for words, within in lines:
        happened = survival_of(counts_of(ranks[within], own.counts[within], n_ranks)).incidence
        rows = int(own.weights[within].sum())
        curves.append(EventFree(words, rows, [1.0, *(1.0 - happened[:last]).tolist()]))
    return [0.0, *map(float, audit.edges[:last])], curves


def _tabled_counts(tables: CountTables, cohort: int, members: Sequence[int]) -> CellCounts:
    """The same from tables of at most three features, without rows."""
    counts, labels = tables.of(cohort, members), [tables.categories[m] for m in members]
    held = np.flatnonzero(counts.sum(axis=1) > 0)
    cells = np.array(np.unravel_index(held, tuple(map(len, labels))))
    values, counts = _labels(labels, cells), counts[held]
    exact = tables.effective_rows_of(len(members))[cohort] / tables.by_class[cohort].sum()
    if exact >= 1.0:
        return CellCounts(values, counts)
    return CellCounts(values, counts * exact, counts.sum(axis=1), protected=True)


def _labels(labels: list[tuple[str, ...]], cells: Array) -> list[tuple[str, ...]]:
    return [
        tuple(names[code] for names, code in zip(labels, cell, strict=True))
        for cell in cells.T.tolist()
    ]


class _Pooled(NamedTuple):
    codes: Indices  # (n_features, n_rows)
    target: Indices
    weights: Floats


class ExpectedCells:
    """Expects the cells of a selection's sets; what features depend on is found once."""

    def __init__(self, selection: FitResult) -> None:
        self._cohorts, self._missing = selection.cohorts.with_cells(), selection.missing
        self._tables = selection.set_scores.measure.tables
        self._order: dict[int, list[int]] = {}

    def of(self, cohort: int, members: Sequence[int]) -> tuple[Integers, Floats]:
        """The codes of all cells of a set, a column each, and how many rows of every class."""
        lacks = self._missing[cohort, list(members)]
        own = [member for member, lacking in zip(members, lacks, strict=True) if not lacking]
        other = [member for member, lacking in zip(members, lacks, strict=True) if lacking]
        together = not self._missing[:, list(members)].any(axis=1).all()
        parts = [other] if together else [[member] for member in other]
        proxies = self._proxies(cohort, other[0], members)
        rows = self._rows([cohort], [*proxies, *own])
        values, shares = np.zeros((0, 1), dtype=np.int64), np.ones((len(rows.weights), 1))
        for part in parts:
            further, given = self._given(rows, proxies, own if together else [], part)
            left, right = np.divmod(np.arange(shares.shape[1] * given.shape[1]), given.shape[1])
            values = np.vstack([values[:, left], further[:, right]])
            shares = shares[:, left] * given[:, right]
        first, place = distinct_columns(rows.codes[len(proxies) :])
        cells = rows.codes[len(proxies) :, first]
        by_class = np.zeros((len(first), len(self._cohorts.classes), shares.shape[1]))
        np.add.at(by_class, (place, rows.target), shares * rows.weights[:, None])
        held = np.argwhere(by_class.sum(axis=1) > 0)
        codes = np.vstack([cells[:, held[:, 0]], values[:, held[:, 1]]])
        return codes[np.argsort([*own, *other])], by_class[held[:, 0], :, held[:, 1]]

    def _given(
        self, rows: _Pooled, proxies: Sequence[int], own: Sequence[int], part: Sequence[int]
    ) -> tuple[Indices, Floats]:
        """Values of unrecorded features, and how likely each row of the subgroup has them."""
        known = [*proxies, *own]
        donors = np.flatnonzero(~self._missing[:, [*known, *part]].any(axis=1)).tolist()
        if not donors:  # nobody recorded them beside the proxies
            return self._given(rows._replace(codes=rows.codes[:0]), [], [], part)
        theirs = self._rows(donors, [*known, *part])
        first, pattern = distinct_columns(theirs.codes[len(known) :])
        values = theirs.codes[len(known) :, first]
        both = np.hstack([rows.codes[: len(known)], theirs.codes[: len(known)]])
        classes, n_own = np.append(rows.target, theirs.target), len(rows.weights)
        shares = np.full((len(classes), values.shape[1]), 1.0 / values.shape[1])
        near = both[: len(proxies)]
        for context in (both[:0], near, np.vstack([near, classes]), np.vstack([both, classes])):
            first, place = distinct_columns(context)
            counts = np.zeros((len(first), values.shape[1]))
            np.add.at(counts, (place[n_own:], pattern), theirs.weights)
            counts += SHRINKING * shares[first]
            shares = (counts / counts.sum(axis=1, keepdims=True))[place]
        return values, shares[:n_own]

    def _proxies(self, cohort: int, feature: int, members: Sequence[int]) -> list[int]:
        """What a subgroup recorded that an unrecorded feature depends on most, besides a set."""
        if self._tables is not None:  # of counts there are none of so many features
            return []
        if feature not in self._order:
            others = [other for other in range(self._missing.shape[1]) if other != feature]
            depends = {other: self._dependence(feature, other) for other in others}
            self._order[feature] = sorted(others, key=lambda other: -depends[other])
        known = set(np.flatnonzero(~self._missing[cohort]).tolist()).difference(members)
        return [other for other in self._order[feature] if other in known][:PROXIES]

    def _dependence(self, feature: int, other: int) -> float:
        """The mutual information of two features where both were recorded, less its bias."""
        donors = np.flatnonzero(~self._missing[:, [feature, other]].any(axis=1)).tolist()
        rows = self._rows(donors, [feature, other], some=True)
        if not len(rows.weights):
            return 0.0
        n, m = rows.codes.max(axis=1) + 1
        table = np.bincount(rows.codes[0] * m + rows.codes[1], rows.weights, n * m).reshape(n, m)
        plug_in = entropy(table.sum(axis=0)) + entropy(table.sum(axis=1)) - entropy(table.ravel())
        return plug_in - float((n - 1) * (m - 1)) / (2.0 * float(table.sum()))

    def _rows(self, cohorts: Sequence[int], members: Sequence[int], some: bool = False) -> _Pooled:
        """Rows of cohorts that lack none of these features; a cell and class each where fewer."""
        held, parts = list(members), []
        shape = *(len(self._cohorts.categories[m]) for m in held), len(self._cohorts.classes)
        for cohort in cohorts:
            if self._tables is not None:
                parts.append(self._cells(cohort, held))
                continue
            own = (self._cohorts.some_rows if some else self._cohorts).at(cohort)
            whole = (own.codes[held] >= 0).all(axis=0)
            codes, target, weights = own.codes[held][:, whole], own.target[whole], own.counts[whole]
            if prod(shape) < len(target):
                keys = np.ravel_multi_index((*codes, target), shape)
                sums: Any = np.bincount(keys, weights, prod(shape))
                cells = np.array(np.unravel_index(np.flatnonzero(sums), shape))
                codes, target, weights = cells[:-1], cells[-1], sums[sums > 0]
            parts.append((codes, target, weights))
        empty = np.zeros((len(held), 0)), np.zeros(0), np.zeros(0)
        joined: Any = [np.concatenate(part, axis=-1) for part in zip(empty, *parts, strict=True)]
        return _Pooled(joined[0].astype(np.int64), joined[1].astype(np.int64), joined[2])

    def _cells(self, cohort: int, members: Sequence[int]) -> tuple[Any, Any, Any]:
        tables: Any = self._tables
        if not members:
            (target,) = np.nonzero(tables.by_class[cohort])
            return np.zeros((0, len(target))), target, tables.by_class[cohort][target]
        ascending = np.sort(members)
        counts = tables.of(cohort, ascending)
        cell, target = np.nonzero(counts > 0)
        codes = np.array(np.unravel_index(cell, tuple(tables.cards[ascending])))
        return codes[np.argsort(np.argsort(members))], target, counts[cell, target]
