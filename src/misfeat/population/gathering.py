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

from misfeat.completion.transfer.completer import TransferRows
from misfeat.completion.transfer.model import TransferModel
from misfeat.information.shannon import entropy
from misfeat.machine.threads import Work
from misfeat.population.merging import lost_by_merging, scores_of_tables
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


@dataclass(frozen=True, eq=False)
class Gathered:
    """What is known about all sets of one size.

    Attributes
    ----------
    evidence : Evidence
        Scores above chance of all cohorts, and the information of the pool.
    pool : PooledSets
        The pool; with its tables where larger sets are expected from them.
    regions : tuple of PooledSets
        The same of every region that cohorts lie in.
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

    Parameters
    ----------
    known : Known
        The rows of all cohorts, what each never recorded, and how many threads may work.
    above_chance : sequence of ndarray of shape (n_cohorts, n_sets)
        Scores above chance of the rows themselves, from size 0 on; NaN where a cohort did not
        record a set, or its score was not computed.
    size : int
        The largest size.
    guesses : sequence of ndarray of shape (n_cohorts, n_sets), default=None
        Predicted scores above chance from size 0 on, in place of the transfer's; the pool is the
        same.
    proxies : bool, default=True
        Whether an unrecorded feature's distribution is taken through recorded features that stand
        in for it.
    table_size : {2, 3}, default=3
        Tables of up to so many features are carried over between cohorts.

    Returns
    -------
    dict of int to Gathered
        By size.
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
        evidence = Evidence(
            scores=scores,
            null=null_variance(n_rows, n_cells, rows.n_classes) * rows.more_variance(m),
            n_rows=n_rows,
            predicted=np.isnan(above_chance[m]),
            pooled=pool.information,
            lacking=missing[:, pool.subsets].mean(axis=2),
            whole=np.array([entropy(counts) for counts in rows.by_class]),
            noisy=rows.as_few,
        )
        if parents is not None:
            told = np.array([region.information for region in tables.regions])
            regions = evidence_of_regions(told, rows.by_class, parents, n_cells, evidence)
            evidence = replace(evidence, regions=regions)
        found[m] = Gathered(evidence, pool, tables.regions)
    return found


class _OfTables(NamedTuple):
    """What the completed tables of all sets of one size tell.

    Attributes
    ----------
    guessed, merged : ndarray of shape (n_cohorts, n_sets)
        Predicted scores above chance, and counted ones with categories merged; the second are
        worked out only where merging made a difference.
    pool : PooledSets
        The pool.
    regions : tuple of PooledSets
        The same of every region.
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
