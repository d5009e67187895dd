import numpy as np
import pandas as pd
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.datasets import make_cohorts
from tests.information.generated import plug_in


def sites(n_rows=600, seed=0):
    """Site c never recorded a and b, which explain the target only together, nor weak and noise."""
    rng = np.random.default_rng(seed)
    a, b, weak, noise, x, z = rng.integers(0, 2, (6, 3 * n_rows))
    target = np.where(rng.random(3 * n_rows) < 0.85, a ^ b, weak)
    table = pd.DataFrame({"a": a, "b": b, "weak": weak, "noise": noise}, dtype=float)
    table[2 * n_rows :] = np.nan
    return table.assign(x=x, z=z, site=np.repeat(["a", "b", "c"], n_rows), target=target)


@pytest.fixture(scope="module")
def fitted():
    return SubgroupSelector("site", size=3).fit(sites(), "target")


def test_features_that_explain_only_together_are_one_step(fitted):
    plan = fitted.plan()
    first = plan.iloc[0]
    assert (first["subgroup"], set(first["features"])) == ("site=c", {"a", "b"})
    assert first["worth"]
    assert first["probability"] > 0.8
    assert first["cost"] == 2
    assert {"a", "b"} <= set(first["best_set"])
    alone = fitted.worth_collecting().set_index("feature")["gain"]
    assert alone[["a", "b"]].max() < first["gain"] / 4


def test_gains_and_costs_add_up_and_steps_that_are_not_worth_it_come_last(fitted):
    plan = fitted.plan()
    assert plan["step"].tolist() == list(range(1, len(plan) + 1))
    np.testing.assert_allclose(plan["total_gain"], plan["gain"].cumsum())
    np.testing.assert_allclose(plan["total_cost"], plan["cost"].cumsum())
    assert ((plan["low"] <= plan["gain"]) & (plan["gain"] <= plan["high"])).all()
    assert plan["worth"].is_monotonic_decreasing
    recorded = [feature for step in plan["features"] for feature in step]
    assert len(recorded) == len(set(recorded))


def test_a_budget_leaves_out_what_it_does_not_cover(fitted):
    assert fitted.plan(budget=1, costs={"a": 5}).explode("features")["features"].tolist() != ["a"]
    for budget in (1, 2, 3):
        assert fitted.plan(budget=budget)["cost"].sum() <= budget


def test_costs_may_differ_by_subgroup():
    data = make_cohorts(4, 800, 6, hide=0.4, random_state=1)
    selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    plan = selector.plan()
    first = plan.iloc[0]
    dear = {feature: {first["subgroup"]: 1000.0, "*": 1.0} for feature in first["features"]}
    other = selector.plan(costs=dear)
    costs = other.loc[other["subgroup"] != first["subgroup"], "cost"]
    assert (costs <= 3).all()
    same = [
        f == first["features"] and s == first["subgroup"]
        for s, f in zip(other["subgroup"], other["features"], strict=True)
    ]
    assert not any(np.array(same) & other["worth"].to_numpy())


def test_a_pilot_of_more_rows_knows_the_gain_better(fitted):
    by_rows = [fitted.plan(rows=rows).iloc[0] for rows in (50, 200, 800)]
    assert [step["rows"] for step in by_rows] == [50, 200, 800]
    precision = [step["precision"] for step in by_rows]
    assert precision[0] > precision[1] > precision[2]
    usual = fitted.plan().iloc[0]
    assert usual["precision"] <= usual["gain"] / 2 * 1.001


def test_pilots_show_the_gain_about_as_precisely_as_said(rng):
    """Gains counted in pilots of so many rows lie as near to the true one as the plan says."""
    table = sites(4000, seed=1)
    step = SubgroupSelector("site", size=3).fit(table, "target").plan(rows=400).iloc[0]
    whole = sites(4000, seed=1)
    truth = information(whole, ["a", "b"])
    counted = [information(whole.iloc[rng.integers(0, 8000, 400)], ["a", "b"]) for _ in range(200)]
    deviation = np.sqrt(np.mean((np.array(counted) - truth) ** 2))
    assert step["precision"] == pytest.approx(1.645 * deviation, rel=0.4)


def information(table, features):
    """Mutual information in nats, less what chance alone would give."""
    recorded = table.dropna()
    counts = recorded.groupby([*features, "target"]).size().unstack(fill_value=0).to_numpy()
    return plug_in(counts) - (counts.shape[0] - 1) * (counts.shape[1] - 1) / (2 * counts.sum())


def test_nothing_to_record_is_an_empty_plan():
    table = sites().drop(columns=["a", "b", "weak", "noise"])
    plan = SubgroupSelector("site", size=2).fit(table, "target").plan()
    assert len(plan) == 0
    assert "total_gain" in plan.columns


@pytest.mark.parametrize("estimate", ["sample", "above_chance"])
def test_other_estimates_have_plans_too(estimate):
    data = make_cohorts(4, 500, 6, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=2, estimate=estimate, random_state=0)
    plan = selector.fit(data.columns, data.target).plan()
    assert (plan["gain"] >= 0).all()


def test_sets_that_were_searched_for_have_a_plan(rng):
    table = pd.DataFrame(rng.integers(0, 2, (900, 30)), columns=[f"x{i:02}" for i in range(30)])
    table["site"] = np.repeat(["a", "b", "c"], 300)
    table["target"] = np.where(rng.random(900) < 0.9, table.x00 ^ table.x01, table.x02)
    table = table.astype({f"x{i:02}": float for i in range(30)})
    table.loc[table.site == "c", ["x00", "x01", "x05"]] = np.nan
    selector = SubgroupSelector("site", size=5).fit(table, "target")
    assert selector.selection_.set_scores.is_searched(5)
    assert set(selector.plan().iloc[0]["features"]) == {"x00", "x01"}


def test_bad_requests_name_what_is_wrong(fitted):
    with pytest.raises(MisfeatError, match="no column 'q'"):
        fitted.plan(costs={"q": 1})
    for cost in (0, -1, np.inf, "dear", True):
        with pytest.raises(MisfeatError, match="must be above 0, and finite"):
            fitted.plan(costs={"a": cost})
    with pytest.raises(MisfeatError, match="There is no subgroup 'nowhere'"):
        fitted.plan(costs={"a": {"nowhere": 1}})
    with pytest.raises(MisfeatError, match="must map features"):
        fitted.plan(costs=["a"])
    for budget in (0, -1, "all", True):
        with pytest.raises(MisfeatError, match="budget"):
            fitted.plan(budget=budget)
    with pytest.raises(MisfeatError, match="rows=0"):
        fitted.plan(rows=0)


def test_a_subgroup_that_recorded_less_than_a_set_holds_gains_on_top_of_that():
    rng = np.random.default_rng(5)
    a, b, noise = rng.integers(0, 2, (3, 1200))
    y = (a + b + (rng.random(1200) < 0.2) * noise >= 1.5).astype(int)
    site = np.where(np.arange(1200) < 900, "full", "less")
    table = {"a": a, "b": [None if s == "less" else v for s, v in zip(site, b, strict=True)]}
    selector = SubgroupSelector("site", size=2).fit({**table, "site": site, "y": y}, "y")
    step = selector.plan("less").iloc[0]
    alone, both = (selector.score_of("less", names) for names in (["a"], ["a", "b"]))
    assert step["before"] == pytest.approx(alone)
    assert step["gain"] == pytest.approx(both - alone, rel=0.1)
