"""The trained models of all subgroups: what predicts, and what a file holds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from math import prod
from typing import TYPE_CHECKING

import torch

from misfeat.completion.paper.network import ACTIVATIONS, PaperNetwork
from misfeat.exceptions import MisfeatError, Setting
from misfeat.lattice import count_nodes
from misfeat.lattice.neighbours import Neighbours, neighbours
from misfeat.runtime.atomic_files import as_path, write_file
from misfeat.runtime.devices import torch_device

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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

    Subsets are of sizes `low` to `high`; every subgroup has a lattice and a model. The rest is as
    in `PaperCompleter`.
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
        states = n_nodes * self.hidden * self.n_cohorts * max(1, self.layers - 1)
        return 4 * COPIES_OF_A_STATE * states

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
    """Trained models, one a subgroup, which is the first axis of all weights."""

    shape: ModelShape
    weights: dict[str, Tensor] = field(repr=False)

    @torch.no_grad()
    def predict(self, size: int, device: str = "auto") -> NDArray[np.float64]:
        """Scores of every subset of one size, of shape (n_cohorts, n_subsets)."""
        if not self.shape.low <= size <= self.shape.high:
            raise MisfeatError(
                "{setting}; the models know sets of sizes {low} to {high}.",
                setting=Setting("size", size),
                low=self.shape.low,
                high=self.shape.high,
            )
        place = torch_device(device)
        graph = self.shape.graph(place)
        rows = torch.from_numpy(graph.rows(size)).to(place)
        predicted = []
        for own in self.shape.blocks(place.type):
            network = self.shape.network(graph, own).eval()
            network.load_state_dict({k: w[own.start : own.stop] for k, w in self.weights.items()})
            predicted.append(network(rows.expand(len(own), -1)).double().cpu())
        return torch.cat(predicted).numpy()

    def save(self, path: str | Path) -> None:
        """Write the weights to a safetensors file, replacing an old one whole or not at all."""
        from safetensors.torch import save

        path = as_path(path, "path")
        metadata = {"format": FORMAT, "shape": json.dumps(asdict(self.shape))}
        weights = {name: weight.contiguous() for name, weight in self.weights.items()}
        write_file(path, save(weights, metadata=metadata))

    @classmethod
    def load(cls, path: str | Path) -> PaperModels:
        """Read what `save` wrote."""
        from safetensors import SafetensorError, safe_open

        path = as_path(path, "path")
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
        sound = all(w.dtype == torch.float32 and w.isfinite().all() for w in weights.values())
        if found != shape.weight_shapes() or not sound:
            raise MisfeatError(f"{str(path)!r} is damaged: its weights are not those of {shape}.")
        return cls(shape, weights)


def _shape_of(metadata: dict[str, str], path: str | Path) -> ModelShape:
    try:
        shape = ModelShape(**json.loads(metadata["shape"]))
        counts = [getattr(shape, f.name) for f in fields(shape)[:6]]
        whole = all(type(count) is int and count >= 1 for count in counts)
        if whole and shape.low <= shape.high <= shape.n_features and 0 <= shape.dropout < 1:
            ACTIVATIONS[shape.activation]
            return shape
    except (KeyError, ValueError, TypeError):
        pass
    raise MisfeatError(f"{str(path)!r} is damaged: it does not say its shape.")
