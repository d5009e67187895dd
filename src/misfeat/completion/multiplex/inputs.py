"""What the network sees of every set in every cohort.

Scores are given in units of the table's mean known score. Arrays have sets first, level after level
as in `misfeat.lattice.neighbours.Levels`, then cohorts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from misfeat.completion.model import OWN_ROWS, support_of
from misfeat.completion.parts import closed_upwards
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from misfeat.completion.base import BaseCompleter
    from misfeat.completion.model import ExactScores, Known

    Scores = NDArray[np.float64]

N_FACTS = 9
"""Numbers that describe a set in a cohort, beside one for every guess."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """One look at a table.

    Attributes
    ----------
    facts : tensor of shape (n_sets, n_cohorts, N_FACTS + n_guesses)
        What is known of a set, and how much simple ways to guess say it gains.
    missing : tensor of shape (n_cohorts, n_features)
        1 where a cohort never recorded a feature.
    gains : tensor of shape (n_sets, n_cohorts, n_guesses)
        The guessed gains over the recorded part.
    floor : ndarray of shape (n_sets, n_cohorts)
        The score of the recorded part.
    """

    facts: Tensor
    missing: Tensor
    gains: Tensor
    floor: Scores

    @classmethod
    def of(cls, known: Known, size: int, ways: Sequence[BaseCompleter], unit: float) -> Inputs:
        """What is known of all sets up to a size, and what other completers guess."""
        exact = known.exact
        guesses = [by_level(closed_upwards(way.guess(known, size).by_size, exact)) for way in ways]
        floor = by_level([exact.by_size[0], *(exact.bounds(m)[0] for m in range(1, size + 1))])
        gains = np.maximum(np.stack(guesses, axis=2) - floor[:, :, None], 0.0) / unit
        facts = np.concatenate([_facts(exact, size, floor, unit), gains], axis=2)
        return cls(
            torch.from_numpy(facts).float(),
            torch.from_numpy(exact.missing).float(),
            torch.from_numpy(gains).float(),
            floor,
        )

    def to(self, device: torch.device) -> Inputs:
        """The same on a device."""
        return Inputs(
            self.facts.to(device), self.missing.to(device), self.gains.to(device), self.floor
        )


def by_level(by_size: Sequence[Scores]) -> Scores:
    """Scores of sizes 1 and more as one array of shape (n_sets, n_cohorts)."""
    return np.concatenate(list(by_size[1:]), axis=1).T


def _facts(exact: ExactScores, size: int, floor: Scores, unit: float) -> Scores:
    n_cohorts, n_features = exact.missing.shape
    scores = by_level(exact.by_size[: size + 1])
    is_known = ~np.isnan(scores)
    known = np.nan_to_num(scores)
    others = is_known.sum(axis=1, keepdims=True) - is_known
    elsewhere = (known.sum(axis=1, keepdims=True) - known) / np.maximum(others, 1)
    levels = [level(n_features, m) for m in range(1, size + 1)]
    lacking = np.concatenate([exact.missing[:, s].sum(axis=2) for s in levels], axis=1).T
    support = np.concatenate([support_of(exact.missing, s) for s in levels], axis=1).T
    sizes = np.concatenate([np.full(len(s), s.shape[1]) for s in levels])
    return np.stack(
        [
            known / unit,
            is_known,
            floor / unit,
            (exact.ceiling - floor) / unit,
            elsewhere / unit,
            others / max(n_cohorts - 1, 1),
            lacking / size,
            support / OWN_ROWS,
            np.broadcast_to(sizes[:, None] / size, scores.shape),
        ],
        axis=2,
    )
