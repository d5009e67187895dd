from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion import BaseCompleter, Guess
from misfeat.testing import check_completer


class Mean(BaseCompleter):
    """The mean of the scores of a size that are known anywhere."""

    def guess(self, known, size):
        by_size = known.exact.by_size[: size + 1]
        known_ones = [scores[~np.isnan(scores)] for scores in by_size]
        means = [one.mean() if one.size else 0.0 for one in known_ones]
        return Guess.of([np.full_like(s, m) for s, m in zip(by_size, means, strict=True)])


def test_a_completer_of_one_method_keeps_the_contract():
    check_completer(Mean(rounds=2))


class Unseeded(Mean):
    def guess(self, known, size):
        noise = np.random.default_rng().random()
        return Guess.of([scores + noise for scores in super().guess(known, size).by_size])


class Peeking(Mean):
    def guess(self, known, size):
        found = super().guess(known, size)
        return Guess.of([scores + 0.01 * known.cohorts.codes.mean() for scores in found.by_size])


class Nan(Mean):
    def guess(self, known, size):
        return Guess.of([np.full_like(s, np.nan) for s in super().guess(known, size).by_size])


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Unseeded, "something else|gives other scores|scores lower than a part"),
        (Peeking, "features that a subgroup did not record"),
        (Nan, "a score is NaN"),
    ],
)
def test_what_is_wrong_is_said_in_words(kind, message):
    with pytest.raises(AssertionError, match=message):
        check_completer(kind(rounds=2))
