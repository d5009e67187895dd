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

    from numpy.typing import NDArray

    from misfeat.information.count_tables import CountTables
    from misfeat.sites.codebook import Codebook
    from misfeat.sites.spending import Noise


def scored_summary(summary: Summary, least: int = 1, secret: bytes = b"") -> Summary:
    """The scores above chance of all sets that a site has tables of, in place of the tables.

    Scores are rounded to what so many rows weigh, n over the rows of the site in nats: a score to
    the last digit would tell the counts that it was made of. Rows by class are multiples of
    `least`. Chance is drawn from `secret` (`sealing.secret_of`) beside the counts.
    """
    if summary.share == SCORES:
        return summary
    tables, _ = joined_tables([summary], summary.codebook)
    found = TableInformation(tables, above_chance=True).of_levels(0, 1, summary.size, None)
    by_class, in_use = summary.by_class, tables.categories
    if least > 1:
        rounded = rounded_summary(summary, least, secret)
        by_class = rounded.by_class
        in_use = joined_tables([rounded], summary.codebook)[0].categories
    told = replace(
        summary,
        share=SCORES,
        by_class=by_class,
        tables=summary.tables[:0],
        smaller=(),
        min_cell=max(least, summary.min_cell),
        in_use=tuple(map(len, in_use)),
        noise=_without_tables(summary, tables),
    )
    scores = tuple(np.rint(one / told.step).astype(np.int64) for one in found)
    return replace(told, scores=scores)


def _without_tables(summary: Summary, tables: CountTables) -> Noise | None:
    """What is said of noise where the tables that have it are not shared."""
    if summary.noise is None:
        return None
    worth = tuple(float(tables.rows_worth(m)[0]) for m in range(1, summary.size + 1))
    return replace(summary.noise, classes=(), worth=worth)


def _effective(scored: Sequence[Summary]) -> NDArray[np.float64] | None:
    """How many rows, counted exactly, would tell as much; None where all were."""
    if all(one.noise is None for one in scored):
        return None
    found = np.array([[float(one.rows)] * LARGEST for one in scored])
    for number, one in enumerate(scored):
        if one.noise is not None:
            found[number] = one.noise.worth + one.noise.worth[-1:] * (LARGEST - one.size)
    return found


def joined_scores(summaries: Sequence[Summary], codebook: Codebook) -> tuple[ScoresAlone, Kept]:
    """The scores of all sites, side by side; tables are scored here."""
    scored = [scored_summary(summary) for summary in summaries]
    features = np.flatnonzero(np.any([one.recorded for one in scored], axis=0))
    most = min(max(len(one.scores) for one in scored), len(features))
    by_size = [np.full((len(scored), count(len(features), m)), np.nan) for m in (1, 2, 3)]
    cards = np.ones(len(features), dtype=np.int64)
    for number, one in enumerate(scored):
        own = np.searchsorted(features, np.flatnonzero(one.recorded))
        cards[own] = np.maximum(cards[own], one.in_use)
        for size, held in enumerate(one.scores, start=1):
            by_size[size - 1][number, rank(own[level(len(own), size)])] = held * one.step
    rows = np.sum([one.by_class for one in scored], axis=0)
    classes = np.flatnonzero(rows > 0)
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
        effective=_effective(scored),
    )
    return alone, Kept(features, [], classes)
