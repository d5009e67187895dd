from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion.model import CompletedScores
from misfeat.lattice import level
from misfeat.selection import swapping
from misfeat.selection.contrasts import Contrasts
from misfeat.selection.swapping import alternatives_to, distinct_sets
from tests.selection.scores import scored_from

N_FEATURES = 4
NAMES = ("all rows", ("bmi", "waist", "age", "sex"))
NOTHING_MISSING = np.zeros((1, N_FEATURES), dtype=bool)


def pairs(score, reach):
    """Scores of all pairs: (0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)."""
    score = np.array([score], dtype=float)
    flags = np.zeros(score.shape, dtype=bool), np.full(score.shape, 4, dtype=np.int8)
    return CompletedScores(level(N_FEATURES, 2), score, score - reach, score + reach, *flags)


def asked_of(scores):
    return Contrasts(scored_from({2: scores}), NOTHING_MISSING, None, None)


SCORES = pairs([0.50, 0.90, 0.88, 0.10, 0.85, 0.30], reach=0.03)


def test_alternatives_are_those_whose_bounds_meet():
    found = alternatives_to((0, 2), SCORES, 0, NAMES, asked_of(SCORES), 10)
    assert [(one.words, one.swaps) for one in found] == [
        ("waist for bmi", 1),
        ("waist and sex for bmi and age", 2),
    ]
    assert found[0].difference == pytest.approx(-0.02)
    assert found[0].difference_low == pytest.approx(-0.08)


def test_as_many_as_asked_for_those_with_the_fewest_swaps():
    (found,) = alternatives_to((0, 2), SCORES, 0, NAMES, asked_of(SCORES), 1)
    assert found.words == "waist for bmi"


def test_no_more_sets_are_compared_than_time_allows(monkeypatch):
    monkeypatch.setattr(swapping, "MOST_COMPARED", 1)
    found = alternatives_to((0, 2), SCORES, 0, NAMES, asked_of(SCORES), 10)
    assert [one.words for one in found] == ["waist for bmi"]


def test_what_gives_up_the_same_stands_together():
    close = pairs([0.87, 0.90, 0.88, 0.85, 0.1, 0.89], reach=0.05)
    found = alternatives_to((0, 2), close, 0, NAMES, asked_of(close), 10)
    assert [one.words for one in found] == [
        "sex for bmi",
        "waist for bmi",
        "waist for age",
        "sex for age",
    ]


def test_distinct_sets_skip_what_differs_by_one_swap_and_cannot_be_told_apart():
    order = np.argsort(-SCORES.score[0]).tolist()
    shown = distinct_sets(order, SCORES.subsets, 0, asked_of(SCORES))
    # (1, 2) is left out for (0, 2); (1, 3) shares nothing with it and stays.
    assert [SCORES.subsets[number].tolist() for number in shown] == [
        [0, 2],
        [1, 3],
        [0, 1],
        [2, 3],
        [0, 3],
    ]
