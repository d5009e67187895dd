"""A graph neural network that sees what the other cohorts know."""

from misfeat.completion.multiplex.completer import MultiplexCompleter

__all__ = ["MultiplexCompleter"]
