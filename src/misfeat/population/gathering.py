"""Everything that is known about the sets of every size: scores of own rows, predictions, the pool.

The transfer completes the tables of what a cohort did not record. Their scores above chance stand
beside those of the rows that are there, and their expected counts enter the pool, so that every set
is pooled over all cohorts. Tables pass by in stretches and are not kept, but for the pool's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.parts import recorded_part_scores
from misfeat.completion.transfer.completer import TransferRows
from misfeat.completion.transfer.model import TransferModel
from misfeat.information.chance import chance_of_counts, n_log_n
from misfeat.information.shannon import entropy
from misfeat.machine.threads import Work
from misfeat.population.pool import LARGEST_PART, PooledSets, joined, shrink
from misfeat.population.posterior import Evidence
from misfeat.population.regions import evidence_of_regions, tables_of_regions
from misfeat.population.variance import null_variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import Known
    from misfeat.completion.transfer.model import CompletedTables
    from misfeat.completion.transfer.rows import CodedRows, CountedTables

    Floats = NDArray[np.float64]

COARSEST = 100.0
"""Rounding that makes chance more times as large leaves no less of it in the pool: where a site
tells next to nothing, others do not make that good."""


@dataclass(frozen=True, eq=False)
class Gathered:
    """What is known about all sets of one size.

    `regions` are the pools of every region; a pool has its tables where larger sets are expected
    from them.
    """

    evidence: Evidence
    pool: PooledSets
    regions: tuple[PooledSets, ...] = ()


def gather_evidence(
    known: Known,
    above_chance: Sequence[Floats],
    size: int,
    *,
    guesses: Sequence[Floats] | None = None,
    proxies: bool = True,
    table_size: int = 3,
) -> dict[int, Gathered]:
    """Evidence of all sets of size 1, 2, … up to one, recorded and predicted.

    `above_chance` has scores of the rows themselves from size 0 on, NaN where there is none.
    `guesses` are predicted ones in place of the transfer's; the pool is the same. For `proxies` and
    `table_size` see `TransferCompleter`.
    """
    rows, missing = known.prepared(TransferRows.of).coded, known.exact.missing
    model = TransferModel(
        rows,
        missing,
        Work(known.n_jobs),
        proxies=proxies,
        table_size=table_size,
        above_chance=True,
    )
    if size > LARGEST_PART:
        model.keep_triples()
    parents = known.parents
    merged = [np.zeros((len(missing), 1))]
    found: dict[int, Gathered] = {}
    for m in range(1, size + 1):
        parts = found.get(min(m - 1, LARGEST_PART))
        keep = m < size and m <= LARGEST_PART
        tables = _pooled(model, m, rows, parts, keep=keep, parents=parents)
        guessed, pool = tables.guessed, tables.pool
        merged.append(tables.merged)
        if not rows.as_scored:
            guessed = guessed + lost_by_merging(above_chance, merged, pool.subsets, missing)
        if guesses is not None:
            guessed = guesses[m]
        scores = np.where(np.isnan(above_chance[m]), guessed, above_chance[m])
        n_rows = rows.rows_counted(m)
        n_cells = rows.cards[pool.subsets].prod(axis=1)
        more = rows.more_variance(m)
        evidence = Evidence(
            scores=scores,
            null=null_variance(n_rows, n_cells, rows.n_classes) * more,
            n_rows=n_rows,
            predicted=np.isnan(above_chance[m]),
            pooled=pool.information,
            lacking=missing[:, pool.subsets].mean(axis=2),
            whole=np.array([entropy(counts) for counts in rows.by_class]),
            noisy=rows.as_few,
            coarser=np.clip(more, 1.0, COARSEST) if m > 1 else 1.0,
        )
        if parents is not None:
            told = np.array([region.information for region in tables.regions])
            regions = evidence_of_regions(told, rows.by_class, parents, n_cells, evidence)
            evidence = replace(evidence, regions=regions)
        found[m] = Gathered(evidence, pool, tables.regions)
    return found


class _OfTables(NamedTuple):
    """What the completed tables of all sets of one size tell.

    Predicted scores above chance, and counted ones with categories merged (worked out only where
    merging made a difference), both of shape (n_cohorts, n_sets); and the pools.
    """

    guessed: Floats
    merged: Floats
    pool: PooledSets
    regions: tuple[PooledSets, ...]


def _pooled(
    model: TransferModel,
    size: int,
    rows: CodedRows | CountedTables,
    parts: Gathered | None,
    *,
    keep: bool,
    parents: NDArray[np.int64] | None,
) -> _OfTables:
    """What the tables of all sets of one size tell, completed a stretch at a time."""
    by_class = rows.by_class
    found: dict[int, _OfTables] = {}

    def shrunken(
        stretch: CompletedTables, counts: Floats, smaller: PooledSets | None
    ) -> PooledSets:
        return shrink(stretch.subsets, counts, rows.cards, smaller, keep=keep)

    def pool(stretch: CompletedTables) -> None:
        pooled = shrunken(
            stretch, stretch.tables.sum(axis=0), None if parts is None else parts.pool
        )
        guessed = merged = stretch.above_chance
        if not rows.as_scored:
            merged = scores_of_tables(stretch, by_class)
        regions: tuple[PooledSets, ...] = ()
        if parents is not None:
            counts = tables_of_regions(stretch, parents)
            smaller = [None] * len(counts) if parts is None else parts.regions
            regions = tuple(map(partial(shrunken, stretch), counts, smaller))
        found[stretch.first] = _OfTables(guessed, merged, pooled, regions)

    model.hand_out_tables(size, pool)
    guessed, merged, pools, regions = zip(*(found[first] for first in sorted(found)), strict=True)
    return _OfTables(
        np.concatenate(guessed, axis=1),
        np.concatenate(merged, axis=1),
        joined(pools),
        tuple(map(joined, zip(*regions, strict=True))),
    )


def scores_of_tables(stretch: CompletedTables, by_class: Floats) -> Floats:
    """Scores above chance of counted tables; NaN where a cohort did not record a set."""
    scores = np.full(stretch.above_chance.shape, np.nan)
    n_lines = np.diff(stretch.starts, append=stretch.tables.shape[1])
    for i, table in enumerate(stretch.tables):
        recorded = np.isnan(stretch.above_chance[i])
        counts = table * np.repeat(recorded, n_lines)[:, None]
        chance = chance_of_counts(counts.sum(axis=1), by_class[i])
        cells = n_log_n(counts).sum(axis=1) - chance
        of_sets = np.add.reduceat(cells, stretch.starts) / by_class[i].sum()
        scores[i, recorded] = of_sets[recorded]
    return scores


def lost_by_merging(
    above_chance: Sequence[Floats],
    merged: Sequence[Floats],
    subsets: NDArray[np.integer],
    missing: NDArray[np.bool_],
) -> Floats:
    """By how much the recorded part of every set scores higher with the categories as they are.

    The transfer counts with rare categories merged and gaps as a category, so that tables stay
    small. Scores of recorded sets are those of the categories as they are, so that a predicted
    score gains as much as merging took from the part of the set that the cohort recorded; nothing
    where one of the two scores is not known.
    """
    lost = [
        recorded_part_scores(above_chance, cohort, subsets, lacks)
        - recorded_part_scores(merged, cohort, subsets, lacks)
        for cohort, lacks in enumerate(missing)
    ]
    return np.nan_to_num(lost)
