"""What a completer guesses, checked before anything is made of it: it may be anybody's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.completion.model import Guess
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from misfeat.completion.model import Known

OURS = "misfeat."
"""Modules whose completers are known to change nothing that they are given."""


def guess_of(completer: Any, known: Known, size: int) -> Guess:
    """Guesses for every size up to one, checked; those of a foreign completer below the ceiling."""
    given = known.exact.by_size
    foreign = not type(completer).__module__.startswith(OURS)
    before = [scores.copy() for scores in given] if foreign else []
    guess = completer.guess(known, size)
    who = Setting("completer", type(completer).__name__)
    if any(
        not np.array_equal(one, other, equal_nan=True)
        for one, other in zip(before, given, strict=False)
    ):
        raise MisfeatError(
            "{completer}: guess changed the scores that it was given; let it work on a copy.",
            completer=who,
        )
    if not isinstance(guess, Guess):
        raise MisfeatError(
            "{completer}: guess gave {kind}; it must return Guess.of(scores by size).",
            completer=who,
            kind=type(guess).__name__,
        )
    _check_shapes(guess, known, size, who)
    if not foreign:
        return guess
    most = known.exact.ceiling[:, None]
    return Guess([np.minimum(scores, most) for scores in guess.by_size], guess.deviation)


def _check_shapes(guess: Guess, known: Known, size: int, who: Setting) -> None:
    """Raise unless there is a guess for every set of every size, none of them infinite."""
    if len(guess.by_size) != size + 1:
        raise MisfeatError(
            "{completer}: guess gave scores of {n} sizes; it must give those of sizes 0 to {size}.",
            completer=who,
            n=len(guess.by_size),
            size=size,
        )
    for m, scores in enumerate(guess.by_size):
        wanted = known.exact.by_size[m].shape
        if np.shape(scores) != wanted:
            raise MisfeatError(
                "{completer}: guesses for sets of {m} features have the shape {shape} instead of "
                "{wanted}, a line a subgroup and a column a set.",
                completer=who,
                m=m,
                shape=np.shape(scores),
                wanted=wanted,
            )
        if np.isinf(scores).any():
            raise MisfeatError(
                "{completer}: a guess for a set of {m} features is infinite; guess a number.",
                completer=who,
                m=m,
            )
