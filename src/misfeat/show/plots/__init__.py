"""Pictures of what a fitted selector found: each takes it and returns a matplotlib Axes."""

from misfeat.show.plots.forest_plot import forest
from misfeat.show.plots.heatmap import feature_map
from misfeat.show.plots.pairs import interactions
from misfeat.show.plots.ranked_lists import top_k, worth_collecting
from misfeat.show.plots.resamples import stability
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
