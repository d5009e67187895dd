"""Linear scores of sets beside those of cells, when the target is permuted."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat import SubgroupSelector
from misfeat.cohorts import build_cohorts
from misfeat.information.kernels.permuted_scores import shuffled
from misfeat.information.linear_scores import Orders, orders_of
from misfeat.information.permuted_scores import permutations_of
from misfeat.runtime.threads import Work
from tests.information.test_permuted_scores import SEED, questions


@settings(max_examples=40, deadline=None)
@given(questions(), st.integers(1, 3))
def test_linear_scores_are_half_of_r2_within_strata(question, n_columns):
    cohort, held, strata = question
    rng = np.random.default_rng(len(cohort.target))
    n_features, n_rows = cohort.codes.shape
    features = rng.integers(0, 3, (n_features, n_rows)).astype(float)
    features[-1, rng.random(n_rows) < 0.2] = np.nan
    features[list(held)] = np.nan  # they do not vary in a cell of theirs
    scores, lines = rng.normal(size=(9, n_columns)), np.arange(n_features)[:, None]
    orders = Orders(features, cohort.target.astype(np.int64), scores, lines)
    cohort = replace(cohort, masses=None, heaviest=None, effective=None)
    found = permutations_of(cohort, 2, held=held, strata=strata, seed=SEED, orders=orders)
    sets = found._sets
    linear = found.scores(0, 3, Work(1))[:, sum(map(len, found.subsets)) :]
    order, times, starts = sets.by_stratum
    units = np.repeat(order, times)

    def centred(values):
        by = pd.Series(values).groupby(sets.strata[units])
        return (values - by.transform("mean")).fillna(0.0).to_numpy()

    lines = np.array([centred(line[units]) for line in features])
    for number in range(3):
        values = orders.values[units].astype(np.uint16)
        if number:
            values = shuffled(values, starts, sets.seeds[number])
        targets = np.array([centred(column) for column in orders.scores[values].T])
        whole = (targets**2).sum() / n_columns
        expected = []
        for members in (m for subsets in found.subsets for m in subsets.tolist()):
            free = lines[[f for f in members if f not in held]]
            fitted = free.T @ np.linalg.lstsq(free.T, targets.T, rcond=1e-9)[0]
            varies = (free**2).sum(axis=1).min() > 1e-9
            expected.append(varies * (fitted**2).sum() / 2 / whole if whole > 1e-12 else 0.0)
        np.testing.assert_allclose(linear[number], expected, atol=1e-7)


def test_the_linear_score_of_a_time_is_that_of_the_log_rank_test():
    rng = np.random.default_rng(3)
    x, time = rng.integers(0, 2, 200), rng.integers(1, 40, 200)
    table = {"x": x, "time": time, "event": rng.integers(0, 2, 200)}
    cohorts = SubgroupSelector(size=1).fit(pd.DataFrame(table), ("time", "event")).cohorts_
    orders, rows = orders_of(cohorts, 0), cohorts.at(0)
    last = float(cohorts.horizons[-1])
    happened = (table["event"] == 1) & (time <= last)
    at_risk = np.array([(time >= t).sum() for t in time[happened]])
    hazard = np.array([(1 / at_risk)[time[happened] <= t].sum() for t in time])
    of_table = happened - hazard
    excess = [rows.counts @ (rows.codes[0] * orders.scores[orders.values, 0]), x @ of_table]
    assert excess[0] == pytest.approx(excess[1])


def test_a_trend_is_found_that_cells_do_not_show():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        table = {f"x{i}": rng.integers(0, 5, 150) for i in range(6)}
        table["text"] = rng.choice(list("abcd"), 150)
        table["y"] = rng.random(150) < 1 / (1 + np.exp(0.9 - 0.45 * table["x3"]))
        test = SubgroupSelector(size=2, random_state=0).fit(pd.DataFrame(table), "y")
        found.append(float(test.significance(permutations=199)["p_value"].iloc[0]))
    assert np.mean(np.array(found) <= 0.05) >= 0.5


def test_what_a_feature_without_order_adds_to_others_is_found_in_few_rows():
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        table = {name: rng.normal(size=750) for name in ("heat", "speed", "width")}
        table |= {
            "kind": rng.choice(["alu", "brass", "steel"], 750),
            "shift": rng.choice([*"abc"], 750),
        }
        pull = np.c_[np.zeros(750), table["heat"], 1.2 * (table["kind"] == "brass"), table["speed"]]
        table["y"] = np.array(["none", "dent", "crack", "scratch"])[
            (pull + rng.gumbel(size=pull.shape)).argmax(axis=1)
        ]
        answer = SubgroupSelector(size=3, random_state=0).fit(table, "y").answer("all rows")
        found.append(answer.features)
    assert found.count(("heat", "speed", "kind")) >= 3


def test_few_values_without_order_count_by_indicators_and_many_have_no_linear_score():
    table = {"text": list("abcd") * 20, "flag": list("xy") * 40, "gap": [1, 2, 3, None] * 20}
    table["many"] = list("abcdefgh") * 10
    table["y"] = list("pqr") * 26 + ["p", "q"]
    orders = orders_of(build_cohorts(table, "y"), 0)
    lines = [[0, 1, 2], [3, -1, -1], [4, -1, -1], [-1, -1, -1]]  # text, flag, gap, many
    assert orders.lines.tolist() == lines
    assert np.isnan(orders.features[4]).any()
    others = 80 / 27 * np.eye(2) + 80 / 26
    np.testing.assert_allclose(orders.scores[:2] @ orders.scores[:2].T, others)
