"""Memory of the lattice graph: it grows with nodes times width, not with edges.

    python benchmarks/memory/lattice_graph.py [--out DIR]

Needs a CUDA device, whose allocator knows its peak to the byte. For 10 to 22 features: the mean
over neighbours in the whole lattice at width 128, forward and backward, and a training epoch of the
paper's model on sizes 1 to 5 in two subgroups. Beside the peak stand the bytes of one state of
every node (nodes x width x 4) and what an edge list with one message an edge would take. The CSV
and the plot are kept beside this script.
"""

from __future__ import annotations

import argparse
import csv
from math import comb
from pathlib import Path

import numpy as np
import torch

from misfeat.completion.networks.paper import ModelShape
from misfeat.completion.networks.per_subgroup_training import Labels, train
from misfeat.completion.neural_completers import PaperCompleter
from misfeat.lattice.levels import count_nodes
from misfeat.lattice.neighbour_sums import Neighbours

WIDTH = 128
FEATURES = range(10, 23)
MIB = 2**20


def peak_of(work) -> float:
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / MIB


def whole_lattice(n_features: int) -> None:
    graph = Neighbours(n_features, 1, n_features).to("cuda")
    values = torch.randn(graph.n_rows, WIDTH, device="cuda", requires_grad=True)
    graph.mean(values).backward(torch.ones_like(values))


def an_epoch(n_features: int) -> None:
    shape = ModelShape(n_features, 1, 5, 2, 2, WIDTH, 0.1)
    graph = shape.graph(torch.device("cuda"))
    network = shape.network(graph, range(2))
    rows = np.arange(graph.n_rows)
    labels = [Labels(rows, np.random.default_rng(0).random(len(rows))) for _ in range(2)]
    train(network, labels, PaperCompleter(epochs=1), np.random.default_rng(0))


def line(what, n_features, low, high, n_lattices, peak):
    nodes = count_nodes(n_features, low, high) * n_lattices
    edges = n_lattices * sum(
        comb(n_features, m) * m * (2 * (m > low) + (n_features - m) * (m >= 2))
        for m in range(low, high + 1)
    )
    return {
        "what": what,
        "features": n_features,
        "nodes": nodes,
        "edges": edges,
        "peak_mib": round(peak, 1),
        "one_state_mib": round(nodes * WIDTH * 4 / MIB, 1),
        "messages_of_an_edge_list_mib": round(edges * (WIDTH * 4 + 16) / MIB, 1),
    }


def plot(rows, path):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharex=True)
    for axis, what in zip(axes, dict.fromkeys(row["what"] for row in rows), strict=True):
        chosen = [row for row in rows if row["what"] == what]
        features = [row["features"] for row in chosen]
        for column, label, style in (
            ("messages_of_an_edge_list_mib", "an edge list's messages", "k:"),
            ("peak_mib", "misfeat, measured peak", "C0o-"),
            ("one_state_mib", "nodes × width × 4 bytes", "C0--"),
        ):
            axis.semilogy(features, [row[column] for row in chosen], style, label=label, ms=4)
        axis.set(title=what, xlabel="features", ylabel="MiB")
    axes[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=str(Path(__file__).parent))
    folder = Path(parser.parse_args().out)
    an_epoch(10)
    rows = []
    for n_features in FEATURES:
        peak = peak_of(lambda n=n_features: whole_lattice(n))
        rows.append(line("whole lattice, mean and gradient", n_features, 1, n_features, 1, peak))
        print(rows[-1], flush=True)
    for n_features in FEATURES:
        peak = peak_of(lambda n=n_features: an_epoch(n))
        rows.append(line("sizes 1-5, training epoch", n_features, 1, 5, 2, peak))
        print(rows[-1], flush=True)
    with (folder / "lattice_graph.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    plot(rows, folder / "lattice_graph.svg")


if __name__ == "__main__":
    main()
