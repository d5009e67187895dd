"""Scores that cannot be computed in a cohort, predicted from the cohorts that can."""

from misfeat.completion.auto import AutoCompleter
from misfeat.completion.baselines.add import AddCompleter
from misfeat.completion.baselines.drop import DropCompleter
from misfeat.completion.baselines.gain import GainCompleter
from misfeat.completion.baselines.iterative import IterativeCompleter
from misfeat.completion.baselines.knn import KNNCompleter
from misfeat.completion.baselines.markov_blanket import MarkovBlanketCompleter
from misfeat.completion.baselines.mlp import MLPCompleter
from misfeat.completion.baselines.mode import ModeCompleter
from misfeat.completion.interactions import InteractionsCompleter
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
