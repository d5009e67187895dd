from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.completion import BaseCompleter, Guess
from misfeat.completion.model import guess_of
from misfeat.testing.tables import known_of, random_cohorts


class Said(BaseCompleter):
    """Guesses what it is told to."""

    def __init__(self, make=None):
        super().__init__()
        self.make = make

    def guess(self, known, size):
        return self.make([scores.copy() for scores in known.exact.by_size[: size + 1]])


class Writing(BaseCompleter):
    def guess(self, known, size):
        for scores in known.exact.by_size:
            scores.fill(0.0)
        return Guess.of(list(known.exact.by_size[: size + 1]))


@pytest.fixture
def known():
    return known_of(random_cohorts(3, hidden=0.3), 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, "guess gave NoneType"),
        (lambda scores: scores, "guess gave list"),
        (lambda scores: Guess.of(scores[:-1]), "of sizes 0 to 2"),
        (lambda scores: Guess.of([*scores[:-1], np.zeros((1, 1))]), r"the shape \(1, 1\) instead"),
        (lambda scores: Guess.of([*scores[:-1], scores[-1] + np.inf]), "is infinite"),
    ],
)
def test_what_is_no_guess_is_refused_in_words(make, message, known):
    with pytest.raises(MisfeatError, match=message):
        guess_of(Said(make), known, 2)


def test_scores_that_are_given_stay_as_they_are(known):
    with pytest.raises(MisfeatError, match="changed the scores that it was given"):
        guess_of(Writing(), known, 2)


def test_no_guess_is_above_what_there_is_to_tell(known):
    found = guess_of(
        Said(lambda scores: Guess.of([np.full_like(s, 9.0) for s in scores])), known, 2
    )
    most = known.exact.ceiling[:, None]
    assert all((scores == most).all() for scores in found.by_size)
