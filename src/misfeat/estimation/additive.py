"""Additive scores of feature sets: what their columns explain of the target, from a covariance.

With X the columns of a set, Y those of the target, and λ a small ridge,

    R = Y' X (X' X + λ)⁻¹ X' Y   (Y whitened),      A = -½ log det(I - R),

and on the mean chance alone explains d C / 2n of it, where d = tr[(X' X + λ)⁻¹ X' X] counts the
columns that the ridge leaves free, C the columns of the target and n the rows. There are as many
parameters as columns, not as cells of a joint table, so that few rows do for sets of any size. See
docs/explanation/population.md, step 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.estimation.covariances import recorded_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from misfeat.estimation.covariances import Moments

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

NUMBERS_AT_ONCE = 2**22
"""Entries of the matrices that are solved at once."""
POOL_RIDGE = 1e-4
"""Added to the variance of every column of the shared covariance."""
TARGET_RIDGE = 1e-9
MOST_EXPLAINED = 1.0 - 1e-9


class Additive(NamedTuple):
    """Additive scores of sets, and how many free columns of each feature they rest on."""

    score: Floats  # (n_sets,): A, chance included
    # (n_sets, size): free columns of every feature of a set, without those of terms
    freedom: Floats


class SetColumns(NamedTuple):
    """The columns of sets, filled up with -1."""

    # (n_sets, n_columns): numbers of columns: those of features, then those of terms within the
    # set
    columns: Integers
    # (n_sets, n_columns): which feature of its set a column belongs to; the size of the set for
    # those of terms
    position: Integers

    def of(self, chosen: NDArray[np.integer]) -> SetColumns:
        """Those of some of the sets."""
        return SetColumns(self.columns[chosen], self.position[chosen])


def set_columns(moments: Moments, subsets: NDArray[np.integer]) -> SetColumns:
    """The columns of listed sets of one size."""
    n_sets, size = subsets.shape
    widest = max((len(columns) for columns in moments.columns[: moments.n_features]), default=0)
    of_feature = np.full((moments.n_features, widest), -1, dtype=np.int64)
    for f, columns in enumerate(moments.columns[: moments.n_features]):
        of_feature[f, : len(columns)] = columns
    parts = [of_feature[subsets].reshape(n_sets, -1)]
    positions = [np.repeat(np.arange(size), widest)]
    member = np.zeros((n_sets, moments.n_features), dtype=bool)
    member[np.arange(n_sets)[:, None], subsets] = True
    for term, columns in zip(moments.terms, moments.columns[moments.n_features :], strict=True):
        held = recorded_all(member, term.features)
        if held.any():
            parts.append(np.where(held[:, None], columns, -1))
            positions.append(np.full(len(columns), size))
    columns, position = np.concatenate(parts, axis=1), np.concatenate(positions)
    order = np.argsort(columns < 0, axis=1, kind="stable")
    order = order[:, : int((columns >= 0).sum(axis=1).max(initial=0))]
    return SetColumns(np.take_along_axis(columns, order, axis=1), position[order])


class Whitened(NamedTuple):
    """A covariance of columns, and what each has in common with the whitened target."""

    # (n_columns, n_columns): of one subgroup or of all, the target's columns last
    covariance: Floats
    # (n_columns, n_targets): covariances with the target's columns, these made uncorrelated and
    # of variance 1
    across: Floats


def whitened(covariance: Floats, n_targets: int) -> Whitened:
    """A covariance whose last columns are the target's, ready for scores."""
    target = np.arange(len(covariance) - n_targets, len(covariance))
    if not n_targets:
        return Whitened(covariance, covariance[:, target])
    white = whitening(covariance[np.ix_(target, target)])
    return Whitened(covariance, covariance[:, target] @ white.T)


def additive_scores(given: Whitened, sets: SetColumns, size: int, ridge: float) -> Additive:
    """Additive scores of sets whose columns are known."""
    n_sets = len(sets.columns)
    score, freedom = np.zeros(n_sets), np.zeros((n_sets, size))
    covariance, across = given
    n_targets = across.shape[1]
    if n_targets == 0:
        return Additive(score, freedom)
    for part in _parts(sets.columns.shape, n_targets):
        columns, there = sets.columns[part], sets.columns[part] >= 0
        inverse = _inverse(covariance, columns, there, ridge)
        explains = across[columns] * there[:, :, None]
        explained = explains.transpose(0, 2, 1) @ (inverse @ explains)
        score[part] = _log_unexplained(explained)
        free = np.where(there, 1.0 - ridge * np.einsum("sii->si", inverse), 0.0)
        for place in range(size):
            freedom[part, place] = (free * (sets.position[part] == place)).sum(axis=1)
    return Additive(score, freedom)


def slopes_of(given: Whitened, sets: SetColumns, ridge: float) -> Floats:
    """What columns of sets give the whitened target, of shape (n_sets, n_columns, n_targets)."""
    found = np.zeros((*sets.columns.shape, given.across.shape[1]))
    for part in _parts(sets.columns.shape, given.across.shape[1]):
        columns, there = sets.columns[part], sets.columns[part] >= 0
        inverse = _inverse(given.covariance, columns, there, ridge)
        found[part] = inverse @ (given.across[columns] * there[:, :, None])
    return found


def whitening(covariance: Floats) -> Floats:
    """A matrix that makes columns of a covariance uncorrelated and of variance 1."""
    ridge = TARGET_RIDGE * max(float(np.trace(covariance)), TARGET_RIDGE)
    root = np.linalg.cholesky(covariance + ridge * np.eye(len(covariance)))
    found: Floats = np.linalg.inv(root)
    return found


def _inverse(covariance: Floats, columns: Integers, there: Flags, ridge: float) -> Floats:
    within = covariance[columns[:, :, None], columns[:, None, :]]
    within *= there[:, :, None] & there[:, None, :]
    diagonal = np.arange(columns.shape[1])
    within[:, diagonal, diagonal] += np.where(there, ridge, 1.0)
    found: Floats = np.asarray(np.linalg.inv(within), dtype=np.float64)
    return found


def _log_unexplained(explained: Floats) -> Floats:
    """-½ log det(I - R); R of one column is a number."""
    if explained.shape[1] == 1:
        share = np.clip(explained[:, 0, 0], 0.0, MOST_EXPLAINED)
        return np.asarray(-0.5 * np.log1p(-share))
    shares = np.clip(np.linalg.eigvalsh(explained), 0.0, MOST_EXPLAINED)
    return np.asarray(-0.5 * np.log1p(-shares).sum(axis=1))


def _parts(shape: tuple[int, ...], n_targets: int) -> Iterator[slice]:
    """Stretches of sets whose matrices fit into memory together."""
    n_sets, width = shape
    step = max(1, NUMBERS_AT_ONCE // max(width * (width + n_targets), 1))
    for first in range(0, n_sets, step):
        yield slice(first, min(first + step, n_sets))
