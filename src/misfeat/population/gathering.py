"""Everything that is known about the sets of every size: scores of own rows, predictions, the pool.

The transfer completes the tables of what a cohort did not record. Their scores above chance stand
beside those of the rows that are there, and their expected counts enter the pool, so that every set
is pooled over all cohorts. Tables pass by in stretches and are not kept, but for the pool's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.transfer.completer import TransferRows
from misfeat.completion.transfer.model import TransferModel
from misfeat.information.shannon import entropy
from misfeat.machine.threads import Work
from misfeat.population.merging import lost_by_merging, scores_of_tables
from misfeat.population.pool import LARGEST_PART, PooledSets, joined, shrink
from misfeat.population.posterior import Evidence
from misfeat.population.variance import null_variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import Known
    from misfeat.completion.transfer.counted import CountedTables
    from misfeat.completion.transfer.model import CompletedTables
    from misfeat.completion.transfer.rows import CodedRows

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
    """

    evidence: Evidence
    pool: PooledSets


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
    merged = [np.zeros((len(missing), 1))]
    found: dict[int, Gathered] = {}
    for m in range(1, size + 1):
        parts = found[min(m - 1, LARGEST_PART)].pool if m > 1 else None
        keep = m < size and m <= LARGEST_PART
        guessed, of_merged, pool = _pooled(model, m, rows, parts, keep=keep)
        merged.append(of_merged)
        if not rows.as_scored:
            guessed = guessed + lost_by_merging(above_chance, merged, pool.subsets, missing)
        if guesses is not None:
            guessed = guesses[m]
        scores = np.where(np.isnan(above_chance[m]), guessed, above_chance[m])
        n_rows = rows.rows_worth(m)
        n_cells = rows.cards[pool.subsets].prod(axis=1)
        evidence = Evidence(
            scores=scores,
            null=null_variance(n_rows, n_cells, rows.n_classes),
            n_rows=n_rows,
            predicted=np.isnan(above_chance[m]),
            pooled=pool.information,
            lacking=missing[:, pool.subsets].mean(axis=2),
            whole=np.array([entropy(counts) for counts in rows.by_class]),
        )
        found[m] = Gathered(evidence, pool)
    return found


def _pooled(
    model: TransferModel,
    size: int,
    rows: CodedRows | CountedTables,
    parts: PooledSets | None,
    *,
    keep: bool,
) -> tuple[Floats, Floats, PooledSets]:
    """Predicted scores above chance of all sets of one size, those with merging, and the pool.

    The second are worked out only where merging made a difference.
    """
    by_class = rows.by_class
    found: dict[int, tuple[Floats, Floats, PooledSets]] = {}

    def pool(stretch: CompletedTables) -> None:
        counts = stretch.tables.sum(axis=0)
        pooled = shrink(stretch.subsets, counts, rows.cards, parts, keep=keep)
        guessed = merged = stretch.above_chance
        if not rows.as_scored:
            merged = scores_of_tables(stretch, by_class)
        found[stretch.first] = guessed, merged, pooled

    model.hand_out_tables(size, pool)
    guessed, merged, pools = zip(*(found[first] for first in sorted(found)), strict=True)
    return np.concatenate(guessed, axis=1), np.concatenate(merged, axis=1), joined(pools)
