"""``groups="auto"``: columns that tell subgroups apart that recorded other features.

A feature that only one site measures is missing by site. Columns are chosen one after the other
(docs/explanation/cohorts.md), each the one that explains most of what is missing: by how much less
surprising it is, feature by feature, whether a row lacks it once its subgroup is known.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from misfeat.cohorts.column_coding import as_it_is, quantile_edges
from misfeat.cohorts.column_profiles import Profile
from misfeat.cohorts.subgroups import ByCuts, ByValue
from misfeat.exceptions import Notes
from misfeat.messages import Setting
from misfeat.number_formatting import joined
from misfeat.reading.coders import CategoryCoder, Coder, EdgeCoder, Kind
from misfeat.reading.inputs import Table
from misfeat.runtime.array_types import Flags, Floats, Indices, Integers

MOST_COLUMNS = 3
MOST_SUBGROUPS = 30
MOST_VALUES = 30  # Text of more values is not a column that tells subgroups apart
FEW_VALUES = 10  # A number of so few values is taken by value, one of more is cut
MOST_CUTS = 2
FINEST = 64  # Values or quantiles of a number between which a cut is looked for
NEARLY_ALWAYS = 0.95  # A column must be recorded in this share of the rows to tell subgroups apart
EXPLAINS = 0.1  # The first column must explain so much of what is missing
EXPLAINS_MORE = 0.05  # And each further column or cut so much more
MOST_ROWS = 100_000  # Of more distinct rows, so many are looked at


class _Choice(NamedTuple):
    """Subgroups by what was chosen so far, the last column included."""

    of_row: Integers
    n: int
    explained: float
    rule: ByValue | ByCuts | None


def proposed_groups(
    table: Table, profiles: Mapping[str, Profile], target: str, notes: Notes
) -> tuple[ByValue | ByCuts, ...]:
    """Choose the few columns that explain most of where features are missing, in one group-by."""
    others = [profile for column, profile in profiles.items() if column != target]
    lacking = [p for p in others if p.kind is not Kind.UNSUPPORTED and 0 < p.missing < p.rows]
    if not lacking:
        notes.add("No value is missing anywhere: all rows are one subgroup.")
        return ()
    candidates = {p.column: coder for p in others if (coder := _candidate(p)) is not None}
    flags = [
        (EdgeCoder if profile.kind.ordered else CategoryCoder)(profile.reading, (), ("recorded",))
        for profile in lacking
    ]
    rows = table.count_codes([*candidates.values(), *flags])
    every = -(-len(rows.weights) // MOST_ROWS)
    codes, weights = rows.codes[:, ::every], rows.weights[::every].astype(np.float64)
    search = _Search(codes[len(candidates) :] == 1, weights)
    best = _Choice(np.zeros(len(weights), dtype=np.int64), 1, 0.0, None)
    chosen: dict[str, ByValue | ByCuts] = {}
    while len(chosen) < MOST_COLUMNS:
        needed = best.explained + (EXPLAINS_MORE if chosen else EXPLAINS)
        choices = [
            search.choice(best, profiles[column], coder, line)
            for (column, coder), line in zip(candidates.items(), codes, strict=False)
            if column not in chosen
        ]
        enough = [one for one in choices if one is not None and one.explained >= needed]
        if not enough:
            break
        best = max(enough, key=lambda one: (round(one.explained, 2), -one.n))
        if best.rule is not None:
            chosen[best.rule.column] = best.rule
    rules = tuple(chosen[column] for column in profiles if column in chosen)
    if not rules:
        notes.add(
            f"No column explains where values are missing ({len(lacking)} features have gaps): all "
            f"rows are one subgroup. Choose columns yourself with {Setting('groups')}."
        )
        return ()
    cuts = [
        f" (cut at {', '.join(map(str, rule.points))})" if isinstance(rule, ByCuts) else ""
        for rule in rules
    ]
    notes.add(
        "Subgroups are made by {columns}, which {explain} {share:.0f} % of where "
        "features are missing. Choose other columns with {groups}.",
        columns=joined([f"{rule.column}{cut}" for rule, cut in zip(rules, cuts, strict=True)]),
        explain="explains" if len(rules) == 1 else "explain",
        share=100 * best.explained,
        groups=Setting("groups"),
    )
    return rules


def _candidate(profile: Profile) -> Coder | None:
    """Codes a column that may tell subgroups apart, by value, or finely to be cut."""
    if profile.counts is None or profile.kind is Kind.UNSUPPORTED or profile.is_identifier:
        return None
    if profile.recorded < NEARLY_ALWAYS * profile.rows or profile.distinct < 2:
        return None
    if profile.distinct <= (FEW_VALUES if profile.kind.ordered else MOST_VALUES):
        return as_it_is(profile)
    if not profile.kind.ordered:
        return None
    edges = quantile_edges(profile.counts.values, profile.counts.counts, FINEST)
    if profile.distinct <= FINEST:
        edges = as_it_is(profile).edges  # type: ignore[union-attr]
    return EdgeCoder(profile.reading, edges, tuple(map(str, range(len(edges) + 1))))


class _Search:
    """Looks for columns that explain where features are missing."""

    def __init__(self, lacks: Flags, weights: Floats) -> None:
        # Features that are missing in the same rows are counted once, and weighed.
        _, first, alike = np.unique(
            np.packbits(lacks, axis=1), axis=0, return_index=True, return_counts=True
        )
        self._alike = alike.astype(np.float64)
        self._lines = np.vstack([weights, np.where(lacks[first], weights, 0.0)])
        totals = self._lines.sum(axis=1)
        self._rows = float(totals[0])
        self._surprise = _surprise(totals[1:], totals[0])

    def choice(
        self, cells: _Choice, candidate: Profile, coder: Coder, codes: Indices
    ) -> _Choice | None:
        """What may be chosen next of a column: its values, or cuts of it."""
        column, base = candidate.column, len(coder.labels) + 1
        if not isinstance(coder, EdgeCoder) or candidate.distinct <= FEW_VALUES:
            return self._told_apart(cells, codes.astype(np.int64), base, ByValue(column, {}))
        counts = self._counts(cells.of_row * base + codes, cells.n * base)
        counts = counts.reshape(-1, cells.n, base)
        cuts: list[int] = []
        best: _Choice | None = None
        while len(cuts) < MOST_CUTS:
            # One more cut after the bin where it leaves the least surprise.
            bounds = [0, *(cut + 1 for cut in cuts), base - 1]
            cut, most = bounds[1] - 1 if cuts else 0, -np.inf
            for start, stop in pairwise(bounds):
                below = np.cumsum(counts[:, :, start:stop], axis=2)
                whole = below[:, :, -1:]
                gains = self._left(whole) - self._left(below) - self._left(whole - below)
                if stop - start > 1 and gains[:-1].max() > most:
                    cut, most = start + int(np.argmax(gains[:-1])), float(gains[:-1].max())
            cuts = sorted([*cuts, cut])
            part = np.searchsorted(np.array(cuts), np.arange(base), side="left")
            part[-1] = len(cuts) + 1  # where the column itself is missing
            rule = ByCuts(column, tuple(coder.edges[cut] for cut in cuts))
            made = self._told_apart(cells, part[codes], len(cuts) + 2, rule)
            if made is None or (best and made.explained < best.explained + EXPLAINS_MORE):
                break
            best = made
        return best

    def _told_apart(
        self, cells: _Choice, part: Integers, n_parts: int, rule: ByValue | ByCuts
    ) -> _Choice | None:
        """Subgroups that one more column tells apart; None where they are too many."""
        occurring, of_row = np.unique(cells.of_row * n_parts + part, return_inverse=True)
        if len(occurring) > MOST_SUBGROUPS:
            return None
        counts = self._counts(of_row, len(occurring))
        left = _surprise(counts[1:], counts[0]).sum(axis=1)
        # The share of what is missing that subgroups explain, chance taken off.
        n_cells = int((counts[0] > 0).sum())
        gain = self._surprise - left - (n_cells - 1) * np.log(self._rows) / 2
        whole = float(self._alike @ self._surprise)
        explained = float(self._alike @ np.maximum(gain, 0.0)) / whole if whole > 0 else 0.0
        return _Choice(of_row, len(occurring), explained, rule)

    def _counts(self, cell: Integers, n_cells: int) -> Floats:
        """Rows by cell, and below them those that lack each feature."""
        counts = [np.bincount(cell, weights=line, minlength=n_cells) for line in self._lines]
        return np.array(counts, dtype=np.float64)

    def _left(self, counts: Floats) -> Floats:
        """The surprise that is left, by bin."""
        return np.asarray(self._alike @ _surprise(counts[1:], counts[0]).sum(axis=1))


def _surprise(lacking: Floats, rows: Floats) -> Floats:
    """Rows times the entropy of whether they lack something, in nats."""
    recorded = rows - lacking
    whole, lost, left = (x * np.log(np.where(x > 0, x, 1.0)) for x in (rows, lacking, recorded))
    return np.asarray(whole - lost - left)
