"""Sets with every further feature score what the same sets score when they are listed."""

from __future__ import annotations

import numpy as np
import pytest

from misfeat.cohorts import build_cohorts
from misfeat.cohorts.blocks import hide_features
from misfeat.information.extending import extended_mutual_info
from misfeat.information.mutual_info import joint_mutual_info


@pytest.fixture(scope="module", params=["whole rows", "rows that lack values"])
def cohort(request):
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 4, 90).astype(float) for name in "abcdef"}
    if request.param == "rows that lack values":
        for name in "bd":
            table[name][rng.random(90) < 0.2] = np.nan
    table["y"] = rng.integers(0, 3, 90)
    from misfeat import Coding

    cohorts = build_cohorts(table, "y", coding=Coding(sporadic="available"))
    mask = np.zeros((1, 6), dtype=bool)
    mask[0, 4] = True
    return hide_features(cohorts, mask)["all rows"]


@pytest.mark.parametrize("above_chance", [False, True])
@pytest.mark.parametrize("sets", [[[1]], [[0, 2], [1, 5], [3, 4]], [[0, 1, 3]]])
def test_every_feature_that_joins_is_scored_as_if_listed(cohort, sets, above_chance):
    found = extended_mutual_info(cohort, np.array(sets), above_chance=above_chance, n_jobs=2)
    for members, line in zip(sets, found, strict=True):
        for feature, score in enumerate(line):
            if feature in members or 4 in (feature, *members):
                assert np.isnan(score)
                continue
            listed = np.array([sorted([*members, feature])])
            (expected,) = joint_mutual_info(cohort, listed, above_chance=above_chance)
            assert score == pytest.approx(expected, abs=1e-12)


def test_no_set_gives_no_score(cohort):
    assert extended_mutual_info(cohort, np.zeros((0, 2), dtype=int)).shape == (0, 6)
