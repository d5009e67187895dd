from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from misfeat import Coding, SubgroupSelector
from misfeat.datasets import load_heart
from misfeat.exceptions import MisfeatError
from misfeat.selection.cell_counts import CellCounts
from misfeat.selection.withholding import Rounding, withheld_cells

LEAST = 10


def ill_or_not():
    data = load_heart()
    return {**data.columns, data.target: (data.columns[data.target] > 0).astype(int)}, data


@pytest.fixture(scope="module")
def heart():
    columns, data = ill_or_not()
    selector = SubgroupSelector(data.groups, size=2, k=5, coding=Coding(min_cell=LEAST))
    return selector.fit(columns, data.target)


@pytest.fixture(scope="module")
def open_heart():
    columns, data = ill_or_not()
    return SubgroupSelector(data.groups, size=2, k=5).fit(columns, data.target)


def test_no_row_is_kept(heart):
    cohorts = heart.cohorts_
    assert len(cohorts.weights) <= len(cohorts) * len(cohorts.classes)
    assert (cohorts.weights % LEAST == 0).all()
    assert set(np.unique(cohorts.codes)) <= {-1, 0}
    assert heart.selection_.book.computed == ()


def test_counts_and_entropies_are_those_of_rounded_rows(heart, open_heart):
    told, true = heart.subgroups_, open_heart.subgroups_
    assert (told["rows"] % LEAST == 0).all()
    assert (abs(told["rows"] - true["rows"]) < 2 * LEAST).all()  # two classes
    assert (told["missing"] == true["missing"]).all()


def test_scores_are_rounded_and_keep_their_order(heart, open_heart):
    told, true = heart.scores(), open_heart.scores()
    step = LEAST / told["subgroup"].map(heart.subgroups_.set_index("subgroup")["rows"])
    assert (abs(told["score"] / step - (told["score"] / step).round()) < 1e-5).all()
    assert (abs(told["score"] - true["score"]) <= step * 0.5 + 1e-6).all()
    assert (told["low"] <= told["score"]).all()
    assert (told["score"] <= told["high"]).all()
    for name in heart.cohorts_.names:
        one, other = (s.best_sets(subgroup=name) for s in (heart, open_heart))
        assert [s.features for s in one] == [s.features for s in other]
    assert told["observed"].isna().all()


def test_no_set_is_below_a_part_of_it(heart):
    singles = {(s.subgroup, s.features): s.score for s in heart.best_sets(size=1, k=20)}
    for pair in heart.best_sets(size=2, k=100):
        assert all(pair.score >= singles[pair.subgroup, (one,)] for one in pair.features)


def test_cells_below_the_least_are_merged(heart, open_heart):
    best = heart.best_sets(subgroup="site=cleveland")[0]
    told = heart.explanation(best.subgroup, best.features)
    true = open_heart.explanation(best.subgroup, best.features)
    assert min(cell.rows for cell in true.cells) < LEAST
    assert min(cell.rows for cell in told.cells) >= LEAST
    assert all(cell.rows % LEAST == 0 for cell in told.cells)
    assert any("any other" in cell.values for cell in told.cells)


@given(arrays(np.int64, (6, 2), elements=st.integers(0, 60)), st.integers(2, 20))
def test_told_cells_are_multiples_and_hide_small_ones(counts, least):
    counts = counts[counts.sum(axis=1) > 0]
    if not len(counts):
        return
    values = [(str(i),) for i in range(len(counts))]
    told = withheld_cells(CellCounts(values, counts.astype(float)), Rounding(least, key=3))
    assert (told.counts % least == 0).all()
    assert (told.counts.sum(axis=1) > 0).all()
    for value, count in zip(values, counts, strict=True):
        if count.sum() < least:
            assert value not in told.values


@given(st.integers(0, 10**6), st.integers(2, 100), st.integers(0, 2**64))
def test_rounding_is_off_by_less_than_a_step(count, least, key):
    told = int(Rounding(least, key).of(count, "a"))
    assert told % least == 0
    assert abs(told - count) < least
    assert told == int(Rounding(least, key).of(count, "a"))


def test_rounding_is_right_on_the_mean():
    told = Rounding(10, key=1).of(np.full(40_000, 13), "many")
    assert set(np.unique(told)) == {10, 20}
    assert abs(told.mean() - 13) < 4 * 10 * np.sqrt(0.21 / 40_000)


def test_what_needs_rows_is_refused_with_what_can_be_asked(heart):
    with pytest.raises(MisfeatError, match="sets of 1, 2 features can be asked for"):
        heart.scores(size=3)
    with pytest.raises(MisfeatError, match="min_cell"):
        heart.validate()
    rare = heart.scores(subgroup="site=va").sort_values("score")["features"].iloc[0]
    with pytest.raises(MisfeatError, match="with a larger k"):
        heart.why("site=va", rare)


def test_the_report_and_the_tables_are_made_without_rows(heart, capsys):
    page = heart.report().html()
    assert "no rows are kept" in page
    assert "site=va" in page
    heart.show(k=2)
    assert "site=va" in capsys.readouterr().out
    assert len(heart.worth_collecting())


def test_small_subgroups_are_neither_named_nor_counted():
    columns, data = ill_or_not()
    site = np.array(columns["site"], dtype=object)
    site[:3] = "tiny"
    columns = {**columns, "site": site}
    merged = SubgroupSelector("site", size=1, coding=Coding(min_cell=LEAST, small_groups="drop"))
    merged.fit(columns, data.target)
    assert "tiny" not in " ".join(merged.cohorts_.notes)
    assert "tiny" not in " ".join(merged.cohorts_.seen)
    assert "1 in all" in " ".join(merged.cohorts_.notes)
    assert "site=tiny" not in merged.cohorts_.names


def test_too_few_rows_to_merge_are_left_out():
    columns, data = ill_or_not()
    site = np.array(columns["site"], dtype=object)
    site[:3] = "tiny"
    selector = SubgroupSelector("site", size=1, coding=Coding(min_cell=LEAST))
    selector.fit({**columns, "site": site}, data.target)
    assert "other" not in selector.cohorts_.names


def test_a_rare_class_is_refused():
    table = {"a": [0, 1] * 50, "y": ["x"] * 48 + ["z"] * 49 + ["rare"] * 3}
    with pytest.raises(MisfeatError, match="fewer than 10 rows of the class 'rare'"):
        SubgroupSelector(size=1, coding=Coding(min_cell=LEAST)).fit(table, "y")


def test_a_class_that_is_rare_in_a_subgroup_alone_is_not_told_there():
    rng = np.random.default_rng(0)
    site = np.repeat(["a", "b"], 100)
    target = np.concatenate([np.arange(100) % 2, np.arange(100) < 3]).astype(int)
    table = {"f": rng.integers(0, 3, 200), "site": site, "y": target}
    selector = SubgroupSelector("site", size=1, coding=Coding(min_cell=LEAST)).fit(table, "y")
    assert selector.subgroups_["target_entropy"].tolist()[1] == 0
    assert (selector.scores(subgroup="site=b")["high"] == 0).all()
    assert any("nothing is told there" in one.sentence for one in selector.caution_list())


def test_squared_correlations_are_refused():
    table = {"a": np.arange(60.0) % 11, "y": np.arange(60.0) % 7}
    with pytest.raises(MisfeatError, match="min_cell=5 needs measure='mutual_info'"):
        SubgroupSelector(size=1, measure="r2", coding=Coding(min_cell=5)).fit(table, "y")


def test_a_saved_selection_answers_the_same_and_holds_no_rows(heart, tmp_path):
    heart.save(tmp_path / "run")
    again = SubgroupSelector.load(tmp_path / "run")
    assert again.best_sets() == heart.best_sets()
    for size in (1, 2):
        for best in heart.best_sets(size):
            told = again.explanation(best.subgroup, best.features)
            assert repr(told) == repr(heart.explanation(best.subgroup, best.features))
    with pytest.raises(MisfeatError, match="sets of 1, 2 features"):
        again.scores(size=3)
    assert (again.cohorts_.weights % LEAST == 0).all()
