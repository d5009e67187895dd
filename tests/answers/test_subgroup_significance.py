import numpy as np
import pandas as pd
import polars as pl
import pytest

from misfeat import Coding, MisfeatError, SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.datasets import load_heart, make_cohorts
from misfeat.exceptions import MisfeatWarning
from tests.reading.holders import HOLDERS, as_rows


def table(n_rows=300, seed=0, effect=1.0):
    """Two sites; a tells in the first one, b copies nothing, c has one value, d is at one site."""
    rng = np.random.default_rng(seed)
    n = 2 * n_rows
    site = np.repeat(["x", "y"], n_rows)
    a, b = rng.integers(0, 3, n), rng.integers(0, 4, n)
    odds = np.where(site == "x", effect * (a - 1), 0.0)
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    d = pd.array(np.where(site == "x", b % 2, -1), dtype="Int64")
    d[site == "y"] = pd.NA
    return pd.DataFrame({"a": a, "b": b, "d": d, "site": site, "y": y})


@pytest.fixture(scope="module")
def fitted():
    return SubgroupSelector("site", size=2, k=3, random_state=0).fit(table(), "y")


def test_what_tells_is_told_from_chance(fitted):
    found = fitted.significance().set_index("subgroup")
    assert found.loc["site=x", "p_value"] == pytest.approx(0.001)
    assert found.loc["site=x", "features"] == ("a",)
    assert found["more_than_chance"].tolist() == [True, False]
    assert found.loc["site=y", "p_value"] > 0.05
    assert found["sets"].tolist() == [6, 3]
    assert found.loc["site=y", "permutations"] < 999 == found.loc["site=x", "permutations"]
    assert (found["adjusted"] >= found["p_value"]).all()


def test_sets_have_p_values_once_it_was_asked():
    selector = SubgroupSelector("site", size=2, random_state=0).fit(table(), "y")
    assert selector.top_k()["p_value"].isna().all()
    assert best_sets(selector.selection_)[0].p_value is None
    selector.significance(permutations=199)
    best = selector.top_k(subgroup="site=x")
    assert best["p_value"].notna().all()
    assert best["p_value"].min() == pytest.approx(1 / 200)
    other = selector.scores(subgroup="site=y")
    predicted = other["source"] == "predicted"
    assert predicted.any()
    assert other["p_value"].isna().tolist() == predicted.tolist()
    assert selector.top_k(size=3)["p_value"].isna().all()  # larger sets were not searched


def test_what_a_stratum_tells_does_not_count(rng):
    season = rng.integers(0, 4, 800)
    y = (rng.random(800) < 0.2 + 0.2 * season).astype(int)
    a = (season + (rng.random(800) < 0.2)) % 4  # tells about y through the season alone
    data = pd.DataFrame({"a": a, "season": season, "y": y})
    selector = SubgroupSelector(size=1, random_state=0).fit(data, "y")
    assert selector.significance()["more_than_chance"].all()
    within = selector.significance(within="season")
    assert not within["more_than_chance"].any()


def test_only_sets_with_features_to_include_are_searched():
    selector = SubgroupSelector("site", size=2, include=["b"], random_state=0).fit(table(), "y")
    found = selector.significance()
    assert found["sets"].tolist() == [3, 2]
    assert all("b" in features for features in found["features"])


def test_a_target_of_one_class_cannot_be_tested():
    data = table()
    data.loc[data["site"] == "y", "y"] = 1
    with pytest.warns(MisfeatWarning, match="single value"):
        selector = SubgroupSelector("site", size=2, random_state=0).fit(data, "y")
    found = selector.significance().set_index("subgroup")
    assert np.isnan(found.loc["site=y", "p_value"])
    assert not found.loc["site=y", "more_than_chance"]
    sentence = selector.answer("site=y").sentence
    assert sentence == "site=y: y has a single value."


def test_correlations_are_tested_by_permuted_rows():
    data = load_heart()
    selector = SubgroupSelector("site", size=2, measure="r2", random_state=0)
    found = selector.fit(data.columns, "num").significance(permutations=199).set_index("subgroup")
    assert found.loc["site=cleveland", "p_value"] == pytest.approx(1 / 200)
    with pytest.raises(MisfeatError, match="within"):
        selector.significance(within="age")
    with pytest.raises(MisfeatError, match="at most 999 are possible"):
        selector.significance(permutations=1000)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [40, 1500])  # all orders, or shifts of one
def test_correlations_with_heavy_tails_are_seldom_called_more_than_chance(n_rows):
    found = []
    for seed in range(60):
        columns = np.random.default_rng(seed).lognormal(0.0, 2.0, (4, n_rows))
        selector = SubgroupSelector(size=2, measure="r2", random_state=seed)
        selector.fit(dict(zip("abcy", columns, strict=True)), "y")
        found.append(selector.significance(permutations=99)["p_value"][0])
    assert (np.array(found) <= 0.1).sum() <= 13  # of which chance has 6, and more in one of 300
    assert (np.array(found) <= 0.5).sum() >= 20


@pytest.mark.slow
def test_correlations_have_one_p_value_whatever_holds_the_rows(tmp_path):
    rng = np.random.default_rng(1)
    rows = pl.DataFrame(
        {
            "a": rng.normal(size=90),
            "b": np.where(rng.random(90) < 0.3, np.nan, rng.poisson(2.0, 90)),
            "often": rng.integers(1, 4, 90),
            "site": rng.choice(["p", "q"], 90),
        }
    ).with_columns(y=pl.col("a") * 0.3 + rng.lognormal(size=90))
    repeated = rows[rng.permutation(np.repeat(np.arange(90), rows["often"]))].drop("often")

    def p_values(table, **weights):
        selector = SubgroupSelector("site", size=2, measure="r2", **weights)
        selector.fit(table, "y", sample_weight="often" if weights else None)
        selector.save(tmp_path / "run")
        loaded = SubgroupSelector.load(tmp_path / "run")
        assert as_rows(loaded.significance()) == as_rows(selector.significance())
        return [row["p_value"] for row in as_rows(selector.significance())]

    expected = p_values(repeated)
    for holder in ("pandas", "duckdb", "arrays"):
        assert p_values(HOLDERS[holder](repeated)) == expected
        assert p_values(HOLDERS[holder](rows), weights="frequency") == expected


def test_correlations_of_rows_that_are_too_many_are_drawn(monkeypatch, rng):
    columns = dict(zip("ab", rng.normal(size=(2, 300)), strict=True))
    columns["y"] = columns["a"] * 0.1 + rng.normal(size=300)
    found = []
    for most in (2**23, 100):
        monkeypatch.setattr("misfeat.cohorts.product_sums.MOST_NUMBERS", most)
        selector = SubgroupSelector(size=1, measure="r2").fit(columns, "y")
        found.append(selector.significance(permutations=999)["p_value"][0])
    assert found[0] == pytest.approx(found[1], abs=0.1)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"permutations": 0}, "permutations"),
        ({"permutations": 10**9}, "at most"),
        ({"level": 1.5}, "between 0 and 1"),
        ({"within": "nothing"}, "nothing"),
        ({"size": 9}, "larger than the number of features"),
    ],
)
def test_what_cannot_be_asked_is_said(fitted, asked, words):
    with pytest.raises(MisfeatError, match=words):
        fitted.significance(**asked)


def test_gaps_here_and_there_are_dealt_with():
    data = make_cohorts(2, 150, 4, random_state=0)
    columns = {name: np.asarray(values, dtype=object) for name, values in data.columns.items()}
    columns[next(iter(columns))][::7] = None
    coding = Coding(sporadic="available")
    selector = SubgroupSelector(data.groups, size=2, coding=coding, random_state=0)
    found = selector.fit(columns, data.target).significance(permutations=39)
    assert found["p_value"].between(1 / 40, 1).all()
