"""Sets of many features are searched for, and every answer takes them."""

import numpy as np
import pandas as pd
import pytest

from misfeat import Coding, Selection, SubgroupSelector
from misfeat.answers.stability import stability_of
from misfeat.answers.subgroup_significance import significance_tests
from misfeat.answers.top_sets import best_sets, features_for_all

N_FEATURES = 12


def table(n_rows=1500, seed=0):
    """Twelve features, half of which explain something, two of these only together."""
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 2, (N_FEATURES, n_rows))
    features[1] = np.where(rng.random(n_rows) < 0.7, features[0], features[1])
    odds = 0.9 * (features[[0, 2, 4, 6]] - 0.5).sum(axis=0) + 1.4 * (features[8] ^ features[10])
    site = rng.choice(["a", "b", "c"], n_rows)
    columns = {f"f{i:02d}": values.astype(float) for i, values in enumerate(features)}
    columns["f04"][site == "c"] = np.nan
    columns["site"] = site
    columns["y"] = (rng.random(n_rows) < 1 / (1 + np.exp(0.7 - odds))).astype(int)
    return pd.DataFrame(columns)


def fitted(max_sets, size=6, **how):
    return SubgroupSelector("site", size=size, k=3, coding=Coding(max_sets=max_sets), **how).fit(
        table(), "y"
    )


@pytest.fixture(scope="module")
def searched():
    """Pairs are the largest sets of which all are scored."""
    return fitted(300)


@pytest.fixture(scope="module")
def every():
    return fitted(None)


def test_answers_are_those_of_all_sets_but_for_a_hair(searched, every):
    sets = best_sets(searched.selection_), best_sets(every.selection_)
    assert {"f08", "f10"} <= set(sets[0][0].features)
    for found, expected in zip(*sets, strict=True):
        assert found.features == expected.features
        assert found.score == pytest.approx(expected.score, abs=0.002)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.005)
        assert found.source == expected.source
        assert found.missing == expected.missing
    names = ["f00", "f03", "f05", "f07", "f09", "f11"]
    score = searched.score_of("a", names)
    assert score == pytest.approx(every.score_of("a", names), abs=0.01)
    assert searched.difference("a", names, ["f00", "f03"]).value == pytest.approx(
        score - searched.score_of("a", ["f00", "f03"])
    )
    found, expected = (one.worth_collecting() for one in (searched, every))
    assert list(found["feature"]) == list(expected["feature"]) == ["f04"]
    assert found["gain"].to_numpy() == pytest.approx(expected["gain"].to_numpy(), abs=0.004)


def test_other_answers_take_the_sets_that_were_found(searched):
    assert searched.transform(table()).shape[1] == 6
    assert len(features_for_all(searched.selection_)) == 6
    assert searched.selection_.set_scores.largest_level == 2
    assert set(significance_tests(searched.selection_, permutations=19).p_values) == {1, 2}
    assert len(searched.features()) == 3 * N_FEATURES
    assert len(searched.validate()) > 0
    assert searched.enough()["size"].max() == 6
    found = stability_of(searched.selection_, resamples=5)
    assert [one.features for one in found.sets] == [
        one.features for one in best_sets(searched.selection_)
    ]


def test_a_saved_selection_answers_as_the_fitted_one(searched, tmp_path):
    searched.save(tmp_path / "run")
    again = Selection.load(tmp_path / "run")
    assert best_sets(again) == best_sets(searched.selection_)
    assert best_sets(again, size=7) == best_sets(searched.selection_, size=7)


def test_the_terminal_shows_searched_sets(searched, capsys):
    searched.show()
    assert "f08" in capsys.readouterr().out


def test_a_number_to_predict_is_searched_for_as_well():
    data = table()
    data["y"] = data["y"] + np.random.default_rng(1).normal(0, 0.3, len(data))
    selector = SubgroupSelector("site", size=6, k=1, coding=Coding(max_sets=300)).fit(data, "y")
    best = best_sets(selector.selection_, subgroup="a")[0]
    assert {"f08", "f10"} <= set(best.features)
    assert {"f00", "f01"} & set(best.features)  # nearly the same
    assert best.spread is not None


def test_correlations_are_searched_for_as_well():
    selector = fitted(300, measure="r2")
    assert {"f00", "f02", "f06"} <= set(best_sets(selector.selection_, k=1)[0].features)


@pytest.mark.parametrize("seed", range(3))
def test_no_searched_set_is_below_a_feature_of_it(seed):
    rng = np.random.default_rng(seed)
    columns = {"town": np.repeat(["p", "q"], [10, 7]), "y": rng.integers(0, 3, 17)}
    columns |= {f"f{i}": rng.integers(0, 4, 17) for i in range(5)}
    selector = SubgroupSelector("town", size=2, coding=Coding(max_sets=4)).fit(columns, "y")
    for one in selector.top_k(k=10**30).itertuples():
        assert one.score >= max(selector.score_of(one.subgroup, [f]) for f in one.features)
