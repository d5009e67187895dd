"""Pictures of what a fitted selector found: each takes it and returns a matplotlib Axes."""

from misfeat.plot.best_sets import top_k
from misfeat.plot.gains import worth_collecting
from misfeat.plot.lattice_graph import lattice
from misfeat.plot.missing_map import missing
from misfeat.plot.sampled_shares import sampling
from misfeat.plot.score_map import cohorts
from misfeat.plot.upward_closure import closure

__all__ = [
    "closure",
    "cohorts",
    "lattice",
    "missing",
    "sampling",
    "top_k",
    "worth_collecting",
]
