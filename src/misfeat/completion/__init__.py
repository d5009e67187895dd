"""Scores that cannot be computed in a cohort, predicted from the cohorts that can."""

from misfeat.completion.gain import complete_by_gain
from misfeat.completion.model import CompletedScores, ExactScores

__all__ = ["CompletedScores", "ExactScores", "complete_by_gain"]
