"""Pictures of what a fitted selector found: each takes it and returns a matplotlib Axes."""

from misfeat.show.plot.across import forest
from misfeat.show.plot.coming_again import stability
from misfeat.show.plot.feature_maps import feature_map, subgroups
from misfeat.show.plot.lattice_graph import closure, lattice
from misfeat.show.plot.network import synergy_network
from misfeat.show.plot.pairs import cells, interactions
from misfeat.show.plot.ranked_lists import top_k, worth_collecting
from misfeat.show.plot.recorded import missing, sampling
from misfeat.show.plot.sizes import size_curve

__all__ = [
    "cells",
    "closure",
    "feature_map",
    "forest",
    "interactions",
    "lattice",
    "missing",
    "sampling",
    "size_curve",
    "stability",
    "subgroups",
    "synergy_network",
    "top_k",
    "worth_collecting",
]
