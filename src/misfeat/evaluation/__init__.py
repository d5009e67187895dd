"""How good samples and predictions are, where the truth is known."""

from misfeat.evaluation.distances import total_variation

__all__ = ["total_variation"]
