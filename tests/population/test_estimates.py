from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from misfeat.population.refined import refined_posterior

from misfeat import MisfeatError
from misfeat.bench.hiding import Truth
from misfeat.completion import ExactScores, GainCompleter, Known, TransferCompleter
from misfeat.estimation.estimates import Estimate, own_posterior
from misfeat.information.measures import MutualInformation
from tests.completion.coded import drawn_cohorts
from tests.population.evidence import drawn

SCALES = ("population", "above_chance", "sample")


@pytest.fixture(scope="module")
def known():
    """Scores above chance of sets of up to three, some features hidden."""
    hidden = Truth.of(drawn_cohorts(), 3).hidden(np.eye(3, 5, dtype=bool))
    measure = MutualInformation(hidden.cohorts, above_chance=True)
    found = [measure.of_levels(i, 0, 3, None) for i in range(3)]
    by_size = tuple(np.array(scores) for scores in zip(*found, strict=True))
    return Known(
        ExactScores(by_size, measure.missing, measure.ceiling, closed=False, above_chance=True),
        hidden.cohorts,
    )


def test_every_scale_but_the_samples_starts_above_chance():
    completer = TransferCompleter()
    assert [Estimate(name, completer).above_chance for name in SCALES] == [True, True, False]


@pytest.mark.parametrize("name", ["population", "above_chance"])
@pytest.mark.parametrize("confidence", [0.9, 0.5, None])
def test_scores_of_all_sizes_lie_within_their_bounds(known, name, confidence):
    estimate = Estimate(name, TransferCompleter(), confidence)
    found = estimate.complete_up_to(known, 3)
    assert sorted(found) == [1, 2, 3]
    for size, scores in found.items():
        assert np.array_equal(scores.predicted, np.isnan(known.exact.by_size[size]))
        assert (scores.low <= scores.score).all()
        assert (scores.score <= scores.high).all()
        assert (scores.high <= known.exact.ceiling[:, None]).all()
        if confidence is None:
            assert not scores.low.any()
            assert np.array_equal(
                scores.high, np.broadcast_to(known.exact.ceiling[:, None], scores.high.shape)
            )


def test_a_size_is_the_same_whatever_larger_one_comes_with_it(known):
    estimate = Estimate("population", TransferCompleter())
    alone, along = estimate.complete(known, 2), estimate.complete_up_to(known, 3)[2]
    for name in ("score", "low", "high"):
        assert np.array_equal(getattr(alone, name), getattr(along, name))


def test_another_completer_gives_other_predictions_and_the_same_pool(known):
    usual, other = (
        Estimate("above_chance", completer).complete(known, 2)
        for completer in (TransferCompleter(), GainCompleter())
    )
    predicted = usual.predicted
    assert not np.allclose(usual.score[predicted], other.score[predicted])
    assert np.array_equal(usual.predicted, other.predicted)


def test_a_completer_that_gives_no_scores_is_named(known):
    class Silent:
        def reach(self, size, n_features):
            return size

        def memory_needed(self, size, n_features, n_cohorts):
            return 0

        def complete(self, known, size):
            return None

    for name in SCALES:
        with pytest.raises(MisfeatError, match="completer='Silent' gave NoneType"):
            Estimate(name, Silent()).complete(known, 2)


def test_own_scores_stay_as_they_are_and_are_as_unsure_as_their_noise():
    evidence, _, _ = drawn(100, 300, 4, 0)
    hidden = replace(evidence, predicted=np.eye(*evidence.scores.shape, dtype=bool))
    own, pooled = own_posterior(hidden), refined_posterior(hidden)
    assert np.array_equal(own.mean, evidence.scores)
    recorded = ~hidden.predicted
    noise = evidence.variance_at(evidence.scores)
    assert np.array_equal(own.variance[recorded], noise[recorded])
    assert (own.variance >= pooled.variance)[hidden.predicted].all()
