"""Pictures of what a fitted selector found: each takes it and returns a matplotlib Axes."""

from misfeat.show.plots.forest_plot import forest
from misfeat.show.plots.maps import feature_map, interactions
from misfeat.show.plots.ranked_lists import stability, top_k, worth_collecting
from misfeat.show.plots.size_curves import size_curve

__all__ = [
    "feature_map", "forest", "interactions", "size_curve", "stability", "top_k", "worth_collecting",
]  # fmt: skip
