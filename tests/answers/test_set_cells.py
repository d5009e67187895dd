from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from misfeat import Coding, SubgroupSelector
from misfeat.answers.set_cells import Cell, CellCounts, Explanation, Share, cells_of, explanation
from misfeat.answers.top_sets import best_sets
from misfeat.datasets import load_heart, make_cohorts
from misfeat.exceptions import MisfeatError
from misfeat.information.mutual_info import entropy


@pytest.fixture(scope="module")
def heart():
    data = load_heart()
    return SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_contributions_of_recorded_sets_add_up_to_the_observed_score(heart, size):
    seen = [
        best for best in best_sets(heart.selection_, size=size, k=5) if best.observed is not None
    ]
    assert seen
    for best in seen:
        why = explanation(heart.selection_, best.subgroup, best.features)
        assert not why.predicted
        assert why.score == pytest.approx(best.observed, abs=1e-12)
        assert sum(cell.rows for cell in why.cells) == heart.cohorts_[best.subgroup].size


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_predicted_tables_hold_the_subgroups_rows_and_say_that_they_are_predicted(heart, size):
    features = ("ca", "cp", "sex", "exang")[:size]
    frame = heart.why("site=va", features)
    assert set(frame["source"]) == {"predicted"}
    assert frame["low"].isna().all()
    rows = frame.drop_duplicates("cell")["rows"].sum()
    assert rows == pytest.approx(heart.cohorts_["site=va"].size)
    by_cell = frame.groupby("cell")["share"].sum()
    assert np.allclose(by_cell, 1.0)


def test_cells_are_named_by_ranges_and_keep_what_the_subgroup_recorded(heart):
    predicted = heart.why("site=va", ["ca", "sex"])
    held = predicted.assign(women=[values[0] == "0" for values in predicted["values"]])
    women = held[held["women"]].drop_duplicates("cell")["rows"].sum()
    own = heart.why("site=va", ["sex"])
    assert women == pytest.approx(own.loc[own["cell"] == "sex = 0", "rows"].iloc[0], rel=1e-6)
    words = " ".join(heart.why("site=cleveland", ["age", "sex"])["cell"])
    assert "age <= " in words
    assert "age > " in words
    assert "45 < age <= 52" in words
    assert "sex = 1" in words


def test_rows_without_a_value_count_in_no_cell_where_they_count_for_no_score():
    table = {"a": [0, 0, 1, 1, None] * 20, "b": [0, 1] * 50, "y": [0, 0, 1, 1, 1] * 20}
    selector = SubgroupSelector(size=1, coding=Coding(sporadic="available")).fit(table, "y")
    why = explanation(selector.selection_, "all rows", ["a"])
    assert sum(cell.rows for cell in why.cells) == 80
    best = next(s for s in best_sets(selector.selection_) if s.features == ("a",))
    assert why.score == pytest.approx(best.observed, abs=1e-12)


def test_cells_of_unrecorded_features_are_near_those_that_were_hidden():
    data = make_cohorts(n_rows=2_000, hide=0.0, random_state=0)
    columns = {name: np.asarray(column, dtype=object) for name, column in data.complete.items()}
    whole = SubgroupSelector(data.groups, size=1).fit(columns, data.target).selection_
    first = columns["cohort"] == "c1"
    names = list(whole.feature_names[:3])
    hidden = {**columns, names[1]: np.where(first, None, columns[names[1]])}
    lacking = SubgroupSelector(data.groups, size=1).fit(hidden, data.target).selection_
    for features in ([names[1]], names[:2], names):
        truth, expected = (
            {
                (cell.values, share.label): cell.rows * share.share
                for cell in explanation(selection, "cohort=c1", features).cells
                for share in cell.shares
            }
            for selection in (whole, lacking)
        )
        off = sum(abs(truth.get(key, 0) - expected.get(key, 0)) for key in {*truth, *expected})
        assert off / 2 < 0.12 * sum(truth.values())


def test_cells_read_from_some_rows_or_from_counts_are_those_of_all_rows(monkeypatch):
    rng = np.random.default_rng(1)
    base = rng.integers(0, 3, 1200)
    table = {name: (base + rng.integers(0, 2, 1200)) % 3 for name in "abcd"}
    table["g"] = np.repeat(["u", "v", "w"], 400)
    table["a"] = np.where(table["g"] == "w", np.nan, table["a"])
    selection = SubgroupSelector("g", size=2).fit(table, base > 0).selection_
    counted = explanation(selection, "w", ["a", "b"])
    monkeypatch.setattr("misfeat.cohorts.cohort_data.SOME_ROWS", 30)  # of 47 that differ
    selection = SubgroupSelector("g", size=2).fit(table, base > 0).selection_
    assert repr(explanation(selection, "w", ["a", "b"])) == repr(counted)
    monkeypatch.setattr("misfeat.answers.set_cells.prod", lambda _: 1e9)
    by_rows = explanation(selection, "w", ["a", "b"])
    assert [cell.words for cell in by_rows.cells] == [cell.words for cell in counted.cells]
    assert by_rows.score == pytest.approx(counted.score)


def test_features_that_nobody_recorded_together_follow_the_class(rng):
    y = rng.integers(0, 2, 900)
    a, b = ((y ^ (rng.random(900) < wrong)).astype(object) for wrong in (0.1, 0.3))
    group = np.repeat(["p", "q", "r"], 300)
    a[group == "q"], b[group == "p"] = None, None
    a[group == "r"], b[group == "r"] = None, None
    table = {"a": a, "b": b, "c": rng.integers(0, 3, 900), "g": group, "y": y}
    why = explanation(SubgroupSelector("g", size=2).fit(table, "y").selection_, "g=r", ["a", "b"])
    shares = {cell.values: cell.most.label for cell in why.cells}
    assert shares["1", "1"] == "1"
    assert shares["0", "0"] == "0"
    assert sum(cell.rows for cell in why.cells) == pytest.approx(300)


@given(arrays(np.int64, (4, 3), elements=st.integers(0, 30)))
def test_contributions_are_the_mutual_information(counts):
    counts = counts[counts.sum(axis=1) > 0].astype(float)
    if not len(counts):
        return
    cells = cells_of(CellCounts([("x",)] * len(counts), counts), ["f"], list("abc"), 0.9)
    flat = counts[counts > 0]
    information = entropy(counts.sum(axis=1)) + entropy(counts.sum(axis=0)) - entropy(flat)
    assert sum(cell.contribution for cell in cells) == pytest.approx(information, abs=1e-9)
    for cell in cells:
        assert sum(share.share for share in cell.shares) == pytest.approx(1.0)
        assert all(share.low <= share.share + 1e-12 for share in cell.shares)
        assert all(share.share <= share.high + 1e-12 for share in cell.shares)


def test_squared_correlations_have_no_cells():
    table = {"a": np.arange(40.0) % 11, "y": np.arange(40.0) % 7}
    selector = SubgroupSelector(size=1, measure="r2").fit(table, "y")
    with pytest.raises(MisfeatError, match="measure='mutual_info'"):
        selector.why("all rows", ["a"])


def _explained(cells):
    shares = Share("ill", 1.0, 0.5, 1.0, 0.5, 2.0, 0.0)
    made = [
        Cell(f"a = {i}", (str(i),), rows, (replace(shares, contribution=added),))
        for i, (rows, added) in enumerate(cells)
    ]
    return Explanation("all", ("a",), "y", False, tuple(made))


def test_few_rows_that_hold_much_of_the_score_are_named_and_cells_without_any_are_not():
    said = _explained([(2, 0.04), (30, 0.06)]).sentences()
    assert len(said) == 2
    assert said[1].startswith("Take care: 40 % of what these rows score")
    assert len(_explained([(2, 0.01), (30, 0.06)]).sentences()) == 1
    assert len(_explained([(30, 0.1), (30, 0.001)]).sentences()) == 1
