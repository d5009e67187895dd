"""Training the paper's models: known scores in, one trained model a subgroup out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from misfeat.completion.networks.labels import Labels
from misfeat.completion.networks.training import History, train
from misfeat.completion.paper.models import PaperModels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.networks.completer import TrainingSettings
    from misfeat.completion.paper.models import ModelShape
    from misfeat.lattice.neighbours import Neighbours
    from misfeat.runtime.progress import Progress


def train_models(
    shape: ModelShape,
    by_size: Sequence[NDArray[np.float64]],
    settings: TrainingSettings,
    device: torch.device,
    seeds: np.random.SeedSequence,
    progress: Progress | None = None,
) -> tuple[PaperModels, History]:
    """Train one model a subgroup on its known scores, as many side by side as fit.

    `by_size` are known scores by size and rank, NaN where unknown.
    """
    graph = shape.graph(device)
    blocks = list(shape.blocks(device.type))
    weights, histories = [], []
    for place, own in enumerate(blocks):

        def on_epoch(epoch: int, place: int = place) -> None:
            if progress is not None:
                done = place * settings.epochs + epoch
                progress("Training the models", done, len(blocks) * settings.epochs)

        rng = np.random.default_rng(seeds.spawn(1)[0])
        seed = int(rng.integers(2**32))
        labels = [_labels(graph, by_size, cohort) for cohort in own]
        network = shape.network(graph, own, seed)
        if any(len(known.rows) for known in labels):
            with torch.random.fork_rng():
                torch.manual_seed(seed)  # of dropout on a device other than the CPU
                is_last = place == len(blocks) - 1
                histories.append(train(network, labels, settings, rng, on_epoch, is_last))
        else:
            histories.append(History.of_nothing(len(own)))
        weights.append({name: w.detach().cpu() for name, w in network.state_dict().items()})
    together = {name: torch.cat([w[name] for w in weights]) for name in weights[0]}
    return PaperModels(shape, together), History.joined(histories)


def _labels(graph: Neighbours, by_size: Sequence[NDArray[np.float64]], cohort: int) -> Labels:
    """What is known of one cohort in a lattice graph."""
    sizes = range(graph.low, graph.high + 1)
    rows = np.concatenate([graph.rows(size) for size in sizes])
    scores = np.concatenate([by_size[size][cohort] for size in sizes])
    return Labels.known(rows, scores)
