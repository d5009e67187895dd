"""Compiled search for the nearest donors of a row, and their vote.

A row is packed into 64-bit words, a field of a few bits a feature. Two rows are compared by ``^``;
a field of the result is 0 where they agree. Adding all but its highest bit to itself without that
bit carries into the highest bit wherever the field is not 0, and never beyond it, so that the
features in which rows differ are counted by the highest bits that are set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.runtime.compilation import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

TILE = 1024
"""So many donors are compared before the near ones among them are picked."""

_ONES = np.uint64(0x5555555555555555)
_TWOS = np.uint64(0x3333333333333333)
_FOURS = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


class Donors(NamedTuple):
    """Rows that a cohort's missing features may be taken from.

    They come in blocks: rows of one cohort that have the same ones of the missing features.

    Attributes
    ----------
    words : ndarray of uint64 of shape (n_words, n_donors)
        The packed rows.
    weights : ndarray of int64 of shape (n_donors,)
        How many rows of the table each stands for.
    values : ndarray of shape (n_missing, n_donors)
        Codes of the missing features.
    starts : ndarray of int64 of shape (n_blocks + 1,)
        Block b holds the donors ``starts[b]:starts[b + 1]``.
    gives : ndarray of bool of shape (n_blocks, n_missing)
        Which of the missing features the rows of a block have.
    lower : ndarray of uint64 of shape (n_words,)
        All but the highest bit of every field.
    compared : ndarray of uint64 of shape (n_blocks, n_words)
        The highest bits of the fields in which rows are compared with those of a block.
    distances : ndarray of int64 of shape (n_blocks, most_compared + 1)
        The rank, among all distances that there are, of that of a donor in a block that differs in
        so many features.
    usual : ndarray of int64 of shape (n_missing,)
        What a feature is where no donor can be compared.
    """

    words: NDArray[np.uint64]
    weights: NDArray[np.int64]
    values: NDArray[np.integer]
    starts: NDArray[np.int64]
    gives: NDArray[np.bool_]
    lower: NDArray[np.uint64]
    compared: NDArray[np.uint64]
    distances: NDArray[np.int64]
    usual: NDArray[np.int64]


class Found(NamedTuple):
    """Donors that may be among the nearest of one row, block after block.

    Attributes
    ----------
    near, distances : ndarray of int64 of shape (n_donors,)
        Their numbers, and the ranks of their distances.
    ends : ndarray of int64 of shape (n_blocks + 1,)
        Those of block b are ``ends[b]:ends[b + 1]``.
    """

    near: NDArray[np.int64]
    distances: NDArray[np.int64]
    ends: NDArray[np.int64]


@compiled
def impute_rows(rows, first, last, donors, n_neighbors, imputed):
    """The missing features of the packed rows first to last, to `imputed` (n_missing, n_rows)."""
    n_blocks, n_missing = donors.gives.shape
    n_donors = len(donors.weights)
    found = Found(
        np.empty(n_donors, dtype=np.int64),
        np.empty(n_donors, dtype=np.int64),
        np.zeros(n_blocks + 1, dtype=np.int64),
    )
    by_distance = np.empty(donors.distances.max() + 1 if n_blocks else 0, dtype=np.int64)
    votes = np.empty(donors.values.max() + 1 if n_donors else 0, dtype=np.int64)
    differences = np.empty(TILE, dtype=np.int32)
    by_difference = np.empty(donors.distances.shape[1], dtype=np.int64)
    for row in range(first, last):
        for block in range(n_blocks):
            _find_in_block(rows[row], donors, block, n_neighbors, differences, by_difference, found)
        for feature in range(n_missing):
            farthest = _kth_distance(donors, feature, n_neighbors, found, by_distance)
            imputed[feature, row] = (
                _elected(donors, feature, farthest, found, votes)
                if farthest >= 0
                else donors.usual[feature]
            )


@compiled
def _find_in_block(row, donors, block, n_neighbors, differences, by_difference, found):
    """List the nearest donors of one block and their distances.

    Those that are farther than the k-th of their own block cannot be among the k nearest of all.
    `differences` and `by_difference` are memory to work in.
    """
    near, distances, ends = found
    n_near = ends[block]
    by_difference[:] = 0
    limit = len(by_difference) - 1
    within = 0  # the weight of all donors up to the limit
    for start in range(donors.starts[block], donors.starts[block + 1], TILE):
        stop = min(start + TILE, donors.starts[block + 1])
        _count_differences(row, donors, block, start, stop, differences)
        for i in range(stop - start):
            difference = differences[i]
            if difference > limit:
                continue
            near[n_near] = start + i
            distances[n_near] = donors.distances[block, difference]
            n_near += 1
            by_difference[difference] += donors.weights[start + i]
            within += donors.weights[start + i]
            while within - by_difference[limit] >= n_neighbors:
                within -= by_difference[limit]
                limit -= 1
    ends[block + 1] = n_near


@compiled
def _count_differences(row, donors, block, start, stop, differences):
    """In how many features a row differs from the donors start to stop."""
    differences[: stop - start] = 0
    for w in range(len(row)):
        own, lower, compared = row[w], donors.lower[w], donors.compared[block, w]
        others = donors.words[w, start:stop]
        for i in range(len(others)):
            fields = own ^ others[i]
            differences[i] += _ones(((fields & lower) + lower | fields) & compared)


@compiled
def _ones(word):
    """How many bits are set; compilers know this form and use the machine's own instruction."""
    word -= (word >> np.uint64(1)) & _ONES
    word = (word & _TWOS) + ((word >> np.uint64(2)) & _TWOS)
    word = (word + (word >> np.uint64(4))) & _FOURS
    return np.int32((word * _BYTES) >> np.uint64(56))


@compiled
def _kth_distance(donors, feature, n_neighbors, found, by_distance):
    """The distance within which the k nearest donors of a feature lie; -1 where there is none."""
    near, distances, ends = found
    by_distance[:] = 0
    for block in range(len(donors.gives)):
        if donors.gives[block, feature]:
            for i in range(ends[block], ends[block + 1]):
                by_distance[distances[i]] += donors.weights[near[i]]
    farthest = -1
    within = 0
    for distance in range(len(by_distance)):
        if by_distance[distance] > 0:
            farthest = distance
            within += by_distance[distance]
            if within >= n_neighbors:
                break
    return farthest


@compiled
def _elected(donors, feature, farthest, found, votes):
    """The value that most donors have up to a distance; the smallest one of equals."""
    near, distances, ends = found
    votes[:] = 0
    for block in range(len(donors.gives)):
        if donors.gives[block, feature]:
            for i in range(ends[block], ends[block + 1]):
                if distances[i] <= farthest:
                    votes[donors.values[feature, near[i]]] += donors.weights[near[i]]
    return votes.argmax()
