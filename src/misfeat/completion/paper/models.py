"""The trained models of all subgroups: what predicts, and what a file holds."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from misfeat.completion.paper.network import PaperNetwork
from misfeat.exceptions import MisfeatError
from misfeat.lattice import count_nodes
from misfeat.lattice.neighbours import Neighbours, neighbours

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

FORMAT = "misfeat paper models 1"
BYTES_SIDE_BY_SIDE = {"cuda": 4 * 2**30, "cpu": 2**30, "mps": 2**30}
"""Models are computed side by side as long as their states take no more than this on a device."""
COPIES_OF_A_STATE = 6
"""A state is held before and after its activation, with a mask, and the same for gradients."""
COPIES_OF_A_WEIGHT = 6
"""A weight is held with its gradient, two moments, the best so far and the result."""


@dataclass(frozen=True)
class ModelShape:
    """What the weights of all models look like.

    Attributes
    ----------
    n_features, low, high : int
        The lattice graph: subsets of sizes low to high.
    n_cohorts : int
        Subgroups, each with a lattice and a model.
    layers, hidden, dropout, activation
        As in `PaperCompleter`.
    """

    n_features: int
    low: int
    high: int
    n_cohorts: int
    layers: int
    hidden: int
    dropout: float
    activation: str

    def graph(self, device: torch.device) -> Neighbours:
        """The lattice graph that every subgroup has."""
        return neighbours(self.n_features, self.low, self.high).to(device)

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of the weights of all subgroups' models, by name."""
        many, hidden = self.n_cohorts, self.hidden
        widths = [self.n_features, *[hidden] * (self.layers - 1)]
        shapes: dict[str, tuple[int, ...]] = {
            "head": (many, hidden),
            "head_bias": (many,),
            "last.own": (many, widths[-1], hidden),
            "last.others": (many, many - 1, widths[-1], hidden),
            "last.around": (many, widths[-1], hidden),
            "last.bias": (many, 1, hidden),
        }
        for layer, before in enumerate(widths[:-1]):
            shapes[f"inner.{layer}.across"] = (many, many, many, before, hidden)
            shapes[f"inner.{layer}.around"] = (many, many, before, hidden)
            shapes[f"inner.{layer}.bias"] = (many, many, hidden)
        return shapes

    def memory_of_training(self) -> int:
        """Bytes that weights and states take while models are trained, about."""
        weights = sum(4 * COPIES_OF_A_WEIGHT * prod(s) for s in self.weight_shapes().values())
        return weights + len(next(self.blocks("cpu"))) * self._bytes_of_a_model()

    def _bytes_of_a_model(self) -> int:
        n_nodes = count_nodes(self.n_features, self.low, self.high)
        return 4 * COPIES_OF_A_STATE * n_nodes * self.hidden * self.n_cohorts

    def blocks(self, device: str) -> Iterator[range]:
        """Subgroups whose models are computed side by side on a kind of device."""
        together = max(1, BYTES_SIDE_BY_SIDE[device] // self._bytes_of_a_model())
        for first in range(0, self.n_cohorts, together):
            yield range(first, min(first + together, self.n_cohorts))

    def network(self, graph: Neighbours, own: range, seed: int = 0) -> PaperNetwork:
        """A new network for some subgroups, with weights drawn by a seed."""
        network = PaperNetwork(
            graph,
            self.n_cohorts,
            own,
            layers=self.layers,
            hidden=self.hidden,
            dropout=self.dropout,
            activation=self.activation,
            seed=seed,
        )
        return network.to(graph.degree.device)


@dataclass(frozen=True, eq=False)
class PaperModels:
    """Trained models, one a subgroup.

    Attributes
    ----------
    shape : ModelShape
        What the weights look like.
    weights : dict of str to tensor
        The weights by name; the first axis is the subgroup.
    """

    shape: ModelShape
    weights: dict[str, Tensor]

    @torch.no_grad()
    def predict(self, size: int, device: str | torch.device = "cpu") -> NDArray[np.float64]:
        """Scores of every subset of one size, of shape (n_cohorts, n_subsets)."""
        device = torch.device(device)
        graph = self.shape.graph(device)
        rows = torch.from_numpy(graph.rows(size)).to(device)
        predicted = []
        for own in self.shape.blocks(device.type):
            network = self.shape.network(graph, own).eval()
            network.load_state_dict({k: w[own.start : own.stop] for k, w in self.weights.items()})
            predicted.append(network(rows.expand(len(own), -1)).double().cpu())
        return torch.cat(predicted).numpy()

    def save(self, path: str | Path) -> None:
        """Write the weights to a safetensors file; an old file is replaced at once or not at all.

        Parameters
        ----------
        path : str or Path
            Where to.
        """
        from safetensors.torch import save_file

        path = Path(path)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
        metadata = {"format": FORMAT, "shape": json.dumps(asdict(self.shape))}
        weights = {name: weight.contiguous() for name, weight in self.weights.items()}
        try:
            save_file(weights, unfinished, metadata=metadata)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path) -> PaperModels:
        """Read what `save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except FileNotFoundError as error:
            raise MisfeatError(f"There is no file {str(path)!r}.") from error
        except (SafetensorError, OSError) as error:
            raise MisfeatError(f"{str(path)!r} is no complete safetensors file: {error}") from error
        if metadata.get("format") != FORMAT:
            raise MisfeatError(
                f"{str(path)!r} holds {metadata.get('format', 'something unnamed')!r}, not "
                f"{FORMAT!r}; it was written by another program or a newer misfeat."
            )
        shape = _shape_of(metadata, path)
        found = {name: tuple(weight.shape) for name, weight in weights.items()}
        if found != shape.weight_shapes():
            raise MisfeatError(f"{str(path)!r} is damaged: its weights are not those of {shape}.")
        return cls(shape, weights)


def _shape_of(metadata: dict[str, str], path: str | Path) -> ModelShape:
    try:
        fields: dict[str, Any] = json.loads(metadata["shape"])
        return ModelShape(**fields)
    except (KeyError, ValueError, TypeError) as error:
        raise MisfeatError(f"{str(path)!r} is damaged: it does not say its shape.") from error
