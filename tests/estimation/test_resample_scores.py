"""Scores of resamples, side by side, against fits to each of them."""

import numpy as np
import pandas as pd
import pytest

from misfeat import SubgroupSelector
from misfeat.answers.stability import SHARE
from misfeat.cohorts.resampled_rows import subsample
from misfeat.estimation.covariance_sources import source_of
from misfeat.estimation.resample_scores import sample_of, scores_of_samples, sizes_corrected
from misfeat.lattice.levels import level


def acceptance(n_rows: int) -> pd.DataFrame:
    """Ratings of which the worst decides nearly always, as in the tables of car and of nursery."""
    rng = np.random.default_rng(0)
    rated = rng.choice(4, (n_rows, 6), p=[0.15, 0.2, 0.25, 0.4])  # one value is the most frequent
    worst = np.minimum(rated[:, 0], rated[:, 1])
    accepted = np.where(worst == 0, 0, np.minimum(worst, 1 + (rated[:, 2:4].sum(axis=1) > 2)))
    return pd.DataFrame(rated, columns=list("abcdef")).assign(accepted=accepted)


@pytest.mark.parametrize("size", [2, 3])
def test_of_a_strongly_explained_target_they_are_those_of_fits(size):
    selector = SubgroupSelector(size=size, random_state=0).fit(acceptance(1500), "accepted")
    scores, cohorts = selector.selection_.set_scores, selector.selection_.cohorts
    (model,), table = scores.listed().models, scores.listed().known.prepared(source_of)
    corrected = sizes_corrected([model], size)
    assert corrected >= 2  # what is modelled is off, and counted scores say by how much
    subsets = level(6, size)
    for seed in range(3):
        own, fitted = (
            scores.rescored(subsample(cohorts, SHARE, np.random.default_rng(seed)), seed)
            for _ in range(2)
        )
        sample = sample_of(own.known(1, counted=corrected), table, corrected)
        found = scores_of_samples([sample, sample], subsets, model, whole=True)
        expected = fitted.scored(subsets).score
        assert found[0] == pytest.approx(expected, abs=1e-3)
        assert (found[0] == found[1]).all()
        plain = scores_of_samples([sample._replace(occupied=[])], subsets, model, whole=True)
        assert np.abs(plain[0] - expected).max() > 5e-3  # corrected by counts of all rows
