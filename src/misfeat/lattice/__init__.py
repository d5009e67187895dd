"""The lattice of feature subsets: which subsets a level holds, their numbers and neighbours."""

from misfeat.lattice.levels import (
    best_below,
    contains,
    count,
    count_nodes,
    level,
    rank,
    ranks_above,
    ranks_below,
    unrank,
)

__all__ = [
    "best_below",
    "contains",
    "count",
    "count_nodes",
    "level",
    "rank",
    "ranks_above",
    "ranks_below",
    "unrank",
]
