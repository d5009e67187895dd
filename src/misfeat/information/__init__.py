"""Exact scores of feature subsets, from coded, weighted rows."""

from misfeat.information.mutual_info import (
    Entropies,
    conditional_mutual_info,
    entropies,
    entropy,
    joint_mutual_info,
    level_mutual_info,
    target_entropy,
)

__all__ = [
    "Entropies",
    "conditional_mutual_info",
    "entropies",
    "entropy",
    "joint_mutual_info",
    "level_mutual_info",
    "target_entropy",
]
