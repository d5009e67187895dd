"""Unrecorded features imputed several times by chained equations."""

from misfeat.completion.baselines.iterative.completer import IterativeCompleter

__all__ = ["IterativeCompleter"]
