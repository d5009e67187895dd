"""Scores in place of counts: what a site shares that may not even share tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.count_tables import LARGEST, ScoresAlone
from misfeat.information.tabled import TableInformation
from misfeat.lattice import count, level, rank
from misfeat.sites.joining import Kept, joined_tables, with_hidden_classes
from misfeat.sites.rounding import rounded_summary
from misfeat.sites.summary import SCORES, Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.information.count_tables import CountTables
    from misfeat.sites.codebook import Codebook


def scored_summary(summary: Summary, least: int = 1, secret: bytes = b"") -> Summary:
    """The scores above chance of all sets that a site has tables of, in place of the tables.

    Scores are rounded to what so many rows weigh, n over the rows of the site in nats: a score to
    the last digit would tell the counts that it was made of. Rows by class are multiples of
    `least`. Chance is drawn from `secret` (`sealing.secret_of`) beside the counts.
    """
    if summary.share == SCORES:
        return summary
    return _scored(summary, joined_tables([summary], summary.codebook)[0], least, secret)


def _scored(summary: Summary, tables: CountTables, least: int = 1, secret: bytes = b"") -> Summary:
    """What `scored_summary` says, from the site's tables as they are scored."""
    found = TableInformation(tables, above_chance=True).of_levels(0, 1, summary.size, None)
    by_class, in_use = summary.by_class, tables.categories
    if least > 1:
        rounded = rounded_summary(summary, least, secret)
        by_class = rounded.by_class
        in_use = joined_tables([rounded], summary.codebook)[0].categories
    noise = summary.noise
    if noise is not None:
        noise = replace(noise, classes=(), worth=_worth_of(summary, tables))
    told = replace(
        summary,
        share=SCORES,
        by_class=by_class,
        tables=summary.tables[:0],
        smaller=(),
        min_cell=max(least, summary.min_cell),
        in_use=tuple(map(len, in_use)),
        noise=noise,
    )
    scores = tuple(np.rint(one / told.step).astype(np.int64) for one in found)
    return replace(told, scores=scores)


def _worth_of(summary: Summary, tables: CountTables | None) -> tuple[float, ...]:
    """How many rows, counted exactly, tell as much as those of a site about sets of every size.

    `tables` are the site's, None where it shares scores.
    """
    sizes = range(1, summary.size + 1)
    if tables is not None:
        return tuple(float(tables.rows_worth(size)[0]) for size in sizes)
    if summary.noise is not None:
        return summary.noise.worth
    return tuple(float(summary.rows) for _ in sizes)


def joined_scores(summaries: Sequence[Summary], codebook: Codebook) -> tuple[ScoresAlone, Kept]:
    """The scores of all sites, side by side; tables are scored here."""
    scored, worth = [], np.zeros((len(summaries), LARGEST))
    for number, one in enumerate(summaries):
        tables = None if one.share == SCORES else joined_tables([one], one.codebook)[0]
        scored.append(one if tables is None else _scored(one, tables))
        told = _worth_of(one, tables)
        worth[number] = told + told[-1:] * (LARGEST - len(told))
    noisy = np.array([one.noise is not None for one in scored])
    rows = np.array([one.rows for one in scored])
    features = np.flatnonzero(np.any([one.recorded for one in scored], axis=0))
    most = min(max(len(one.scores) for one in scored), len(features))
    by_size = [np.full((len(scored), count(len(features), m)), np.nan) for m in (1, 2, 3)]
    cards = np.ones(len(features), dtype=np.int64)
    for number, one in enumerate(scored):
        own = np.searchsorted(features, np.flatnonzero(one.recorded))
        cards[own] = np.maximum(cards[own], one.in_use)
        for size, held in enumerate(one.scores, start=1):
            by_size[size - 1][number, rank(own[level(len(own), size)])] = held * one.step
    classes = np.flatnonzero(np.sum([one.by_class for one in scored], axis=0) > 0)
    nothing = np.zeros((len(scored), 0))
    singles, pairs, triples = (
        held if size <= most else nothing for size, held in enumerate(by_size, start=1)
    )
    alone = ScoresAlone(
        features=tuple(codebook.features[f].column for f in features),
        cards=cards,
        missing=np.array([~one.recorded[features] for one in scored]),
        by_class=np.array([one.by_class[classes] for one in with_hidden_classes(scored)], float),
        singles=singles,
        pairs=pairs,
        triples=triples,
        steps=np.array([one.step for one in scored]),
        effective=worth if (worth < rows[:, None]).any() else None,
        noisy=noisy if noisy.any() else None,
    )
    return alone, Kept(features, [], classes)
