"""Compiled search for the nearest donors of a row, and their vote."""

from typing import NamedTuple

import numpy as np

from misfeat.runtime.array_types import Flags, Indices, Integers
from misfeat.runtime.compilation import compiled

TILE = 1024  # so many donors are compared before the near ones among them are picked


class Donors(NamedTuple):
    """Rows that a cohort's missing features may be taken from.

    They come in blocks: rows of one cohort that have the same ones of the missing features.
    """

    fields: Indices  # (n_fields, n_donors): what rows are compared in
    weights: Integers  # (n_donors,): how many rows of the table each stands for
    values: Indices  # (n_missing, n_donors): codes of the missing features
    starts: Integers  # (n_blocks + 1,): block b holds the donors starts[b]:starts[b + 1]
    gives: Flags  # (n_blocks, n_missing): which missing features the rows have
    compared: Flags  # (n_blocks, n_fields): fields that rows are compared in
    # (n_blocks, most_compared + 1): the rank, among all distances that there are, of that of a
    # donor in a block that differs in so many features
    distances: Integers
    usual: Integers  # (n_missing,): what a feature is where no donor can be compared


@compiled
def impute_rows(rows, first, last, donors, n_neighbors, imputed):
    """The missing features of the rows (n_rows, n_fields) first to last, to `imputed`."""
    n_blocks, n_missing = donors.gives.shape
    n_donors = len(donors.weights)
    # Donors that may be among the nearest of one row, their numbers and the ranks of their
    # distances, block after block: those of block b come before the b + 1-th of the ends.
    nearest = (
        np.empty(n_donors, dtype=np.int64),
        np.empty(n_donors, dtype=np.int64),
        np.zeros(n_blocks + 1, dtype=np.int64),
    )
    by_distance = np.empty(donors.distances.max() + 1 if n_blocks else 0, dtype=np.int64)
    votes = np.empty(donors.values.max() + 1 if n_donors else 0, dtype=np.int64)
    differences = np.empty(TILE, dtype=np.uint16)
    by_difference = np.empty(donors.distances.shape[1], dtype=np.int64)
    for row in range(first, last):
        for block in range(n_blocks):
            _search_block(
                rows[row], donors, block, n_neighbors, differences, by_difference, nearest
            )
        for feature in range(n_missing):
            imputed[feature, row] = _elected(
                donors, feature, n_neighbors, nearest, by_distance, votes
            )


@compiled
def _search_block(row, donors, block, n_neighbors, differences, by_difference, nearest):
    """List the donors of one block that are no farther than its k-th, and their distances."""
    near, distances, ends = nearest
    n_near = ends[block]
    by_difference[:] = 0
    limit = len(by_difference) - 1
    within = 0  # the weight of all donors up to the limit
    for start in range(donors.starts[block], donors.starts[block + 1], TILE):
        stop = min(start + TILE, donors.starts[block + 1])
        differences[: stop - start] = 0
        for f in range(len(row)):  # in how many features the row differs from these donors
            if donors.compared[block, f]:
                own, others = row[f], donors.fields[f, start:stop]
                for i in range(len(others)):
                    differences[i] += np.uint16(own != others[i])
        for i in range(stop - start):
            difference = np.int64(differences[i])
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
def _elected(donors, feature, n_neighbors, nearest, by_distance, votes):
    """The value that most of the k nearest donors of a feature have; the smallest one of equals."""
    near, distances, ends = nearest
    by_distance[:] = 0
    for block in range(len(donors.gives)):
        if donors.gives[block, feature]:
            for i in range(ends[block], ends[block + 1]):
                by_distance[distances[i]] += donors.weights[near[i]]
    farthest = -1  # the distance within which the k nearest lie
    within = 0
    for distance in range(len(by_distance)):
        if by_distance[distance] > 0:
            farthest = distance
            within += by_distance[distance]
            if within >= n_neighbors:
                break
    if farthest < 0:
        return donors.usual[feature]
    votes[:] = 0
    for block in range(len(donors.gives)):
        if donors.gives[block, feature]:
            for i in range(ends[block], ends[block + 1]):
                if distances[i] <= farthest:
                    votes[donors.values[feature, near[i]]] += donors.weights[near[i]]
    return votes.argmax()
