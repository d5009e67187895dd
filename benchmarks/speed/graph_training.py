"""A training step of the paper's model, without edges and with PyTorch Geometric's.

    python benchmarks/speed/graph_training.py [--device cuda]

Both sides train the same network on the same multiplex lattice graph: GraphSAGE with mean over
in-lattice neighbours and a matrix for every pair of lattices, two layers, hidden width 128, dropout
0.1, Adam, every feature set of the subgroup labelled. A step is one epoch of one subgroup's model.
The peers, both in PyTorch Geometric:

- to_hetero: `SAGEConv` layers turned heterogeneous, as one would write it.
- pruned: the same with `HeteroConv`, and of the last layer only what the subgroup's loss reads.

misfeat trains the models of all subgroups side by side; its step is that time over their number.
"hidden" is the same with a fifth of the features hidden, so that fewer sets are labelled. Further
lines: the seconds until the first epoch can start, and the sum over neighbours in the whole lattice
of 20 features against an edge list (on a CUDA device only). Times are medians of steps taken in
turns; the CSV beside this script has the figures of both kinds of device.
"""

from __future__ import annotations

import argparse
import csv
import platform
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import dropout, leaky_relu, mse_loss
from torch_geometric.nn import HeteroConv, SAGEConv, to_hetero

from benchmarks.common.lattice_graph import lattice_graph
from misfeat.completion.networks.paper import ModelShape
from misfeat.completion.networks.per_subgroup_training import Batch, Labels, training_step
from misfeat.completion.neural_completers import PaperCompleter
from misfeat.datasets.population import random_mask
from misfeat.lattice.levels import level
from misfeat.lattice.neighbour_sums import Neighbours

HIDDEN, LAYERS, DROPOUT = 128, 2, 0.1
CASES = ((15, 1, 5, 4), (19, 1, 5, 8))
STEPS = {"cpu": 5, "cuda": 30}


class Sage(torch.nn.Module):
    """Layers and a head for one kind of node; `to_hetero` makes the rest."""

    def __init__(self, n_features):
        super().__init__()
        self.first, self.second = SAGEConv(n_features, HIDDEN), SAGEConv(HIDDEN, HIDDEN)
        self.drop = torch.nn.Dropout(DROPOUT)
        self.head = torch.nn.Linear(HIDDEN, 1)

    def forward(self, x, edge_index):  # noqa: D102
        x = self.drop(leaky_relu(self.first(x, edge_index)))
        x = self.drop(leaky_relu(self.second(x, edge_index)))
        return self.head(x).squeeze(-1)


class Pruned(torch.nn.Module):
    """The same, with the last layer in one lattice only."""

    def __init__(self, graph, own, n_features):
        super().__init__()
        self.own = own
        self.first = HeteroConv({kind: SAGEConv(n_features, HIDDEN) for kind in graph.edge_types})
        into = [kind for kind in graph.edge_types if kind[2] == own]
        self.second = HeteroConv({kind: SAGEConv(HIDDEN, HIDDEN) for kind in into})
        self.head = torch.nn.Linear(HIDDEN, 1)

    def forward(self, x_dict, edge_index_dict):  # noqa: D102
        states = self.first(x_dict, edge_index_dict)
        states = {k: dropout(leaky_relu(x), DROPOUT) for k, x in states.items()}
        last = dropout(leaky_relu(self.second(states, edge_index_dict)[self.own]), DROPOUT)
        return {self.own: self.head(last).squeeze(-1)}


def peer_step(graph, make, rows, device):
    graph, rows = graph.to(device), torch.as_tensor(rows, device=device)
    own = graph.node_types[0]
    model = make(graph, own).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=5e-4)
    labels = torch.rand(len(rows), device=device)

    def step():
        optimizer.zero_grad()
        out = model(graph.x_dict, graph.edge_index_dict)[own]
        mse_loss(out[rows], labels).backward()
        optimizer.step()

    return step


def own_step(case, labelled, device):
    n_features, low, high, n_cohorts = case
    shape = ModelShape(n_features, low, high, n_cohorts, LAYERS, HIDDEN, DROPOUT)
    graph = shape.graph(torch.device(device))
    network = shape.network(graph, range(n_cohorts))
    labels = [Labels(rows, np.random.default_rng(0).random(len(rows))) for rows in labelled]
    batch = Batch.of(labels, graph.n_rows, torch.device(device))
    return training_step(network, batch, PaperCompleter())


def labelled_rows(case, p):
    n_features, low, high, n_cohorts = case
    mask = random_mask(n_cohorts, n_features, p, np.random.default_rng(1))
    lost = np.concatenate(
        [mask[:, level(n_features, size)].any(axis=2) for size in range(low, high + 1)], axis=1
    )
    return [np.flatnonzero(~row) for row in lost]


def seconds(step, device):
    start = time.perf_counter()
    step()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def in_turns(steps, device):
    for step in steps.values():
        for _ in range(5 if device == "cuda" else 1):
            seconds(step, device)
    taken = {name: [] for name in steps}
    for _ in range(STEPS[device]):
        for name, step in steps.items():
            taken[name].append(seconds(step, device))
    return {name: float(np.median(times)) for name, times in taken.items()}


def training(case, device):
    n_features, low, high, n_cohorts = case
    graph = lattice_graph(n_features, [f"g{i}" for i in range(n_cohorts)], low, high)
    everything, some = labelled_rows(case, 0.0), labelled_rows(case, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hetero = peer_step(
            graph, lambda g, _: to_hetero(Sage(n_features), g.metadata()), everything[0], device
        )
        pruned = peer_step(graph, lambda g, own: Pruned(g, own, n_features), everything[0], device)
    times = in_turns(
        {
            "to_hetero": hetero,
            "pruned": pruned,
            "misfeat": own_step(case, everything, device),
            "misfeat, hidden": own_step(case, some, device),
        },
        device,
    )
    for name in ("misfeat", "misfeat, hidden"):
        times[name] /= n_cohorts
    what = f"training step, {n_features} features, sizes {low}-{high}, {n_cohorts} subgroups"
    for name, taken in times.items():
        yield what, name, taken * 1e3, "ms", times["to_hetero"] / taken, times["pruned"] / taken


def start_up(device):
    """From asking for the graph until the first epoch can start."""
    start = time.perf_counter()
    shape = ModelShape(20, 1, 5, 4, LAYERS, HIDDEN, DROPOUT)
    shape.network(shape.graph(torch.device(device)), range(4))
    if device == "cuda":
        torch.cuda.synchronize()
    yield (
        "until the first epoch, 20 features, sizes 1-5, 4 subgroups",
        "misfeat",
        (time.perf_counter() - start) * 1e3,
        "ms",
        "",
        "",
    )


def edge_list(n_features, device):
    """Source and target of every directed edge of the whole lattice, nodes numbered by bits."""
    nodes = torch.arange(1, 2**n_features, device=device)
    large = nodes[(nodes & (nodes - 1)) != 0]
    sources, targets = [], []
    for i in range(n_features):
        other = nodes ^ (1 << i)
        sources.append(nodes[other > 0]), targets.append(other[other > 0])
        for j in range(n_features):
            if i != j:
                chosen = large[((large >> i & 1) == 1) & ((large >> j & 1) == 0)]
                sources.append(chosen), targets.append(chosen ^ (1 << i) ^ (1 << j))
    return torch.cat(sources).int(), torch.cat(targets).int()


def whole_lattice(device, n_features=20):
    graph = Neighbours(n_features, 1, n_features).to(device)
    values = torch.randn(graph.n_rows, HIDDEN, device=device)
    what = f"sum over neighbours, whole lattice of {n_features} features, width {HIDDEN}"

    def measured(work):
        work()
        torch.cuda.reset_peak_memory_stats()
        times = sorted(seconds(work, device) for _ in range(5))
        return times[2] * 1e3, torch.cuda.max_memory_allocated() / 2**30

    ours, our_peak = measured(lambda: graph.sum(values))
    result = graph.sum(values).cpu()
    bits = (graph.bits().long() << torch.arange(n_features)).sum(dim=1).to(device)
    row_of = torch.zeros(2**n_features, dtype=torch.int, device=device)
    row_of[bits] = torch.arange(graph.n_rows, dtype=torch.int, device=device)
    source, target = (row_of[nodes.long()] for nodes in edge_list(n_features, device))

    def by_edges():
        return torch.zeros_like(values).index_add_(0, target, values.index_select(0, source))

    edges, edge_peak = measured(by_edges)
    assert (by_edges().cpu() - result).abs().max() < 1e-3 * result.abs().max()
    yield what, "edge list", edges, "ms", "", ""
    yield what, "misfeat", ours, "ms", "", ""
    yield what, "edge list", edge_peak, "GiB", "", ""
    yield what, "misfeat", our_peak, "GiB", "", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--out", default=str(Path(__file__).with_suffix(".csv")))
    chosen = parser.parse_args()
    device = chosen.device
    name = torch.cuda.get_device_name() if device == "cuda" else f"cpu, {platform.machine()}"
    rows = []
    cases = CASES if device == "cuda" else CASES[:1]
    work = [start_up(device), *(training(case, device) for case in cases)]
    if device == "cuda":
        work.append(whole_lattice(device))
    for lines in work:
        for line in lines:
            row = [name, *(round(x, 2) if isinstance(x, float) else x for x in line)]
            rows.append(row)
            print(*row, sep=" | ", flush=True)
    path = Path(chosen.out)
    header = ["device", "what", "method", "figure", "unit", "to_hetero / this", "pruned / this"]
    kept = []
    if path.exists():
        with path.open(newline="") as file:
            kept = [row for row in csv.reader(file) if row[0] not in (name, "device")]
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *kept, *rows])


if __name__ == "__main__":
    main()
