"""Scores that cannot be computed in a cohort, predicted from the cohorts that can."""

from misfeat.completion.gain import GainCompleter
from misfeat.completion.model import SUPPORT, CompletedScores, Completer, ExactScores, Known
from misfeat.completion.paper import PaperCompleter

__all__ = [
    "SUPPORT",
    "CompletedScores",
    "Completer",
    "ExactScores",
    "GainCompleter",
    "Known",
    "PaperCompleter",
]
