"""How good samples and predictions are, where the truth is known."""

from misfeat.evaluation.distances import total_variation
from misfeat.evaluation.rankings import captured_at, ndcg_at, precision_at

__all__ = ["captured_at", "ndcg_at", "precision_at", "total_variation"]
