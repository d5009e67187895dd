"""Exact scores of feature subsets, from coded, weighted rows."""

from misfeat.information.mutual_info import entropy, joint_mutual_info, target_entropy

__all__ = ["entropy", "joint_mutual_info", "target_entropy"]
