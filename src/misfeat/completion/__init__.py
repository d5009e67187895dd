"""Scores that cannot be computed in a cohort, predicted from the cohorts that can."""

from misfeat.completion.gain import GainCompleter
from misfeat.completion.model import CompletedScores, Completer, ExactScores
from misfeat.completion.paper import PaperCompleter

__all__ = ["CompletedScores", "Completer", "ExactScores", "GainCompleter", "PaperCompleter"]
