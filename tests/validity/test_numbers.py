"""Do 90 % intervals of a numeric target hold what is true in the population?

The truth of a set is what many further rows of its subgroup tell, the mean over the same grids.
Every trial draws populations of its own and looks at one set at random, so that how many intervals
hold the truth is binomial.
"""

import numpy as np
import pytest
from scipy.stats import binom

from misfeat import SubgroupSelector
from misfeat.cohorts import build_cohorts
from misfeat.information.measures import information_of

pytestmark = pytest.mark.validity

TRIALS, TRUE_ROWS, SUBGROUPS = 60, 20_000, ("a", "b", "c", "d")
CONFIDENCE, CHANCE = 0.9, 0.00135
"""What is promised, and how rarely a fair trial fails."""


def drawn(effects, n_rows, rng):
    """A target with linear and bent parts, whose spread depends on a feature."""
    x = rng.normal(size=(5, n_rows))
    x[1] = 0.6 * x[0] + 0.8 * x[1]
    told = effects[0] * x[0] + effects[1] * x[1] + effects[2] * np.sign(x[2] * x[3])
    y = np.exp(told + rng.normal(size=n_rows) * np.exp(effects[3] * x[4]))
    return {**{f"x{place}": values for place, values in enumerate(x)}, "y": y}


def table_of(effects, n_rows, rng):
    parts = [drawn(own, n_rows, rng) for own in effects]
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {**table, "site": np.repeat(SUBGROUPS, n_rows)}


def holds(n_rows, seed):
    """Whether the interval of one set holds the truth."""
    rng = np.random.default_rng([seed, n_rows])
    common = rng.uniform(0, 0.8, 4)
    effects = common * rng.normal(1, 0.2, (len(SUBGROUPS), 4))
    selector = SubgroupSelector("site", size=2, confidence=CONFIDENCE)
    found = selector.fit(table_of(effects, n_rows, rng), "y").selection_.completed()
    rows = build_cohorts(table_of(effects, TRUE_ROWS, rng), "y", groups="site")
    cohort, one = rng.integers(found.score.shape)
    told = information_of(rows, above_chance=True).of_subsets(cohort, found.subsets[[one]], None)
    return bool(found.low[cohort, one] <= told[0] <= found.high[cohort, one])


@pytest.mark.parametrize("n_rows", [100, 400])
def test_intervals_hold_what_further_rows_tell(n_rows):
    held = sum(holds(n_rows, seed) for seed in range(TRIALS))
    assert held >= binom.ppf(CHANCE, TRIALS, CONFIDENCE), held
