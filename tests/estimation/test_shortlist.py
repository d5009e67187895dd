"""A wide table is cut down to the features that explain something."""

from dataclasses import replace

import numpy as np
import pytest

from misfeat import Coding, MisfeatError, SubgroupSelector, fit_steps
from misfeat.answers.top_sets import best_sets
from misfeat.cohorts import build_cohorts
from misfeat.estimation import shortlist as shortlists
from misfeat.estimation.shortlist import features_that_fit, sets_in_all, shortlist
from tests.estimation.generated import wide_columns


@pytest.fixture(scope="module")
def columns():
    return wide_columns()


@pytest.fixture(scope="module")
def wide(columns):
    return build_cohorts(columns, "y", groups="site")


@pytest.fixture
def few_features(monkeypatch):
    """Tables of more than ten features are wide."""
    monkeypatch.setattr(fit_steps, "MOST_FEATURES", 10)


def test_as_many_features_are_kept_as_fit():
    for size in (1, 2, 3):
        kept = features_that_fit(50, size, 3, 3000)
        assert sets_in_all(kept, size, 3) <= 3000 < sets_in_all(kept + 1, size, 3) or kept == 50
    assert features_that_fit(50, 3, 3, 1) == 3


def test_what_explains_only_together_is_kept_and_rows_held_back_have_no_say(wide):
    kept, found = shortlist(wide, 8)
    assert {"f03", "f05", "f09"} <= set(kept.features)
    assert len(kept.features) == 8
    assert set(kept.features) | set(found.left_out) == set(wide.features)
    assert (found.pairs, found.outstanding) == (276, 0)
    assert found.rows + found.held_back.sum() == wide.weights.sum()
    assert ((found.held_back >= 0) & (found.held_back <= wide.weights)).all()
    # Another target in rows that are held back leaves the choice as it is.
    back = (found.held_back == wide.weights) & (wide.weights == 1)
    others = replace(wide, target_codes=np.where(back, 1 - wide.target_codes, wide.target_codes))
    assert shortlist(others, 8)[0].features == kept.features


def test_where_pairs_or_rows_are_too_many_some_are_looked_at(wide, monkeypatch):
    assert shortlist(wide, 1)[1].outstanding >= 2  # without room, what stands out is counted
    with monkeypatch.context() as few:
        few.setattr(shortlists, "MOST_PAIRS", 45)
        kept, found = shortlist(wide, 8)
    assert found.pairs == 45
    assert "f05" in kept.features
    monkeypatch.setattr(shortlists, "MOST_COUNTED", 1.0)
    monkeypatch.setattr(shortlists, "FEWEST_ROWS", 100)
    assert 80 <= shortlist(wide, 8)[1].rows <= 120


def test_every_answer_comes_from_the_kept_features(columns, few_features):
    selector = SubgroupSelector("site", size=2, k=3).fit(columns, "y")
    assert len(selector.selection_.feature_names) == 10
    assert [one.features for one in best_sets(selector.selection_, k=1)] == [("f03", "f09")] * 3
    assert len(selector.enough()) == 3 * 2


def test_another_scale_keeps_what_can_be_enumerated(columns):
    limit = sets_in_all(24, 2, 3)
    for max_sets, is_short in ((limit, False), (limit - 1, True)):
        selector = SubgroupSelector(
            "site", size=2, estimate="above_chance", coding=Coding(max_sets=max_sets)
        )
        assert (selector.fit(columns, "y").selection_.shortlist is not None) is is_short


def test_a_feature_that_was_left_out_is_told_with_what_to_do(columns, few_features):
    selector = SubgroupSelector("site", size=2).fit(columns, "y")
    name = selector.selection_.shortlist.left_out[0]
    with pytest.raises(MisfeatError, match=rf"left out.*include=\['{name}'\]"):
        selector.why("a", [name])
    again = SubgroupSelector("site", size=2, include=[name]).fit(columns, "y")
    assert all(name in one.features for one in best_sets(again.selection_))


def test_wrong_features_to_include_and_too_many_features_are_refused(
    columns, wide, few_features, monkeypatch
):
    with pytest.raises(MisfeatError, match=r"'f99'.*a feature to include"):
        SubgroupSelector("site", size=2, include=["f99"]).fit(columns, "y")
    monkeypatch.setattr(shortlists, "MOST_FEATURES", 20)
    with pytest.raises(MisfeatError, match="24 features, and at most 20"):
        shortlist(wide, 8)


def test_a_block_counts_as_one_feature(columns, few_features):
    blocks = {"pair": ["f03", "f09"], "nothing": ["f10", "f11"]}
    made = SubgroupSelector("site", size=1, blocks=blocks, k=1).fit(columns, "y")
    assert [one.features for one in best_sets(made.selection_)] == [("pair",)] * 3


def test_a_number_to_predict_is_searched_by_its_grids(columns, few_features):
    table = {**columns, "y": columns["y"] + np.random.default_rng(1).normal(0, 0.2, 1200)}
    selector = SubgroupSelector("site", size=2).fit(table, "y")
    assert {"f03", "f09"} <= set(selector.selection_.feature_names)


def test_all_features_are_kept_where_asked_for(columns, few_features):
    selector = SubgroupSelector("site", size=1, coding=Coding(max_sets=None)).fit(columns, "y")
    assert len(selector.selection_.feature_names) == 24
