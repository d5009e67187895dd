"""Scores that cannot be computed in a cohort, predicted from the cohorts that can."""

from misfeat.completion.add import AddCompleter
from misfeat.completion.auto import AutoCompleter
from misfeat.completion.gain import GainCompleter
from misfeat.completion.interactions import InteractionsCompleter
from misfeat.completion.knn import KNNCompleter
from misfeat.completion.model import SUPPORT, CompletedScores, Completer, ExactScores, Known
from misfeat.completion.multiplex import MultiplexCompleter
from misfeat.completion.paper import PaperCompleter
from misfeat.completion.transfer import TransferCompleter

__all__ = [
    "SUPPORT",
    "AddCompleter",
    "AutoCompleter",
    "CompletedScores",
    "Completer",
    "ExactScores",
    "GainCompleter",
    "InteractionsCompleter",
    "KNNCompleter",
    "Known",
    "MultiplexCompleter",
    "PaperCompleter",
    "TransferCompleter",
]
