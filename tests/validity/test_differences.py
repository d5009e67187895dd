"""Do 90 % intervals of differences of scores hold the true difference 90 % of the time?

Every trial draws a population of its own, a table from it, and looks at one subgroup at random: the
trials of a kind of difference are independent, so that how many intervals hold is binomial.
"""

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.population.differences import TABLES, WHAT, trial
from misfeat.cohorts import build_cohorts
from misfeat.datasets import make_cohorts
from misfeat.information.mutual_info import influence, joint_mutual_info

pytestmark = pytest.mark.validity

TRIALS = 60
"""Of every kind of table."""
LEAST, MOST, CHANCE = 0.85, 0.998, 0.00135
"""The share that is to hold at least and at most, and how rarely a fair trial fails."""


@pytest.fixture(scope="module")
def trials() -> list[dict[str, bool]]:
    return [
        trial(*table, seed=20_000 + 1000 * number + i)
        for number, table in enumerate(TABLES)
        for i in range(TRIALS)
    ]


@pytest.mark.parametrize("what", WHAT)
def test_intervals_of_differences_hold_the_truth(trials, what):
    held = sum(one[what] for one in trials)
    assert held >= binom.ppf(CHANCE, len(trials), LEAST), (held, len(trials))
    assert held < len(trials) * MOST, (held, len(trials))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_errors_vary_together_as_a_single_draw_says(seed):
    data = make_cohorts(1, 1, 4, strength=0.6, hide=0.0, random_state=seed)
    (population,) = data.populations.values()
    rng = np.random.default_rng(seed)
    sets = ([0, 1], [1, 2])
    scores, said = [], []
    for _ in range(200):
        codes, target = population.sample(2000, rng)
        table = {f"f{i}": line for i, line in enumerate(codes)} | {"y": target}
        rows = build_cohorts(table, "y")["all rows"]
        scores.append([joint_mutual_info(rows, np.array([one]))[0] for one in sets])
        said.append(influence(rows, sets[0]) @ influence(rows, sets[1]))
    correlation = np.corrcoef(np.array(scores).T)[0, 1]
    # Fisher's transform of a correlation of 200 pairs deviates by 1 / sqrt(197).
    assert abs(np.arctanh(correlation) - np.arctanh(np.mean(said))) < 3.5 / np.sqrt(197)
