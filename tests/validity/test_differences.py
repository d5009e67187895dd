"""Do 90 % intervals of differences of scores hold the true difference 90 % of the time?

Every trial draws a population of its own, a table from it, and looks at one subgroup at random: the
trials of a kind of difference are independent, so that how many intervals hold is binomial.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from misfeat import SubgroupSelector
from misfeat.cohorts import build_cohorts
from misfeat.datasets import make_cohorts
from misfeat.information.influence import influence
from misfeat.information.mutual_info import joint_mutual_info

pytestmark = pytest.mark.validity

TABLES = [(similarity, rows) for similarity in (20, 100, 1000) for rows in (200, 600, 2000)]
TRIALS = 60
"""Of every kind of table."""
LEAST, MOST, CHANCE = 0.85, 0.99, 0.00135
"""The share that is to hold at least and at most, and how rarely a fair trial fails."""
WHAT = ("adds", "interaction", "mean share", "share of best", "swap")


def trial(similarity: float, rows: int, seed: int) -> dict[str, bool]:
    """Whether the intervals of some differences hold the truth."""
    data = make_cohorts(4, rows, 6, similarity=similarity, hide=0.25, random_state=seed)
    selector = SubgroupSelector(data.groups, size=3).fit(data.columns, data.target)
    rng = np.random.default_rng(seed)
    subgroup = str(rng.choice(selector.cohorts_.names))

    def truth(*features: str) -> float:
        return data.true_score(subgroup, features) if features else 0.0

    held = {}
    values = selector.feature_values(subgroup)
    one = values[rng.integers(len(values))]
    added = truth(one.feature, *one.adds_to) - truth(*one.adds_to)
    held["adds"] = one.adds_low <= added <= one.adds_high
    best = selector.best_sets(subgroup=subgroup, k=1)[0].features
    held["share of best"] = shapley_held(selector, subgroup, best, truth, rng)
    true_mean = mean_share(one.feature, selector.selection_.feature_names, truth)
    held["mean share"] = one.mean_share_low <= true_mean <= one.mean_share_high
    pairs = selector.pair_interactions(subgroup)
    pair = pairs[rng.integers(len(pairs))]
    joint = truth(pair.feature, pair.other) - truth(pair.feature) - truth(pair.other)
    held["interaction"] = pair.low <= joint <= pair.high
    held["swap"] = swap_held(selector.selection_, subgroup, truth, rng)
    return held


def shapley_held(selector, subgroup, features, truth, rng) -> bool:
    shares = selector.shapley(subgroup, features)
    name = features[rng.integers(len(features))]
    rest = [feature for feature in features if feature != name]
    parts = [[], [rest[0]], [rest[1]], rest]
    added = [truth(name, *part) - truth(*part) for part in parts]
    true_share = float(np.dot(added, [1 / 3, 1 / 6, 1 / 6, 1 / 3]))
    return shares[name].low - 1e-12 <= true_share <= shares[name].high + 1e-12


def mean_share(name, features, truth) -> float:
    from itertools import combinations

    rest = [feature for feature in features if feature != name]
    by_size = [
        np.mean([truth(name, *part) - truth(*part) for part in combinations(rest, size)])
        for size in range(3)
    ]
    return float(np.mean(by_size))


def swap_held(selection, subgroup, truth, rng) -> bool:
    order = rng.permutation(6)
    one, other = sorted(order[:3].tolist()), sorted(order[1:4].tolist())
    cohort, names = selection.cohorts.position(subgroup), selection.feature_names
    found = selection._contrasts().difference(cohort, one, other)
    true_difference = truth(*(names[f] for f in one)) - truth(*(names[f] for f in other))
    return found.low <= true_difference <= found.high


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
