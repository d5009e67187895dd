"""How networks are trained: the models of several subgroups side by side, on known scores."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.runtime.array_types import Floats, Integers

if TYPE_CHECKING:
    from misfeat.completion.neural_completers import EpochCompleter

EPOCHS_BEFORE_CAPTURE = 3  # epochs on a CUDA device before its work is recorded to be replayed


def drawn_weights(generator: torch.Generator, fan_in: int, *shape: int) -> Tensor:
    """Weights as linear layers usually start: uniform within 1 / sqrt(inputs)."""
    return torch.empty(shape).uniform_(-1, 1, generator=generator) / fan_in**0.5


class Labels(NamedTuple):
    """The known scores of one subgroup, and to which rows of the network's inputs they belong."""

    rows: Integers
    scores: Floats

    @classmethod
    def known(cls, rows: Integers, scores: Floats) -> "Labels":
        """The rows whose scores are known."""
        there = ~np.isnan(scores)
        return cls(rows[there], scores[there])

    def split(self, share: float, rng: np.random.Generator) -> "tuple[Labels, Labels]":
        """Labels to train on and labels to choose by; the same ones where they are too few."""
        order = rng.permutation(len(self.rows))
        held_out = round(share * len(order))
        if not 0 < held_out < len(order):
            return self, self
        chosen, others = order[:held_out], order[held_out:]
        train, validation = (Labels(self.rows[p], self.scores[p]) for p in (others, chosen))
        return train, validation


def train(
    network: Any,
    labels: Sequence[Labels],
    settings: "EpochCompleter",
    rng: np.random.Generator,
    on_epoch: Callable[[int], None] | None = None,
) -> tuple[int, Integers]:
    """Train all models of a network, side by side, on the labels of their subgroups."""
    # It has `inputs`, the subgroups of its models as `own`, and weights with models first; called
    # with rows of the inputs, it gives their scores. The best weights of each model are kept.
    # Returns the epochs that were run, and the best one of each model.
    device = network.inputs.device
    splits = [known.split(float(settings.validation_share), rng) for known in labels]
    n_rows = len(network.inputs)
    training = Batch.of([part for part, _ in splits], n_rows, device)
    validation = Batch.of([part for _, part in splits], n_rows, device)
    step = training_step(network, training, settings)
    weights = list(network.parameters())
    best_weights = [weight.detach().clone() for weight in weights]
    best_loss, best_epoch = np.full(len(labels), np.inf), np.zeros(len(labels), dtype=np.int64)
    for epoch in range(1, settings.epochs + 1):
        step()
        if epoch % settings.validate_every == 0 or epoch == settings.epochs:
            network.eval()
            with torch.no_grad():
                loss = validation.losses(network).double().cpu().numpy()
                better = loss < best_loss
                chosen = torch.from_numpy(better).to(device)
                for best, weight in zip(best_weights, weights, strict=True):
                    best.copy_(torch.where(chosen.view(-1, *[1] * (weight.ndim - 1)), weight, best))
            best_loss[better], best_epoch[better] = loss[better], epoch
            if epoch - best_epoch.max() >= settings.patience:
                break
        if on_epoch is not None:
            on_epoch(epoch)
    if not best_epoch.all():
        setting = Setting("learning_rate", settings.learning_rate)
        raise MisfeatError(f"Training diverged with {setting}; lower it.")
    with torch.no_grad():
        for best, weight in zip(best_weights, weights, strict=True):
            weight.copy_(best)
    network.eval()
    return epoch, best_epoch


class Batch(NamedTuple):
    """Rows and scores of all models, padded to one length by other rows, which carry no weight."""

    rows: Tensor
    scores: Tensor
    weights: Tensor

    @classmethod
    def of(cls, labels: Sequence[Labels], n_rows: int, device: torch.device) -> "Batch":
        """The labels of every model, of so many rows that there are, on a device."""
        longest = max(len(known.rows) for known in labels)
        rows = np.zeros((len(labels), longest), dtype=np.int64)
        scores, weights = np.zeros(rows.shape), np.zeros(rows.shape)
        for model, known in enumerate(labels):
            many = len(known.rows)
            rows[model, :many] = known.rows
            if many < longest:
                unused = np.setdiff1d(np.arange(n_rows), known.rows, assume_unique=True)
                rows[model, many:] = unused[: longest - many]
            scores[model, :many] = known.scores
            weights[model, :many] = 1 / many if many else 0
        values, shares = (torch.from_numpy(part).float().to(device) for part in (scores, weights))
        return cls(torch.from_numpy(rows).to(device), values, shares)

    def losses(self, network: Any) -> Tensor:
        """The mean squared error of each model."""
        return (self.weights * (network(self.rows) - self.scores) ** 2).sum(dim=1)


def training_step(network: Any, batch: Batch, settings: "EpochCompleter") -> Callable[[], None]:
    """One epoch of all models; they share no weight, so the sum of their losses trains each."""
    on_cuda = batch.rows.device.type == "cuda"
    optimizer = torch.optim.Adam(
        network.parameters(),
        lr=float(settings.learning_rate),
        weight_decay=float(settings.weight_decay),
        fused=batch.rows.device.type in ("cpu", "cuda"),
        capturable=on_cuda,
    )

    def step() -> None:
        network.train()
        optimizer.zero_grad()
        batch.losses(network).sum().backward()
        optimizer.step()

    return _Replayed(step) if on_cuda else step


class _Replayed:
    """A step that a CUDA device replays as a whole: small graphs wait for launches otherwise."""

    def __init__(self, step: Callable[[], None]) -> None:
        self._step = step
        self._plain_steps = EPOCHS_BEFORE_CAPTURE
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        if self._plain_steps:
            self._plain_steps -= 1
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self._step()
            torch.cuda.current_stream().wait_stream(side)
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._step()
        self._graph.replay()
