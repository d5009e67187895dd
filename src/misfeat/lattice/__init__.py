"""The lattice of feature subsets: which subsets a level holds, and the number of each."""

from misfeat.lattice.levels import level, rank

__all__ = ["level", "rank"]
