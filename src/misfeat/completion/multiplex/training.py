"""Training by hiding: features that a table has are hidden, and their scores are to be predicted.

Some features are hidden for validation only, so that the kept weights are those that predict
features best which training never hid.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from misfeat.completion.multiplex.inputs import Inputs, by_level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from misfeat.completion.base import BaseCompleter
    from misfeat.completion.model import Known
    from misfeat.completion.multiplex.network import MultiplexNetwork
    from misfeat.runtime.progress import Progress

    Mask = NDArray[np.bool_]

VALIDATION_SHARE = 0.25
"""The share of the features that is hidden for validation only."""
HIDDEN_SHARES = (0.1, 0.3)
"""Between which a share of the other features is hidden from every cohort."""
VALIDATION_SHARES = (0.2, 0.6)
"""The same for features that are hidden for validation."""
VALIDATE_EVERY = 10


@dataclass(frozen=True)
class MultiplexSettings:
    """How to train; see `MultiplexCompleter`."""

    steps: int
    masks: int
    learning_rate: float
    weight_decay: float


@dataclass(frozen=True, eq=False)
class Lesson:
    """A look at the table with features hidden, and what the network should have said."""

    inputs: Inputs
    gains: Tensor
    tested: Tensor

    def loss(self, network: MultiplexNetwork) -> Tensor:
        """The mean squared error of hidden gains."""
        errors: Tensor = (network(self.inputs) - self.gains)[self.tested]
        return (errors**2).mean()


@dataclass(frozen=True, eq=False)
class Lessons:
    """Makes lessons of one table: its `ways` are completers whose guesses the network mixes."""

    known: Known
    size: int
    ways: Sequence[BaseCompleter]
    unit: float
    device: torch.device

    def with_hidden(self, masks: Iterable[Mask]) -> list[Lesson]:
        """A lesson for every mask that hides a known score."""
        lessons = [self._lesson(mask) for mask in masks]
        return [lesson for lesson in lessons if lesson.tested.any()]

    def _lesson(self, mask: Mask) -> Lesson:
        hidden = self.known.hidden(mask)
        inputs = Inputs.of(hidden, self.size, self.ways, self.unit)
        truth = by_level(self.known.exact.by_size[: self.size + 1])
        tested = np.isnan(by_level(hidden.exact.by_size[: self.size + 1])) & ~np.isnan(truth)
        gains = torch.from_numpy(np.nan_to_num((truth - inputs.floor) / self.unit)).float()
        return Lesson(
            inputs.to(self.device),
            gains.to(self.device),
            torch.from_numpy(tested).to(self.device),
        )


def train(
    network: MultiplexNetwork,
    lessons: Lessons,
    settings: MultiplexSettings,
    rng: np.random.Generator,
) -> None:
    """Train a network on hidden features of a table; it ends with the best weights.

    Where nothing can be hidden, as in a single cohort, the network stays as it is.
    """
    missing = lessons.known.exact.missing
    for_validation = np.zeros(missing.shape[1], dtype=bool)
    shared = rng.permutation(np.flatnonzero((~missing).sum(axis=0) >= 2))
    for_validation[shared[: max(1, round(VALIDATION_SHARE * len(shared)))]] = True
    training = lessons.with_hidden(
        masks_of(missing, ~for_validation, settings.masks, HIDDEN_SHARES, rng)
    )
    n_validation = -(-settings.masks // 3)
    validation = lessons.with_hidden(
        masks_of(missing, for_validation, n_validation, VALIDATION_SHARES, rng)
    )
    if training and validation:
        _descend(network, training, validation, settings, rng, lessons.known.progress)
    network.eval()


def masks_of(
    missing: Mask,
    allowed: Mask,
    count: int,
    shares: tuple[float, float],
    rng: np.random.Generator,
) -> Iterator[Mask]:
    """Masks that hide some allowed features from cohorts, each left recorded somewhere."""
    recorded = ~missing
    for _ in range(count):
        mask = recorded & allowed & (rng.random(missing.shape) < rng.uniform(*shares))
        for feature in np.flatnonzero((recorded & ~mask).sum(axis=0) == 0):
            holders = np.flatnonzero(recorded[:, feature])
            if len(holders):
                mask[rng.choice(holders), feature] = False
        for cohort in np.flatnonzero((recorded & ~mask).sum(axis=1) == 0):
            hidden = np.flatnonzero(mask[cohort])
            if len(hidden):
                mask[cohort, rng.choice(hidden)] = False
        if mask.any():
            yield mask


def _descend(
    network: MultiplexNetwork,
    training: Sequence[Lesson],
    validation: Sequence[Lesson],
    settings: MultiplexSettings,
    rng: np.random.Generator,
    progress: Progress | None,
) -> None:
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    best, weights = np.inf, network.state_dict()
    for step in range(settings.steps + 1):
        if step % VALIDATE_EVERY == 0:
            loss = _mean_loss(network, validation)
            if loss < best:
                best, weights = loss, deepcopy(network.state_dict())
            if progress is not None:
                progress("Training the multiplex network", step, settings.steps)
        network.train()
        optimizer.zero_grad()
        training[int(rng.integers(len(training)))].loss(network).backward()
        optimizer.step()
    network.load_state_dict(weights)


@torch.no_grad()
def _mean_loss(network: MultiplexNetwork, lessons: Sequence[Lesson]) -> float:
    network.eval()
    return float(np.mean([float(lesson.loss(network)) for lesson in lessons]))
