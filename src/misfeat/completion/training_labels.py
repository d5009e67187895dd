"""Known scores that networks learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Scores = NDArray[np.float64]


class Labels(NamedTuple):
    """The known scores of one subgroup, and to which rows of the network's inputs they belong."""

    rows: NDArray[np.int64]
    scores: Scores

    @classmethod
    def known(cls, rows: NDArray[np.int64], scores: Scores) -> Labels:
        """The rows whose scores are known."""
        there = ~np.isnan(scores)
        return cls(rows[there], scores[there])

    def split(self, share: float, rng: np.random.Generator) -> tuple[Labels, Labels]:
        """Labels to train on and labels to choose by; the same ones where they are too few."""
        order = rng.permutation(len(self.rows))
        held_out = round(share * len(order))
        if not 0 < held_out < len(order):
            return self, self
        parts = order[held_out:], order[:held_out]
        train, validation = (Labels(self.rows[part], self.scores[part]) for part in parts)
        return train, validation


def labelled_subgroups(by_size: Sequence[Scores]) -> NDArray[np.bool_]:
    """Which subgroups have a known score, one that is not NaN, to learn from."""
    labelled: NDArray[np.bool_] = np.logical_or.reduce(
        [~np.isnan(scores).all(axis=1) for scores in by_size]
    )
    return labelled


def averaged_where_unlabelled(guess: Scores, labelled: NDArray[np.bool_]) -> Scores:
    """Guesses in which a subgroup whose network learned nothing gets the mean of the others."""
    averaged = guess.copy()
    averaged[~labelled] = guess[labelled].mean(axis=0)
    return averaged
