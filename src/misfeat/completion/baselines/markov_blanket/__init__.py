"""The target's Markov blanket, learned in turns with the imputation of unrecorded features."""

from misfeat.completion.baselines.markov_blanket.completer import MarkovBlanketCompleter
from misfeat.completion.baselines.markov_blanket.iamb import markov_blanket

__all__ = ["MarkovBlanketCompleter", "markov_blanket"]
