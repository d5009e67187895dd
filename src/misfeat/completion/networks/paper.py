"""The paper's heterogeneous GraphSAGE over the multiplex lattice, several subgroups side by side.

In layer t the state of subset v in lattice i becomes

    h_i(v) <- act( S_i h_i(v) + W_i mean over neighbours u of h_i(u) + sum over j != i of
                   W_ji h_j(v) + b_i ),

with matrices of its own for every lattice and every ordered pair. (The paper concatenates state and
message and multiplies by one more matrix: a sum of two products, and two matrices in a row are
one.) A linear head turns the last state into a score. The input is the subset written in bits.

Every subgroup has a model of its own, of which only the subgroup's own lattice is read out: the
last layer exists for that lattice alone, and the layer before is needed everywhere in that lattice,
for the means, but elsewhere only at the subsets asked for. The first layer's means are constants.

Tensors have nodes first where neighbours are summed, models first where matrices are multiplied.
The network of the completer `mlp`, which the paper compares its own with, comes last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from misfeat.completion.networks.per_subgroup_training import Labels, drawn_weights, train
from misfeat.exceptions import MisfeatError
from misfeat.lattice.levels import contains, count_nodes, level
from misfeat.lattice.neighbour_sums import Neighbours
from misfeat.messages import Setting
from misfeat.runtime.array_types import Floats
from misfeat.runtime.devices import torch_device
from misfeat.runtime.progress import Progress

if TYPE_CHECKING:
    from misfeat.completion.neural_completers import EpochCompleter

STEPS = 2**16  # A share is rounded to one in so many
DRAWS_A_WORD = 4  # A random word of 64 bits decides on so many values
BYTES_SIDE_BY_SIDE = {"cuda": 4 * 2**30, "cpu": 2**30, "mps": 2**30}  # states of models at once
COPIES_OF_A_STATE = 6  # before and after its activation, with a mask, and the same for gradients
COPIES_OF_A_WEIGHT = 6  # with its gradient, two moments, the best so far and the result


class Dropout(nn.Module):
    """Dropout whose bits NumPy draws on a CPU, twenty times faster than PyTorch."""

    def __init__(self, share: float, seed: int) -> None:
        super().__init__()
        self.share = share
        self._bits = np.random.SFC64(seed)

    def forward(self, values: Tensor) -> Tensor:
        """The values that are left."""
        if not self.training or self.share == 0:
            return values
        if values.device.type != "cpu":
            return functional.dropout(values, self.share)
        words = self._bits.random_raw(-(-values.numel() // DRAWS_A_WORD))
        draws = words.view(np.uint16)[: values.numel()].reshape(tuple(values.shape))
        kept = torch.from_numpy(draws >= round(self.share * STEPS))
        return values * kept.to(values.dtype).mul_(1 / (1 - self.share))


@dataclass(frozen=True)
class ModelShape:
    """The shape of all models, one a subgroup, over the subsets of sizes `low` to `high`."""

    n_features: int
    low: int
    high: int
    n_cohorts: int
    layers: int
    hidden: int
    dropout: float

    def graph(self, device: torch.device) -> Neighbours:
        """The lattice graph that every subgroup has."""
        return Neighbours(self.n_features, self.low, self.high).to(device)

    def memory_of_training(self) -> int:
        """Bytes that weights and states take while models are trained, about."""
        lattices, hidden = self.n_cohorts, self.hidden
        widths = [self.n_features, *[hidden] * (self.layers - 1)]
        # Of one model: its head, its last layer, and inner layers in all lattices.
        weights = hidden + 1 + ((lattices + 1) * widths[-1] + 1) * hidden
        weights += sum(lattices * ((lattices + 1) * w + 1) * hidden for w in widths[:-1])
        states = len(next(self.blocks("cpu"))) * self._bytes_of_a_model()
        return 4 * COPIES_OF_A_WEIGHT * lattices * weights + states

    def _bytes_of_a_model(self) -> int:
        n_nodes = count_nodes(self.n_features, self.low, self.high)
        states = n_nodes * self.hidden * self.n_cohorts * max(1, self.layers - 1)
        return 4 * COPIES_OF_A_STATE * states

    def blocks(self, device: str) -> Iterator[range]:
        """Subgroups whose models are computed side by side on a kind of device."""
        together = max(1, BYTES_SIDE_BY_SIDE[device] // self._bytes_of_a_model())
        for first in range(0, self.n_cohorts, together):
            yield range(first, min(first + together, self.n_cohorts))

    def network(self, graph: Neighbours, own: range, seed: int = 0) -> "PaperNetwork":
        """A new network for some subgroups, with weights drawn by a seed."""
        return PaperNetwork(self, graph, own, seed).to(graph.degree.device)


class PaperNetwork(nn.Module):
    """One model for each subgroup of `own`, all over the same lattice graph."""

    inputs: Tensor
    others: Tensor
    mine: Tensor
    model: Tensor

    def __init__(self, shape: ModelShape, graph: Neighbours, own: range, seed: int = 0) -> None:
        super().__init__()
        self.graph = graph
        self.own = own
        self._dropout = Dropout(shape.dropout, seed)
        n_lattices, hidden = shape.n_cohorts, shape.hidden
        bits = graph.bits().to(graph.degree.device)
        others = [[j for j in range(n_lattices) if j != i] for i in own]
        for name, constant in {
            "inputs": torch.cat([bits, graph.mean(bits)], dim=1),
            "others": torch.tensor(others, dtype=torch.long).reshape(len(own), -1),
            "mine": torch.tensor(list(own)),
            "model": torch.arange(len(own)),
        }.items():
            self.register_buffer(name, constant, persistent=False)
        draw = partial(drawn_weights, torch.Generator().manual_seed(seed))
        widths = [graph.n_features, *[hidden] * (shape.layers - 1)]
        self.inner = nn.ModuleList(
            _InnerLayer(draw, len(own), n_lattices, before, hidden) for before in widths[:-1]
        )
        before = widths[-1]
        self.last_own = nn.Parameter(draw(before, len(own), before, hidden))
        self.last_others = nn.Parameter(draw(before, len(own), n_lattices - 1, before, hidden))
        self.last_around = nn.Parameter(draw(before, len(own), before, hidden))
        self.last_bias = nn.Parameter(draw(before, len(own), 1, hidden))
        self.head = nn.Parameter(draw(hidden, len(own), hidden))
        self.head_bias = nn.Parameter(draw(hidden, len(own)))

    def forward(self, rows: Tensor) -> Tensor:
        """Scores of the subsets in rows, different ones for a model, both (n_models, n_rows)."""
        # The last layer reads states: own, others', and the mean of the neighbours'.
        if not self.inner:
            own, mean = self.inputs[rows].chunk(2, dim=2)
            others = own.repeat(1, 1, self.others.shape[1])
        else:
            before = self._first_layer_as_read if len(self.inner) == 1 else self._all_inner_layers
            everywhere, others = before(rows)
            around = self.graph.mean(everywhere)
            own, mean = _Pick.apply(everywhere, rows), _Pick.apply(around, rows)
        # States of shape (n_models, n_rows, width), those of the others side by side.
        total = torch.baddbmm(self.last_bias, own, self.last_own)
        total = torch.baddbmm(total, others, self.last_others.flatten(1, 2))
        state = self._activated(torch.baddbmm(total, mean, self.last_around))
        return torch.einsum("krh,kh->kr", state, self.head) + self.head_bias[:, None]

    def _first_layer_as_read(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The first layer: in a model's own lattice everywhere, in the others at `rows`."""
        weight, bias = cast("_InnerLayer", self.inner[0]).first()
        n_models, _, width, hidden = weight.shape
        own_weight = weight[self.model, self.mine].transpose(0, 1).reshape(width, -1)
        own = torch.addmm(bias[self.model, self.mine].reshape(-1), self.inputs, own_weight)
        chosen = self.model[:, None]
        other_weight = weight[chosen, self.others].transpose(1, 2).reshape(n_models, width, -1)
        other_bias = bias[chosen, self.others].reshape(n_models, 1, -1)
        others = torch.baddbmm(other_bias, self.inputs[rows], other_weight)
        return self._activated(own).reshape(-1, n_models, hidden), self._activated(others)

    def _all_inner_layers(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """All layers but the last, in every lattice and at every node."""
        weight, bias = cast("_InnerLayer", self.inner[0]).first()
        n_models, n_lattices, width, hidden = weight.shape
        flat = weight.permute(2, 0, 1, 3).reshape(width, -1)
        state = self._activated(torch.addmm(bias.reshape(-1), self.inputs, flat))
        state = state.reshape(-1, n_models, n_lattices, hidden)
        for layer in list(self.inner)[1:]:
            state = self._activated(layer(state, self.graph.mean(state)))
        others = state[rows[:, :, None], self.model[:, None, None], self.others[:, None, :]]
        return state[:, self.model, self.mine], others.flatten(2)

    def _activated(self, state: Tensor) -> Tensor:
        return self._dropout(functional.leaky_relu_(state))


class _InnerLayer(nn.Module):
    """A layer in all lattices; `across[k, j, i]` is model k's matrix from lattice j to i."""

    def __init__(self, draw: Any, n_models: int, n_lattices: int, before: int, after: int) -> None:
        super().__init__()
        lattices = (n_models, n_lattices)
        self.across = nn.Parameter(draw(before, *lattices, n_lattices, before, after))
        self.around = nn.Parameter(draw(before, *lattices, before, after))
        self.bias = nn.Parameter(draw(before, *lattices, after))

    def first(self) -> tuple[Tensor, Tensor]:
        """Weights on [bits, mean of the neighbours' bits], which are the same in all lattices."""
        return torch.cat([self.across.sum(dim=1), self.around], dim=2), self.bias

    def forward(self, state: Tensor, mean: Tensor) -> Tensor:
        """States and means of shape (n_nodes, n_models, n_lattices, width)."""
        n_models, n_lattices, before, after = self.around.shape
        matrix = self.across.transpose(2, 3).reshape(n_models, n_lattices * before, -1)
        across = torch.bmm(state.flatten(2).transpose(0, 1), matrix)
        around = torch.bmm(mean.flatten(1, 2).transpose(0, 1), self.around.flatten(0, 1))
        total = across.transpose(0, 1).reshape(-1, n_models, n_lattices, after)
        total = total + around.transpose(0, 1).reshape(total.shape)
        return total + self.bias


class _Pick(torch.autograd.Function):
    """Different rows of (n_nodes, n_models, width) a model: gradients are copied, not summed."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, rows: Tensor) -> Tensor:
        places = rows * values.shape[1] + torch.arange(values.shape[1], device=rows.device)[:, None]
        ctx.save_for_backward(places.reshape(-1))
        ctx.shape = values.shape
        picked = values.reshape(-1, values.shape[2]).index_select(0, places.reshape(-1))
        return picked.reshape(*rows.shape, values.shape[2])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        width = ctx.shape[2]
        back = gradient.new_zeros(ctx.shape[0] * ctx.shape[1], width)
        return back.index_copy_(0, places, gradient.reshape(-1, width)).reshape(ctx.shape), None


class PaperModels(NamedTuple):
    """Trained models, one a subgroup, which is the first axis of all weights."""

    shape: ModelShape
    weights: dict[str, Tensor]

    @torch.no_grad()
    def predict(self, size: int, device: str = "auto") -> Floats:
        """Scores of every subset of one size, of shape (n_cohorts, n_subsets)."""
        if not self.shape.low <= size <= self.shape.high:
            raise MisfeatError(
                f"{Setting('size', size)}; the models know sets of sizes {self.shape.low} to "
                f"{self.shape.high}."
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


def train_models(
    shape: ModelShape,
    by_size: Sequence[Floats],
    settings: "EpochCompleter",
    device: torch.device,
    seeds: np.random.SeedSequence,
    progress: Progress | None = None,
) -> PaperModels:
    """Train one model a subgroup on its known scores by size, as many side by side as fit."""
    graph = shape.graph(device)
    sizes = range(shape.low, shape.high + 1)
    rows = np.concatenate([graph.rows(size) for size in sizes])
    scores = np.concatenate([by_size[size] for size in sizes], axis=1)
    blocks = list(shape.blocks(device.type))
    weights = []
    for place, own in enumerate(blocks):

        def on_epoch(epoch: int, place: int = place) -> None:
            if progress is not None:
                done = place * settings.epochs + epoch
                progress("Training the models", done, len(blocks) * settings.epochs)

        rng = np.random.default_rng(seeds.spawn(1)[0])
        seed = int(rng.integers(2**32))
        labels = [Labels.known(rows, scores[cohort]) for cohort in own]
        network = shape.network(graph, own, seed)
        if any(len(known.rows) for known in labels):
            with torch.random.fork_rng():
                torch.manual_seed(seed)  # of dropout on a device other than the CPU
                train(network, labels, settings, rng, on_epoch)
        weights.append({name: w.detach().cpu() for name, w in network.state_dict().items()})
    together = {name: torch.cat([w[name] for w in weights]) for name in weights[0]}
    return PaperModels(shape, together)


class MLPNetwork(nn.Module):
    """One model a subgroup, over all sets of `low` to `high` features, small ones first."""

    inputs: Tensor

    def __init__(
        self, n_models: int, n_features: int, low: int, high: int, hidden: int, seed: int
    ) -> None:
        super().__init__()
        self.own = range(n_models)
        held = [contains(level(n_features, size), n_features) for size in range(low, high + 1)]
        self._starts = dict(enumerate(np.cumsum([0, *map(len, held)]).tolist(), start=low))
        bits = torch.from_numpy(np.concatenate(held)).float()
        self.register_buffer("inputs", bits, persistent=False)
        draw = partial(drawn_weights, torch.Generator().manual_seed(seed))
        self.first = nn.Parameter(draw(n_features, n_models, n_features, hidden))
        self.first_bias = nn.Parameter(draw(n_features, n_models, 1, hidden))
        self.second = nn.Parameter(draw(hidden, n_models, hidden, hidden))
        self.second_bias = nn.Parameter(draw(hidden, n_models, 1, hidden))
        self.head = nn.Parameter(draw(hidden, n_models, hidden, 1))
        self.head_bias = nn.Parameter(draw(hidden, n_models, 1, 1))

    def forward(self, rows: Tensor) -> Tensor:
        """Predicted scores of the sets in these rows, both of shape (n_models, n_rows)."""
        state = torch.relu_(torch.baddbmm(self.first_bias, self.inputs[rows], self.first))
        state = torch.relu_(torch.baddbmm(self.second_bias, state, self.second))
        return torch.baddbmm(self.head_bias, state, self.head).squeeze(2)

    @torch.no_grad()
    def predict(self, size: int) -> Floats:
        """Scores of all sets of one size, of shape (n_models, n_subsets)."""
        device = self.inputs.device
        rows = torch.arange(self._starts[size], self._starts[size + 1], device=device)
        return self(rows.expand(len(self.own), -1)).double().cpu().numpy()
