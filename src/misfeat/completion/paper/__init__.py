"""The paper's model: a graph neural network over the multiplex lattice, one model a subgroup."""

from misfeat.completion.paper.completer import PaperCompleter

__all__ = ["PaperCompleter"]
