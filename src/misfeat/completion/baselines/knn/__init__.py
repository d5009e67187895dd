"""Unrecorded features imputed from the nearest rows of other cohorts."""

from misfeat.completion.baselines.knn.completer import KNNCompleter

__all__ = ["KNNCompleter"]
