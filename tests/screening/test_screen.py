"""A wide table is cut down to the features that tell, and says how."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from misfeat import Coding, MisfeatError, MisfeatWarning, SubgroupSelector
from misfeat.cohorts import build_cohorts
from misfeat.screening import screen, screened
from misfeat.screening.screen import features_that_fit, sets_in_all
from misfeat.screening.searching import SEARCHING
from tests.screening.conftest import wide_columns


@pytest.fixture(scope="module")
def columns():
    return wide_columns()


@pytest.fixture(scope="module")
def selector(columns):
    return SubgroupSelector("site", size=2, k=3, coding=Coding(max_sets=800)).fit(columns, "y")


def test_as_many_features_are_kept_as_fit():
    for size in (1, 2, 3):
        kept = features_that_fit(50, size, 3, 3000)
        assert sets_in_all(kept, size, 3) <= 3000 < sets_in_all(kept + 1, size, 3) or kept == 50
    assert features_that_fit(50, 3, 3, 1) == 3


def test_what_fits_is_left_as_it_is(columns):
    limit = sets_in_all(24, 2, 3)
    for max_sets, is_screened in ((limit, False), (limit - 1, True)):
        selector = SubgroupSelector("site", size=2, coding=Coding(max_sets=max_sets))
        found = selector.fit(columns, "y").selection_.screened
        assert (found is not None) is is_screened


def test_what_tells_only_together_is_kept(wide):
    kept, found = screened(wide, 2, 500)
    assert {"f03", "f05", "f09"} <= set(kept.features)
    assert set(kept.features) | set(found.left_out) == set(wide.features)
    assert found.exhaustive == 2
    assert found.telling == 0


def test_rows_are_looked_at_or_held_back_never_both(wide):
    _, found = screened(wide, 2, 500)
    assert found.rows + found.held_back.sum() == wide.weights.sum()
    assert (found.held_back >= 0).all()
    assert (found.held_back <= wide.weights).all()


def test_the_choice_knows_nothing_of_rows_that_are_held_back(wide):
    """Another target in these rows leaves the choice as it is."""
    kept, found = screened(wide, 2, 500)
    back = (found.held_back == wide.weights) & (wide.weights == 1)
    others = replace(wide, target_codes=np.where(back, 1 - wide.target_codes, wide.target_codes))
    assert screened(others, 2, 500)[0].features == kept.features


def test_the_same_table_is_searched_the_same_way(wide):
    first, second = screened(wide, 3, 2000, n_jobs=2), screened(wide, 3, 2000)
    assert first[0].features == second[0].features
    assert np.array_equal(first[1].held_back, second[1].held_back)


def test_a_subgroup_of_one_row_is_held_back_and_looked_at():
    table = {**{f"f{i}": [0, 1] * 10 for i in range(9)}, "y": [0, 1] * 10, "g": [0] * 19 + [1]}
    with pytest.warns(MisfeatWarning, match="single value"):
        cohorts = build_cohorts(table, "y", groups="g", coding=Coding(min_rows=1))
    _, found = screened(cohorts, 2, 20)
    assert found.held_back[-1] == 1


def test_rows_of_very_many_are_drawn(wide, monkeypatch):
    monkeypatch.setattr(screen, "MOST_COUNTED", 1.0)
    monkeypatch.setattr(screen, "FEWEST_ROWS", 100)
    _, found = screened(wide, 2, 500)
    assert 80 <= found.rows <= 120


def test_every_answer_comes_from_the_kept_features(selector):
    assert "f03" in selector.selection_.feature_names
    top = selector.best_sets(k=1)
    assert [one.features for one in top] == [("f03", "f09")] * 3
    assert len(selector.worth_collecting()) == 0
    assert selector.why("a", ["f03", "f09"]) is not None
    assert len(selector.enough()) == 3 * 2


def test_a_feature_that_was_screened_out_is_told_with_what_to_do(selector):
    name = selector.selection_.screened.left_out[0]
    with pytest.raises(MisfeatError, match=rf"screened out.*max_sets.*include=\['{name}'\]"):
        selector.why("a", [name])


def test_a_feature_to_include_is_kept(columns, selector):
    name = selector.selection_.screened.left_out[0]
    again = SubgroupSelector("site", size=2, coding=Coding(max_sets=800), include=[name]).fit(
        columns, "y"
    )
    assert name in again.selection_.feature_names
    assert all(name in one.features for one in again.best_sets())


def test_a_wrong_feature_to_include_is_refused_before_the_search(columns):
    with pytest.raises(MisfeatError, match=r"'f99'.*a feature to include"):
        SubgroupSelector("site", size=2, coding=Coding(max_sets=800), include=["f99"]).fit(
            columns, "y"
        )


def test_a_block_counts_as_one_feature(columns):
    blocks = {"pair": ["f03", "f09"], "nothing": ["f10", "f11"]}
    made = SubgroupSelector("site", size=1, coding=Coding(max_sets=60), blocks=blocks, k=1).fit(
        columns, "y"
    )
    assert [one.features for one in made.best_sets()] == [("pair",)] * 3
    if "nothing" in made.selection_.screened.left_out:
        roles = {audit.column: audit.treatment for audit in made.cohorts_.columns}
        assert roles["f10"] == roles["f11"] == "screened out"


def test_a_feature_hidden_in_one_subgroup_is_kept_if_it_tells_elsewhere(columns):
    held = {name: np.asarray(values) for name, values in columns.items()}
    held["f09"] = np.where(held["site"] == "a", np.nan, held["f09"])
    made = SubgroupSelector("site", size=2, coding=Coding(max_sets=800), k=1).fit(held, "y")
    assert "f09" in made.selection_.feature_names
    assert made.worths("a")[0].feature == "f09"


def test_without_a_limit_every_set_is_scored(columns):
    made = SubgroupSelector("site", size=2, coding=Coding(max_sets=None)).fit(columns, "y")
    assert made.selection_.screened is None
    assert len(made.selection_.feature_names) == 24


def test_a_size_of_its_own_choice_reaches_to_three(columns):
    made = SubgroupSelector("site", size="auto", coding=Coding(max_sets=3000)).fit(columns, "y")
    assert made.selection_.screened is not None
    assert made.selection_.size in (2, 3)


def test_scores_of_the_rows_as_they_are_are_ranked_as_they_are(columns):
    made = SubgroupSelector("site", size=2, coding=Coding(max_sets=800), estimate="sample", k=1)
    assert made.fit(columns, "y").selection_.screened.telling is None
    (caution,) = (one for one in made.caution_list() if one.kind == "screened")
    assert "more than chance" not in caution.sentence


def test_more_features_than_can_be_numbered_are_refused(wide, monkeypatch):
    monkeypatch.setattr(screen, "MOST_FEATURES", 20)
    with pytest.raises(MisfeatError, match="There are 24 features, and at most 20"):
        screened(wide, 2, 500)


def test_long_searches_are_foretold(wide, monkeypatch):
    said = []
    monkeypatch.setattr(screen, "announce", said.append)
    monkeypatch.setattr(screen, "COUNTED_A_SECOND", 1e3)
    told = []
    screened(wide, 2, 500, progress=lambda *how_far: told.append(how_far))
    assert told[-1] == (SEARCHING, 1, 1)
    assert said[0].endswith("looking for the features that tell among 24, in all 276 pairs.")
