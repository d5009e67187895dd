"""Pictures of what a fitted selector found: each takes it and returns a matplotlib Axes."""

from misfeat.show.plots.maps import feature_map, interactions
from misfeat.show.plots.ranked_lists import forest, stability, top_k, worth_collecting
from misfeat.show.plots.sizes import size_curve
from misfeat.show.plots.subset_lattice import lattice

__all__ = [
    "feature_map",
    "forest",
    "interactions",
    "lattice",
    "size_curve",
    "stability",
    "top_k",
    "worth_collecting",
]
