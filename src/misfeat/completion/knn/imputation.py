"""Values for the features that cohorts never recorded, from the nearest rows of other cohorts.

Donors of a feature are the rows of other cohorts that have it. The distance of a row to a donor is
the share, of the features that both their cohorts recorded, in which they differ. The k nearest
donors vote, each with as many votes as it stands for rows, and with them all that are as far as the
k-th. A value that is not there in a single row is a value of its own in comparisons, and has no
vote. Donors without a common feature have no distance: where all are such, all of them vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.model import NOT_RECORDED
from misfeat.completion.knn.kernels import Donors, impute_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.information.work import Work

    Codes = NDArray[np.integer]
    Mask = NDArray[np.bool_]

WORD = 64
"""Bits of a word."""
TASKS_A_THREAD = 8
"""Rows are cut into so many tasks a thread."""


def imputed_codes(
    cohorts: Cohorts, missing: Mask, n_neighbors: int, with_target: bool, work: Work
) -> Codes:
    """The codes of all cohorts with a value for every feature that one never recorded.

    Parameters
    ----------
    cohorts : Cohorts
        Coded, weighted rows.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features count as never recorded, whatever the cohorts hold of them.
    n_neighbors : int
        How many rows vote.
    with_target : bool
        Whether rows are compared in the target too.
    work : Work
        Threads.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> from misfeat.information.work import Work
    >>> table = {
    ...     "site": ["a", "a", "b", "b"],
    ...     "x": [0, 1, 0, 1],
    ...     "z": [1, 0, None, None],
    ...     "y": [0, 1, 0, 1],
    ... }
    >>> cohorts = build_cohorts(table, "y", groups="site")
    >>> imputed_codes(cohorts, cohorts.missing, 1, True, Work())[1].tolist()
    [1, 0, 1, 0]
    """
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    codes = np.where(missing[cohort_of].T, NOT_RECORDED, cohorts.codes)
    packed = PackedRows.of(codes, cohorts.target_codes if with_target else None, missing, cohort_of)
    completed = codes.copy()
    for cohort in np.flatnonzero(missing.any(axis=1)):
        lacking = np.flatnonzero(missing[cohort])
        own = slice(cohorts.offsets[cohort], cohorts.offsets[cohort + 1])
        donors = _donors_of(int(cohort), codes[lacking], cohorts.weights, cohort_of, packed)
        # Rows that agree in all that they are compared by get the same values.
        rows, place = np.unique(packed.words[:, own].T, axis=0, return_inverse=True)
        imputed = np.empty((len(lacking), len(rows)), dtype=codes.dtype)
        stretches = work.stretches(len(rows), TASKS_A_THREAD)
        work.run([partial(impute_rows, rows, *s, donors, n_neighbors, imputed) for s in stretches])
        completed[lacking, own] = imputed[:, place.reshape(-1)]
    return completed


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Rows of all cohorts, packed into words; the target is the last field where it takes part.

    Attributes
    ----------
    words : ndarray of uint64 of shape (n_words, n_rows)
        Fields of bits, one a feature; 0 in features that a row's cohort never recorded.
    lower : ndarray of uint64 of shape (n_words,)
        All but the highest bit of every field.
    highest : ndarray of uint64 of shape (n_fields, n_words)
        The highest bit of each field.
    recorded : ndarray of bool of shape (n_cohorts, n_fields)
        Which fields each cohort has.
    """

    words: NDArray[np.uint64]
    lower: NDArray[np.uint64]
    highest: NDArray[np.uint64]
    recorded: Mask

    @classmethod
    def of(
        cls,
        codes: Codes,
        target: Codes | None,
        missing: Mask,
        cohort_of: NDArray[np.int64],
    ) -> PackedRows:
        """Pack codes and the target; the codes of unrecorded features are not read."""
        fields = _without_gaps(codes)
        fields[missing[cohort_of].T] = 0
        recorded = ~missing
        if target is not None:
            fields = np.vstack([fields, target.astype(np.uint64)])
            recorded = np.column_stack([recorded, np.ones(len(missing), dtype=bool)])
        widths = [max(1, int(field.max(initial=0)).bit_length()) for field in fields]
        word, shift = _places(widths)
        n_words = max(word, default=-1) + 1
        words = np.zeros((n_words, codes.shape[1]), dtype=np.uint64)
        lower = np.zeros(n_words, dtype=np.uint64)
        highest = np.zeros((len(fields), n_words), dtype=np.uint64)
        for f, (w, s, width) in enumerate(zip(word, shift, widths, strict=True)):
            words[w] |= fields[f] << np.uint64(s)
            lower[w] |= np.uint64((2 ** (width - 1) - 1) << s)
            highest[f, w] = np.uint64(1 << (s + width - 1))
        return cls(words, lower, highest, recorded)


def _without_gaps(codes: Codes) -> NDArray[np.uint64]:
    """Codes in which a value that is not there is one more code of its feature."""
    one_more = codes.max(axis=1, initial=0, keepdims=True).astype(np.int64) + 1
    return np.where(codes < 0, one_more, codes).astype(np.uint64)


def _places(widths: list[int]) -> tuple[list[int], list[int]]:
    """The word of every field and how far it is shifted there; none crosses words.

    Examples
    --------
    >>> _places([30, 30, 5, 3])
    ([0, 0, 1, 1], [0, 30, 0, 5])
    """
    words, shifts = [], []
    word, used = 0, 0
    for width in widths:
        if used + width > WORD:
            word, used = word + 1, 0
        words.append(word)
        shifts.append(used)
        used += width
    return words, shifts


def _donors_of(
    cohort: int,
    values: Codes,
    weights: NDArray[np.int64],
    cohort_of: NDArray[np.int64],
    packed: PackedRows,
) -> Donors:
    """The rows that have one of a cohort's missing features, whose codes are `values`."""
    there = (values >= 0) & (cohort_of != cohort)
    common = packed.recorded & packed.recorded[cohort]
    comparable = np.flatnonzero(there.any(axis=0) & common.any(axis=1)[cohort_of])
    kinds = np.vstack([cohort_of, there])[:, comparable]
    blocks, block_of = np.unique(kinds, axis=1, return_inverse=True)
    block_of = block_of.reshape(-1)
    rows = comparable[np.argsort(block_of, kind="stable")]
    sizes = np.bincount(block_of, minlength=blocks.shape[1])
    common = common[blocks[0]]
    return Donors(
        words=packed.words.take(rows, axis=1),
        weights=weights[rows],
        values=values.take(rows, axis=1),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        gives=np.ascontiguousarray(blocks[1:].T, dtype=bool),
        lower=packed.lower,
        compared=np.bitwise_or.reduce(
            np.where(common[:, :, None], packed.highest, np.uint64(0)), axis=1
        ),
        distances=_ranked_distances(common.sum(axis=1)),
        usual=np.array(
            [_mode(v[t], weights[t]) for v, t in zip(values, there, strict=True)], dtype=np.int64
        ),
    )


def _ranked_distances(n_compared: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of the share d / n for every number n of features and every d up to the largest n.

    Examples
    --------
    >>> _ranked_distances(np.array([2, 1])).tolist()
    [[0, 1, 2], [0, 2, 3]]
    """
    differences = np.arange(n_compared.max(initial=0) + 1)
    # Division rounds correctly, so that equal shares are equal numbers.
    share = differences / n_compared[:, None]
    _, ranks = np.unique(share, return_inverse=True)
    return ranks.reshape(share.shape)


def _mode(values: Codes, weights: NDArray[np.int64]) -> int:
    """The most frequent value, the smallest one of equals, 0 of none.

    Examples
    --------
    >>> _mode(np.array([2, 1, 1]), np.array([3, 1, 2]))
    1
    """
    return int(np.bincount(values, weights, minlength=1).argmax())
