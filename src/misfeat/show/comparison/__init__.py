"""Two runs side by side: in a terminal, as a page, and as frames."""

from misfeat.show.comparison.shown import ShownComparison, compare

__all__ = ["ShownComparison", "compare"]
