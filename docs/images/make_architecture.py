"""Draw which folder of the package imports which, from the imports themselves.

    python docs/images/make_architecture.py

writes architecture.svg beside this script. Lines and columns stand in the order of the contract
that import-linter holds the package to (pyproject.toml); were it broken, there would be a mark
below the diagonal.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import grimp
import matplotlib as mpl
from matplotlib import pyplot as plt

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
BLUE, GREY, PALE = "#0b5cad", "#7a8590", "#eef2f6"


def main() -> None:
    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "misfeat", "svg.fonttype": "path", "font.size": 9})
    figure = drawn(in_order(), imports())
    figure.savefig(FOLDER / "architecture.svg", metadata={"Date": None}, bbox_inches="tight")


def in_order() -> list[str]:
    """The parts of the package, from what everything stands on to what users call."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    return [part for layer in reversed(layers) for part in layer.split(" | ")]


def imports() -> Counter[tuple[str, str]]:
    """How many modules of a part import from another one, for every pair of parts."""
    graph = grimp.build_graph("misfeat")
    pairs = set()
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            pairs.add((module, part_of(other)))
    return Counter((part_of(module), other) for module, other in pairs)


def part_of(module: str) -> str:
    """The folder or file right below the package."""
    return f"{module}.".split(".")[1]


def drawn(parts: list[str], counted: Counter[tuple[str, str]]) -> plt.Figure:
    """A square: lines import from columns, the larger the mark, the more modules do."""
    figure, axes = plt.subplots(figsize=(7.2, 6.6))
    size = len(parts)
    for place, part in enumerate(parts):
        axes.add_patch(plt.Rectangle((place - 0.5, place - 0.5), 1, 1, fc=PALE, ec="none"))
        axes.axhline(place, color=PALE, lw=0.7, zorder=0)
        axes.axvline(place, color=PALE, lw=0.7, zorder=0)
        axes.text(-1, place, part, ha="right", va="center")
        axes.text(place, size - 0.2, part, rotation=90, ha="center", va="bottom", color=GREY)
    for (importer, imported), count in counted.items():
        if importer in parts and imported in parts and importer != imported:
            at = parts.index(imported), parts.index(importer)
            axes.scatter(*at, s=7 * count**0.75, color=BLUE, lw=0)
    axes.set(xlim=(-0.7, size - 0.3), ylim=(-0.7, size - 0.3), aspect="equal")
    axes.axis("off")
    axes.text(size - 0.5, -1.3, "imports from the column", ha="right", color=GREY)
    return figure


if __name__ == "__main__":
    main()
