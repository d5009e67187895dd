"""Are p-values uniform where nothing tells, and few of them small?

Every trial is a table of its own: generated ones, and heart.csv with its target shuffled within
clinics. Subgroups are tested with deals of their own, so that p-values are independent and how many
lie below a level is binomial.
"""

import numpy as np
import pytest
from scipy.stats import binom

from misfeat import SubgroupSelector
from misfeat.answers.subgroup_significance import significance_tests
from misfeat.datasets import load_heart

pytestmark = pytest.mark.validity

CHANCE = 0.00135
"""How rarely a fair trial fails."""
TRIALS = 60


def generated(seed):
    rng = np.random.default_rng(seed)
    columns = {f"f{j}": rng.integers(0, rng.integers(2, 6), 800) for j in range(8)}
    return {**columns, "site": np.repeat(np.arange(4), 200), "y": rng.integers(0, 3, 800)}


def heavy_tailed(seed):
    rng = np.random.default_rng(seed)
    columns = {f"f{j}": rng.lognormal(0.0, 2.0, 800) for j in range(6)}
    return {**columns, "site": np.repeat(np.arange(4), 200), "y": rng.random(800) < 0.05}


def shuffled(seed):
    rng = np.random.default_rng(seed)
    columns = {name: np.asarray(values) for name, values in load_heart().columns.items()}
    y = columns["num"].copy()
    for site in np.unique(columns["site"]):
        own = columns["site"] == site
        y[own] = rng.permutation(y[own])
    return {**columns, "y": y, "num": np.zeros(len(y))}


@pytest.fixture(scope="module", params=[generated, heavy_tailed, shuffled])
def p_values(request):
    found = []
    for seed in range(TRIALS):
        selector = SubgroupSelector("site", size=2, exclude=["num"], random_state=seed)
        if request.param is not shuffled:
            selector.set_params(exclude=None)
        if request.param is heavy_tailed:
            selector.set_params(measure="r2")
        tests = significance_tests(
            selector.fit(request.param(seed), "y").selection_, permutations=199
        )
        found += [one.p_value for one in tests.subgroups]
    return np.array(found)


@pytest.mark.parametrize("level", [0.05, 0.1, 0.25, 0.5])
def test_as_many_p_values_lie_below_a_level_as_it_says(p_values, level):
    low, high = binom.ppf([CHANCE, 1 - CHANCE], len(p_values), level)
    assert low <= (p_values <= level).sum() <= high


def test_adjusted_p_values_seldom_call_anything(p_values):
    tables = p_values.reshape(TRIALS, -1)
    called = (tables.min(axis=1) <= 0.05 / tables.shape[1]).sum()
    assert called <= binom.ppf(1 - CHANCE, TRIALS, 0.05)
