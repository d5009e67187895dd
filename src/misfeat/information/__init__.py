"""Exact scores of feature subsets, from coded, weighted rows."""

from misfeat.information.mutual_info import joint_mutual_info, level_mutual_info, target_entropy

__all__ = ["joint_mutual_info", "level_mutual_info", "target_entropy"]
