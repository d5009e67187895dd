"""Imputation by nearest neighbours as a completer: a baseline of the paper.

Donors of a feature are the rows of other cohorts that have it, each with as many votes as it stands
for rows. A value that is not there in a single row is a value of its own in comparisons, and has no
vote. Donors without a common feature have no distance: where all are such, all of them vote. Scores
of imputed rows are read only where the cohort's own scores do not say.
"""

from dataclasses import dataclass, replace
from functools import partial
from math import comb

import numpy as np

from misfeat.cohorts.cohort_data import NOT_RECORDED, Cohorts, distinct_columns
from misfeat.completion.base import BaseCompleter, recorded_sets_filled
from misfeat.completion.completer_data import ExactScores, Guess, Known
from misfeat.completion.nearest_neighbour_kernels import Donors, impute_rows
from misfeat.exceptions import check_count
from misfeat.information import level_mutual_info
from misfeat.runtime.array_types import Flags, Floats, Indices, Integers
from misfeat.runtime.threads import Work

TASKS_A_THREAD = 8  # rows are cut into so many tasks a thread


@dataclass(kw_only=True, eq=False, repr=False)
class KNNCompleter(BaseCompleter):
    """Predict a score from rows in which unrecorded features are imputed.

    Every row gets the value that most of its nearest rows in other subgroups have, the distance
    being the share of commonly recorded features in which two rows differ. The score is that of the
    imputed rows. Needs the rows of all subgroups.

    Parameters
    ----------
    confidence, rounds, random_state : see `BaseCompleter`
        Of the intervals; five rounds by default.
    n_neighbors : int, default=5
        How many rows vote on a value. Further rows that are as near as the last of them vote too.
    with_target : bool, default=True
        Whether rows are compared in the target as in a feature.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, hide=0.2, random_state=0)
    >>> selector = SubgroupSelector(data.groups, completer=KNNCompleter(random_state=0))
    >>> scores = selector.fit(data.columns, data.target).scores()
    >>> bool((scores["low"] <= scores["score"]).all())
    True
    """

    n_neighbors: int = 5
    with_target: bool = True
    rounds: int = 5

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        cohorts, exact, work = known.rows_for("knn"), known.exact, Work(known.n_jobs)
        codes = imputed_codes(cohorts, exact.missing, self.n_neighbors, self.with_target, work)
        scores = imputed_scores(all_recorded(cohorts, codes), exact, size, known.n_jobs)
        return guess_from_scores(exact, scores)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.n_neighbors, "n_neighbors")


def imputed_codes(
    cohorts: Cohorts,
    missing: Flags,
    n_neighbors: int,
    with_target: bool,
    work: Work,
    compared: Flags | None = None,
) -> Indices:
    """Codes with a value for what is `missing`; rows are `compared` in some features, or all."""
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    codes = np.where(missing[cohort_of].T, NOT_RECORDED, cohorts.codes)
    # A value that is not there is one more code of its feature.
    one_more = codes.max(axis=1, initial=0, keepdims=True).astype(np.int64) + 1
    fields, recorded = np.where(codes < 0, one_more, codes), ~missing
    own_fields = recorded if compared is None else recorded & compared
    if with_target:  # the last field
        everywhere = np.ones(len(missing), dtype=bool)
        fields = np.vstack([fields, cohorts.target_codes])
        recorded = np.column_stack([recorded, everywhere])
        own_fields = np.column_stack([own_fields, everywhere])
    fields = fields.astype(np.uint16 if fields.max(initial=0) < 2**16 else np.uint32)
    completed = codes.copy()
    for cohort in np.flatnonzero(missing.any(axis=1)):
        lacking = np.flatnonzero(missing[cohort])
        own = slice(cohorts.offsets[cohort], cohorts.offsets[cohort + 1])
        common = recorded & own_fields[cohort]
        donors = _donors_of(cohort, codes[lacking], cohorts.weights, cohort_of, fields, common)
        # Rows that agree in all that they are compared by get the same values.
        first, kind = distinct_columns(fields[own_fields[cohort], own])
        rows = np.empty((len(first), len(fields)), dtype=fields.dtype)
        rows[kind] = fields[:, own].T
        imputed = np.empty((len(lacking), len(first)), dtype=codes.dtype)
        stretches = work.stretches(len(first), TASKS_A_THREAD)
        work.run([partial(impute_rows, rows, *s, donors, n_neighbors, imputed) for s in stretches])
        completed[lacking, own] = imputed[:, kind]
    return completed


def _donors_of(
    cohort: np.integer,
    values: Indices,
    weights: Integers,
    cohort_of: Integers,
    fields: Indices,
    common: Flags,
) -> Donors:
    """The rows that have one of a cohort's missing features; these have the codes `values`."""
    there = (values >= 0) & (cohort_of != cohort)
    comparable = np.flatnonzero(there.any(axis=0) & common[cohort_of].any(axis=1))
    kinds = np.vstack([cohort_of, there])[:, comparable]
    first, block_of = distinct_columns(kinds)
    blocks = kinds[:, first]
    rows = comparable[np.argsort(block_of, kind="stable")]
    sizes = np.bincount(block_of, minlength=len(first))
    n_compared = common[blocks[0]].sum(axis=1)
    # The rank of the share d / n for every number n of compared features and every d up to the
    # largest. Division rounds correctly, so that equal shares are equal numbers.
    share = np.arange(n_compared.max(initial=0) + 1) / n_compared[:, None]
    _, distances = np.unique(share, return_inverse=True)
    # The most frequent value of every feature, the smallest one of equals, 0 of none.
    own = [(codes[has], weights[has]) for codes, has in zip(values, there, strict=True)]
    usual = [np.bincount(*one, minlength=1).argmax() for one in own]
    return Donors(
        fields=fields.take(rows, axis=1),
        weights=weights[rows],
        values=values.take(rows, axis=1),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        gives=np.ascontiguousarray(blocks[1:].T, dtype=bool),
        compared=common[blocks[0]],
        distances=distances.reshape(share.shape),
        usual=np.array(usual, dtype=np.int64),
    )


def all_recorded(cohorts: Cohorts, codes: Indices) -> Cohorts:
    """The cohorts as if they had recorded all features, with these codes."""
    return replace(
        cohorts,
        codes=codes,
        missing=np.zeros_like(cohorts.missing),
        # A feature that no cohort recorded has one category now.
        categories=tuple(labels or ("",) for labels in cohorts.categories),
    )


def imputed_scores(
    imputed: Cohorts, exact: ExactScores, size: int, n_jobs: int | None = None
) -> list[Floats]:
    """Scores of imputed rows by size from 0 on; 0 for a cohort that lacked nothing."""
    missing = exact.missing
    scores = [np.zeros((len(imputed), comb(missing.shape[1], m))) for m in range(size + 1)]
    for i, cohort in enumerate(imputed):
        if missing[i].any():
            own = level_mutual_info(cohort, 1, size, above_chance=exact.above_chance, n_jobs=n_jobs)
            for of_size, own_scores in zip(scores[1:], own, strict=True):
                of_size[i] = np.nan_to_num(own_scores)  # 0 where no row has the set
    return scores


def guess_from_scores(exact: ExactScores, scores: list[Floats]) -> Guess:
    """A guess from scores by size, read where a cohort's own scores say nothing."""
    pairs = zip(recorded_sets_filled(exact, len(scores) - 1), scores, strict=True)
    return Guess.of([np.where(np.isnan(own), guess, own) for own, guess in pairs])
