from __future__ import annotations

import numpy as np
import pytest

from misfeat.bench.estimates import ESTIMATES, estimated
from misfeat.bench.hiding import exact_scores
from misfeat.information.measures import MutualInformation
from tests.estimation.generated import generated


@pytest.fixture(scope="module")
def cohorts():
    return generated(4, 150, 5, hide=0.3)[0]


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_every_scale_scores_every_set_within_its_interval(cohorts, estimate):
    found = estimated(estimate, cohorts, 2)
    assert found.score.shape == (4, 10)
    assert np.isfinite(found.score).all()
    assert (found.low <= found.score).all()
    assert (found.score <= found.high).all()
    np.testing.assert_array_equal(found.predicted, cohorts.missing[:, found.subsets].any(axis=2))


def test_recorded_sets_have_the_scores_of_their_rows_but_on_the_scale_of_the_population(cohorts):
    found = {estimate: estimated(estimate, cohorts, 1) for estimate in ESTIMATES}
    recorded = ~found["sample"].predicted
    plug_in = exact_scores(cohorts, 1).by_size[1]
    above = MutualInformation(cohorts, above_chance=True)
    own = np.array([above.of_levels(i, 1, 1, 1)[0] for i in range(4)])
    np.testing.assert_allclose(found["sample"].score[recorded], plug_in[recorded])
    shown = found["above_chance"].score[recorded]
    np.testing.assert_allclose(shown, np.maximum(own[recorded], 0), atol=1e-12)
    assert (found["population"].score[recorded] != shown).any()
