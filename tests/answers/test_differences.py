from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from misfeat import SubgroupSelector
from misfeat.answers.comparison import RECORDED, ExplainedShare, difference_of, explained_share
from misfeat.datasets import make_cohorts
from misfeat.information.mutual_info import SampledShare


def told(share, n_rows=500.0, spread=0.2, chance=0.0, freedom=2.0):
    sampled = SampledShare(share, n_rows, spread, chance, freedom)
    return ExplainedShare(share, sampled, float(np.sqrt(spread / n_rows + chance)), RECORDED)


def test_the_error_of_a_difference_is_normal_and_bounds_agree_with_p_values():
    found = difference_of(told(0.02), told(0.08))
    deviation = np.sqrt(2 * 0.2 / 500)
    assert found.deviation == pytest.approx(deviation)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(0.06 / deviation), rel=1e-4)
    for second in np.linspace(0.02, 0.12, 30):
        found = difference_of(told(0.02, chance=1e-5), told(second, chance=1e-5))
        clear = found.interval(0.9, among=7).low > 0
        assert clear == (found.p_value * 7 < 0.1)


def test_the_tails_of_chance_are_as_heavy_as_those_of_a_chi_square():
    n_rows, rng = 300, np.random.default_rng(0)
    chance = 1 / (2 * n_rows**2)
    drawn = (rng.chisquare(1, (2, 10_000)) - 1) / (2 * n_rows)
    pairs = [
        difference_of(told(a, n_rows, 0.0, chance, 1.0), told(b, n_rows, 0.0, chance, 1.0))
        for a, b in drawn.T
    ]
    for level in (0.1, 0.01):
        assert np.mean([one.p_value <= level for one in pairs]) <= 1.4 * level


def test_a_difference_is_no_surer_than_its_runs_and_shares_stay_within_bounds():
    small, large = told(0.0, 50.0, 0.0), told(0.1, 5000.0, 0.3)
    assert difference_of(small, large).deviation >= np.sqrt(0.3 * 0.95 / 50)
    assert difference_of(told(0.0, spread=0.0), told(0.0, spread=0.0)).p_value == 1.0
    for share in (0.0, 0.01, 0.99, 1.0):
        value, low, high = told(share, 20.0).interval(0.9)
        assert 0 <= low <= value <= high <= 1


@pytest.fixture(scope="module")
def gappy():
    data = make_cohorts(3, 400, 5, hide=0.3, random_state=0)
    return SubgroupSelector(data.groups, size=2).fit(data.columns, data.target).selection_


def test_what_was_not_recorded_is_as_sure_as_its_interval_is_wide(gappy):
    cohort, feature = (int(one[0]) for one in np.nonzero(gappy.missing))
    subgroup, name = gappy.cohorts.names[cohort], gappy.feature_names[feature]
    found = explained_share(gappy, subgroup, [name])
    assert (found.source, found.sampled) == ("predicted", None)
    scores, whole = gappy.completed(1), gappy.set_scores.measure.whole[cohort]
    assert found.share == pytest.approx(scores.score[cohort, feature] / whole)
    reach = max(
        scores.high[cohort, feature] - scores.score[cohort, feature],
        scores.score[cohort, feature] - scores.low[cohort, feature],
    )
    assert found.interval(0.9).high == pytest.approx(min(found.share + reach / whole, 1.0))


def test_scores_of_sums_of_products_are_adjusted_for_chance():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    table = {"a": a, "b": b, "y": a + rng.normal(size=200)}
    found = SubgroupSelector(size=1, measure="r2").fit(table, "y").selection_
    share = explained_share(found, "all rows", ["a"])
    plain = np.corrcoef(a, table["y"])[0, 1] ** 2
    assert share.share == pytest.approx(1 - (1 - plain) * 199 / 198)
    assert share.source == RECORDED


def test_deviations_of_r2_are_those_of_tables_drawn_anew():
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        a = rng.normal(size=150)
        table = {"a": a, "y": 0.5 * a + rng.normal(size=150)}
        run = SubgroupSelector(size=1, measure="r2", estimate="above_chance").fit(table, "y")
        found.append(explained_share(run.selection_, "all rows", ["a"]))
    said = np.sqrt(np.mean([one.deviation**2 for one in found]))
    assert 0.8 < said / np.std([one.share for one in found]) < 1.25
