"""A neural network that reads which features a set holds, one a subgroup."""

from misfeat.completion.baselines.mlp.completer import MLPCompleter

__all__ = ["MLPCompleter"]
