"""The tables of all sites side by side, as scores and the transfer take them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from misfeat.cohorts.coding import AS_IT_IS, OF_CODEBOOK
from misfeat.cohorts.model import NOT_RECORDED, Cohorts, ColumnAudit
from misfeat.information.count_tables import LARGEST, CountTables, table_starts
from misfeat.lattice import level, rank
from misfeat.reading.values import MISSING_LABEL
from misfeat.sites.codebook import ANY_OTHER, CATEGORY, NUMBER
from misfeat.sites.rounding import fitted_tables, hidden_rows
from misfeat.sites.rounding_cost import no_information, rounding_cost
from misfeat.sites.summary import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.sites.codebook import Codebook, ColumnCode
    from misfeat.sites.rounding_cost import RoundingCost
    from misfeat.sites.summary import Summary

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Kept:
    """What of a codebook some site has rows of.

    These are the features that some site recorded, all codes of each but those for missing or other
    values that no site holds, and classes in the same way.
    """

    features: NDArray[np.int64]
    codes: list[NDArray[np.int64]]
    classes: NDArray[np.int64]


def joined_tables(summaries: Sequence[Summary], codebook: Codebook) -> tuple[CountTables, Kept]:
    """The tables of all sites, of what some site has rows of."""
    telling = [tells_of_classes(one) for one in summaries]
    summaries = with_hidden_classes(summaries)
    of_sizes: list[list[Any]] = [
        one.of_sizes() if one.exact else fitted_tables(one) for one in summaries
    ]
    kept = _kept(summaries, codebook, [sizes[0] for sizes in of_sizes])
    labels = codebook.labels
    categories = tuple(
        tuple(labels[f][code] for code in codes)
        for f, codes in zip(kept.features, kept.codes, strict=True)
    )
    cards = np.array([len(one) for one in categories], dtype=np.int64)
    most = min(len(cards), *(TABLES[summary.share] for summary in summaries))
    by_size = []
    for size in (1, 2, 3):
        n_lines = int(table_starts(level(len(cards), size), cards)[-1]) if size <= most else 0
        by_size.append(np.zeros((len(summaries), n_lines, len(kept.classes))))
    for number, (summary, sizes) in enumerate(zip(summaries, of_sizes, strict=True)):
        for size in range(1, min(summary.size, most) + 1):
            _place(summary, sizes[size - 1], size, kept, cards, by_size[size - 1][number])
    missing = np.array([~summary.recorded[kept.features] for summary in summaries])
    tables = CountTables(
        features=tuple(codebook.features[f].column for f in kept.features),
        categories=categories,
        missing=missing,
        by_class=np.array([s.by_class[kept.classes] for s in summaries], dtype=np.float64),
        singles=by_size[0],
        pairs=by_size[1],
        triples=by_size[2],
    )
    if all(summary.exact for summary in summaries):
        return tables, kept
    costs = [_cost(*about) for about in zip(summaries, of_sizes, telling, strict=True)]
    return _with_costs(tables, costs), kept


def joined_cohorts(
    summaries: Sequence[Summary],
    codebook: Codebook,
    tables: CountTables,
    kept: Kept,
    notes: tuple[str, ...],
) -> Cohorts:
    """All sites as subgroups of which nothing is known but their rows of each class."""
    names = tuple(f"site={summary.site}" for summary in summaries)
    missing, categories = tables.missing, tables.categories
    believed = with_hidden_classes(summaries)
    by_class = np.array([summary.by_class[kept.classes] for summary in believed])
    place, target = np.nonzero(by_class)
    codes = np.where(missing[place].T, NOT_RECORDED, 0).astype(np.int8)
    classes = tuple(codebook.target.labels[c] for c in kept.classes)
    gaps = _rows_without(by_class.sum(axis=1), tables)
    audits = [
        replace(_audit(codebook.features[f], "feature", labels), missing=int(gap))
        for f, labels, gap in zip(kept.features, categories, gaps, strict=True)
    ]
    return Cohorts(
        names=names,
        features=tuple(codebook.features[f].column for f in kept.features),
        target=codebook.target.column,
        codes=np.ascontiguousarray(codes),
        target_codes=target.astype(np.int8),
        weights=by_class[place, target],
        offsets=np.searchsorted(place, np.arange(len(names) + 1)).astype(np.int64),
        missing=missing,
        categories=categories,
        classes=classes,
        gap_codes=tuple(
            (len(labels) - 1,) if labels[-1] == MISSING_LABEL else () for labels in categories
        ),
        columns=(*audits, _audit(codebook.target, "target", classes)),
        notes=notes,
        seen=names,
    )


def _rows_without(rows: NDArray[np.integer], tables: CountTables) -> NDArray[np.int64]:
    """In how many rows of all sites each feature is missing, as far as the sites tell."""
    gaps: NDArray[np.int64] = (rows[:, None] * tables.missing).sum(axis=0)
    last = np.cumsum(tables.cards) - 1
    told = np.array([labels[-1] == MISSING_LABEL for labels in tables.categories])
    held = np.where(told, tables.singles[:, last].sum(axis=(0, 2)), 0.0)
    return gaps + held.round().astype(np.int64)


def _cost(summary: Summary, tables: list[Floats], telling: bool) -> RoundingCost | None:
    """What rounding its counts cost a site; None where they are exact."""
    if summary.exact:
        return None
    rows = summary.by_class.astype(np.float64)
    if not telling:
        return no_information(float(rows.sum()))
    seed = crc32(summary.tables.tobytes())  # by its counts, whatever the site is called
    return rounding_cost(rows, tables, summary.cards, summary.min_cell, seed)


def _with_costs(tables: CountTables, costs: Sequence[RoundingCost | None]) -> CountTables:
    """Tables with what rounding them cost."""
    rows = tables.by_class.sum(axis=1)
    effective, noise = np.repeat(rows[:, None], LARGEST, axis=1), np.ones(len(rows))
    bias = np.zeros((len(rows), LARGEST, 2))
    for number, found in enumerate(costs):
        if found is not None:
            bias[number], effective[number], noise[number] = found
    return replace(tables, effective=effective, bias=bias, noise=noise)


def _kept(summaries: Sequence[Summary], codebook: Codebook, singles: list[Any]) -> Kept:
    features = np.flatnonzero(np.any([summary.recorded for summary in summaries], axis=0))
    codes = []
    for f in features.tolist():
        held = np.zeros(codebook.cards[f])
        for summary, table in zip(summaries, singles, strict=True):
            if summary.recorded[f]:
                own = int(summary.recorded[:f].sum())
                start = int(summary.cards[:own].sum())
                held += table[start : start + codebook.cards[f]].sum(axis=1)
        labels = codebook.labels[f]
        spare = np.zeros(len(labels), dtype=bool)
        spare[-1] = True
        spare[-2] = codebook.features[f].kind == CATEGORY
        codes.append(np.flatnonzero(~spare | (held > 0)))
    rows = np.sum([summary.by_class for summary in summaries], axis=0)
    named = [label != ANY_OTHER for label in codebook.target.labels]
    return Kept(features, codes, np.flatnonzero(np.array(named) | (rows > 0)))


def _place(
    summary: Summary,
    tables: NDArray[Any],
    size: int,
    kept: Kept,
    cards: NDArray[np.int64],
    out: Floats,
) -> None:
    """Write the tables of a site where those of its sets stand among all."""
    own_cards, features = summary.cards, np.flatnonzero(summary.recorded)
    position = np.searchsorted(kept.features, features)
    subsets = level(len(features), size)
    starts = table_starts(subsets, own_cards)
    ends = table_starts(level(len(cards), size), cards)
    places = rank(position[subsets])
    for number, subset in enumerate(subsets):
        table = tables[starts[number] : starts[number + 1]].reshape(*own_cards[subset], -1)
        chosen = [kept.codes[position[member]] for member in subset]
        held = table[np.ix_(*chosen, kept.classes)]
        place = places[number]
        out[ends[place] : ends[place + 1]] = held.reshape(-1, len(kept.classes))


def _audit(code: ColumnCode, role: str, categories: tuple[str, ...]) -> ColumnAudit:
    return ColumnAudit(
        column=code.column,
        role=role,
        treatment=AS_IT_IS if code.exact or not code.edges else OF_CODEBOOK,
        categories=categories,
        edges=() if code.exact else code.edges,
        taken_for="number" if code.kind == NUMBER else "category",
    )


def with_hidden_classes(summaries: Sequence[Summary]) -> list[Summary]:
    """Summaries with a few rows of every class that other sites have and rounding may hide.

    Without them the target would seem to be less uncertain than it is: not at all, if one class is
    left. So where another site has rows of a class, a site that rounds and shows none is taken to
    have as many rows of it as rounding hides on the mean.
    """
    elsewhere = np.any([one.by_class > 0 for one in summaries], axis=0)
    found = []
    for one in summaries:
        hidden = elsewhere & (one.by_class == 0)
        if not one.exact and hidden.any():
            rows = np.where(hidden, hidden_rows(one.min_cell), one.by_class)
            one = replace(one, by_class=rows)
        found.append(one)
    return found


def tells_of_classes(summary: Summary) -> bool:
    """Whether a site has rows of two classes at least."""
    return int(np.count_nonzero(summary.by_class)) > 1
