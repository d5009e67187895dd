"""Pictures of what a fitted selector found: each takes it and returns a matplotlib Axes."""

from misfeat.show.plot.across import forest
from misfeat.show.plot.best_sets import top_k
from misfeat.show.plot.cell_map import cells
from misfeat.show.plot.coming_again import stability
from misfeat.show.plot.gains import worth_collecting
from misfeat.show.plot.lattice_graph import lattice
from misfeat.show.plot.missing_map import missing
from misfeat.show.plot.network import synergy_network
from misfeat.show.plot.pairs import interactions
from misfeat.show.plot.sampled_shares import sampling
from misfeat.show.plot.score_map import subgroups
from misfeat.show.plot.single_features import feature_map
from misfeat.show.plot.sizes import size_curve
from misfeat.show.plot.upward_closure import closure

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
