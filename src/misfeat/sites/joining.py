"""The tables of all sites side by side, as scores and the transfer take them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from misfeat.cohorts.coding import AS_IT_IS, OF_CODEBOOK
from misfeat.cohorts.model import NOT_RECORDED, Cohorts, ColumnAudit
from misfeat.information.count_tables import LARGEST, CountTables, table_starts
from misfeat.lattice import level, rank
from misfeat.reading.values import MISSING_LABEL
from misfeat.sites.codebook import ANY_OTHER, CATEGORY, NUMBER
from misfeat.sites.denoising import denoised_tables
from misfeat.sites.losing import lost, nothing_told
from misfeat.sites.noise import deviation_of_classes
from misfeat.sites.noise_cost import noise_cost, told_by_all, told_by_singles
from misfeat.sites.rounding import fitted_tables, hidden_rows, told_again
from misfeat.sites.summary import TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.sites.codebook import Codebook, ColumnCode
    from misfeat.sites.denoising import Denoised
    from misfeat.sites.losing import Lost
    from misfeat.sites.noise_cost import Told
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
    behind_noise = [denoised_tables(one) if one.noise is not None else None for one in summaries]
    of_sizes = [
        _tables(summary) if found is None else found.tables
        for summary, found in zip(summaries, behind_noise, strict=True)
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
    losses = _losses(summaries, of_sizes, behind_noise, telling, kept)
    return _with_losses(tables, losses, behind_noise), kept


def joined_cohorts(
    summaries: Sequence[Summary],
    codebook: Codebook,
    missing: NDArray[np.bool_],
    categories: tuple[tuple[str, ...], ...],
    kept: Kept,
    notes: tuple[str, ...],
    tables: CountTables | None = None,
) -> Cohorts:
    """All sites as subgroups of which nothing is known but their rows of each class."""
    names = tuple(f"site={summary.site}" for summary in summaries)
    believed = with_hidden_classes(summaries)
    by_class = np.array([summary.by_class[kept.classes] for summary in believed])
    place, target = np.nonzero(by_class)
    codes = np.where(missing[place].T, NOT_RECORDED, 0).astype(np.int8)
    classes = tuple(codebook.target.labels[c] for c in kept.classes)
    gaps = _rows_without(by_class.sum(axis=1), missing, tables)
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


def _rows_without(
    rows: NDArray[np.integer], missing: NDArray[np.bool_], tables: CountTables | None
) -> NDArray[np.int64]:
    """In how many rows of all sites each feature is missing, as far as the sites tell."""
    gaps: NDArray[np.int64] = (rows[:, None] * missing).sum(axis=0)
    if tables is not None:
        last = np.cumsum(tables.cards) - 1
        told = np.array([labels[-1] == MISSING_LABEL for labels in tables.categories])
        held = np.where(told, tables.singles[:, last].sum(axis=(0, 2)), 0.0)
        gaps += held.round().astype(np.int64)
    return gaps


def _tables(summary: Summary) -> list[Any]:
    """The tables of a site by size, consistent with each other."""
    return fitted_tables(summary) if summary.min_cell > 1 else summary.of_sizes()


def _losses(
    summaries: Sequence[Summary],
    of_sizes: Sequence[list[Floats]],
    behind_noise: Sequence[Denoised | None],
    telling: Sequence[bool],
    kept: Kept,
) -> list[Lost | None]:
    """What protecting its counts cost every site; None where they are exact."""
    told = {
        number: told_by_singles(behind, _rows(one), one.cards, _seed(one))
        for number, (one, behind) in enumerate(zip(summaries, behind_noise, strict=True))
        if behind is not None and telling[number] and behind.tells_of(_rows(one))
    }
    told = dict(zip(told, told_by_all(list(told.values())), strict=True))
    return [
        _loss(*about, told.get(number), kept)
        for number, about in enumerate(zip(summaries, of_sizes, behind_noise, telling, strict=True))
    ]


def _loss(
    summary: Summary,
    held: list[Floats],
    behind: Denoised | None,
    telling: bool,
    told: Told | None,
    kept: Kept,
) -> Lost | None:
    """What protecting its counts cost a site; `told` is None where noise leaves nothing to see."""
    if summary.exact:
        return None
    rows, seed = _rows(summary), _seed(summary)
    if behind is None and telling:
        return lost(rows, held, summary.cards, partial(told_again, least=summary.min_cell), seed)
    if behind is None or told is None:
        nothing = nothing_told(float(rows.sum()))
        # Where rows with noise are worth one, that says how much their scores vary.
        return nothing if behind is None else nothing._replace(variance=np.ones(LARGEST))
    own = np.isin(kept.features, np.flatnonzero(summary.recorded))
    values = np.array([len(codes) for codes, has in zip(kept.codes, own, strict=True) if has])
    n_classes = len(kept.classes)
    return noise_cost(
        behind, rows, summary.cards, told, values=values, n_classes=n_classes, seed=seed
    )


def _rows(summary: Summary) -> Floats:
    return summary.by_class.astype(np.float64)


def _seed(summary: Summary) -> int:
    """Of what is tried out: by what a site tells, whatever it is called."""
    return crc32(summary.tables.tobytes())


def _with_losses(
    tables: CountTables, losses: Sequence[Lost | None], behind_noise: Sequence[Denoised | None]
) -> CountTables:
    """Tables with what protecting them cost."""
    rows = tables.by_class.sum(axis=1)
    effective, noise = np.repeat(rows[:, None], LARGEST, axis=1), np.ones(len(rows))
    bias, variance = np.zeros((len(rows), LARGEST, 2)), np.ones((len(rows), LARGEST))
    as_few = np.array([behind is not None for behind in behind_noise])
    for number, found in enumerate(losses):
        if found is not None:
            bias[number], effective[number], variance[number], noise[number] = found
    return replace(
        tables,
        effective=effective,
        bias=bias,
        variance=variance,
        noise=noise,
        as_few=as_few if as_few.any() else None,
    )


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
    """Summaries with a few rows of every class that others tell of and protection may hide.

    Without them there would seem to be less to tell about the target than there is: nothing at all,
    if one class is left. So where another site tells of a class, a protected site that tells of
    none is taken to have as many rows of it as protection hides on the mean.
    """
    elsewhere = np.any([one.by_class > 0 for one in summaries], axis=0)
    return [_with_hidden(one, elsewhere & (one.by_class == 0)) for one in summaries]


def tells_of_classes(summary: Summary) -> bool:
    """Whether a site tells of rows of two classes at least."""
    return int(np.count_nonzero(summary.by_class)) > 1


def _with_hidden(summary: Summary, hidden: np.ndarray) -> Summary:
    if summary.exact or not hidden.any():
        return summary
    if summary.noise is not None:
        # Classes are seen from two deviations on: one is the middle of what is not.
        rows = max(1, round(deviation_of_classes(summary.noise.scales, summary.cards)))
    else:
        rows = hidden_rows(summary.min_cell)
    return replace(summary, by_class=np.where(hidden, rows, summary.by_class))
