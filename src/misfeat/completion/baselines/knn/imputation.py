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

from misfeat.completion.baselines.imputed import most_frequent, recorded_codes
from misfeat.completion.baselines.knn.kernels import Donors, impute_rows
from misfeat.completion.numbering import numbered_together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.runtime.threads import Work

    Codes = NDArray[np.integer]
    Mask = NDArray[np.bool_]

WORD = 64
"""Bits of a word."""
TASKS_A_THREAD = 8
"""Rows are cut into so many tasks a thread."""


def imputed_codes(
    cohorts: Cohorts,
    missing: Mask,
    n_neighbors: int,
    with_target: bool,
    work: Work,
    compared: Mask | None = None,
) -> Codes:
    """The codes of all cohorts with a value for every feature that one never recorded.

    `missing` marks what counts as never recorded, whatever the cohorts hold of it. Rows of a cohort
    are compared in the features that `compared` marks for it; None: in all.
    """
    codes, cohort_of = recorded_codes(cohorts, missing)
    packed = PackedRows.of(codes, cohorts.target_codes if with_target else None, missing, cohort_of)
    own_fields = packed.fields_compared(compared)
    completed = codes.copy()
    for cohort in np.flatnonzero(missing.any(axis=1)):
        lacking = np.flatnonzero(missing[cohort])
        own = slice(cohorts.offsets[cohort], cohorts.offsets[cohort + 1])
        fields = own_fields[cohort]
        donors = _donors_of(int(cohort), codes[lacking], cohorts.weights, cohort_of, packed, fields)
        # Rows that agree in all that they are compared by get the same values.
        words = packed.words[:, own].T & np.bitwise_or.reduce(packed.bits[fields], axis=0)
        rows, place = np.unique(words, axis=0, return_inverse=True)
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
    bits : ndarray of uint64 of shape (n_fields, n_words)
        All bits of each field.
    highest : ndarray of uint64 of shape (n_fields, n_words)
        The highest bit of each field.
    recorded : ndarray of bool of shape (n_cohorts, n_fields)
        Which fields each cohort has.
    """

    words: NDArray[np.uint64]
    bits: NDArray[np.uint64]
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
        bits = np.zeros((len(fields), n_words), dtype=np.uint64)
        highest = np.zeros_like(bits)
        for f, (w, s, width) in enumerate(zip(word, shift, widths, strict=True)):
            words[w] |= fields[f] << np.uint64(s)
            bits[f, w] = np.uint64((2**width - 1) << s)
            highest[f, w] = np.uint64(1 << (s + width - 1))
        return cls(words, bits, highest, recorded)

    def fields_compared(self, features: Mask | None) -> Mask:
        """The fields that the rows of each cohort are compared in: its own ones of some features.

        The target is compared wherever it takes part.
        """
        if features is None:
            return self.recorded
        fields = self.recorded.copy()
        fields[:, : features.shape[1]] &= features
        return fields


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
    fields: Mask,
) -> Donors:
    """The rows that have one of a cohort's missing features, whose codes are `values`.

    They are compared in those of the cohort's `fields` that their own cohort recorded.
    """
    there = (values >= 0) & (cohort_of != cohort)
    common = packed.recorded & fields
    comparable = np.flatnonzero(there.any(axis=0) & common[cohort_of].any(axis=1))
    kinds = np.vstack([cohort_of, there])[:, comparable]
    block_of, n_blocks = numbered_together(kinds, len(comparable))
    blocks = np.empty((len(kinds), n_blocks), dtype=np.int64)
    blocks[:, block_of] = kinds
    rows = comparable[np.argsort(block_of, kind="stable")]
    sizes = np.bincount(block_of, minlength=n_blocks)
    common = common[blocks[0]]
    return Donors(
        words=packed.words.take(rows, axis=1),
        weights=weights[rows],
        values=values.take(rows, axis=1),
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        gives=np.ascontiguousarray(blocks[1:].T, dtype=bool),
        lower=np.bitwise_or.reduce(packed.bits & ~packed.highest, axis=0),
        compared=np.bitwise_or.reduce(
            np.where(common[:, :, None], packed.highest, np.uint64(0)), axis=1
        ),
        distances=_ranked_distances(common.sum(axis=1)),
        usual=np.array(
            [most_frequent(v[t], weights[t]) for v, t in zip(values, there, strict=True)],
            dtype=np.int64,
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
