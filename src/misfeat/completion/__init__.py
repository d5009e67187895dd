"""Scores that cannot be computed in a cohort, predicted from the cohorts that can."""

from misfeat.completion.add import AddCompleter
from misfeat.completion.auto import AutoCompleter
from misfeat.completion.drop import DropCompleter
from misfeat.completion.gain import GainCompleter
from misfeat.completion.interactions import InteractionsCompleter
from misfeat.completion.iterative import IterativeCompleter
from misfeat.completion.knn import KNNCompleter
from misfeat.completion.markov_blanket import MarkovBlanketCompleter
from misfeat.completion.mlp import MLPCompleter
from misfeat.completion.mode import ModeCompleter
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
    "DropCompleter",
    "ExactScores",
    "GainCompleter",
    "InteractionsCompleter",
    "IterativeCompleter",
    "KNNCompleter",
    "Known",
    "MLPCompleter",
    "MarkovBlanketCompleter",
    "ModeCompleter",
    "MultiplexCompleter",
    "PaperCompleter",
    "TransferCompleter",
]
