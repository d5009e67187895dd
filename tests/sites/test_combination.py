from dataclasses import replace

import numpy as np
import pytest

from misfeat import Coding, MisfeatError, Selection, SubgroupSelector
from misfeat.answers.set_cells import explanation
from misfeat.answers.top_sets import best_sets
from misfeat.datasets import load_heart
from misfeat.sites import combine, summarise

SAME = 1e-9


@pytest.fixture(scope="module")
def pooled(codebook):
    bins = {one.column: list(one.edges) for one in codebook.features if one.edges and not one.exact}
    coding = Coding(target="classes", bins=bins)
    return SubgroupSelector("site", size=3, coding=coding).fit(load_heart().columns, "num")


@pytest.fixture(scope="module")
def combined(summaries):
    return combine(summaries).selection


@pytest.mark.parametrize("size", [1, 2, 3])
def test_scores_and_intervals_are_those_of_the_pooled_rows(pooled, combined, size):
    rows, counts = pooled.selection_.completed(size), combined.completed(size)
    for name in ("score", "low", "high"):
        assert np.abs(getattr(rows, name) - getattr(counts, name)).max() < SAME
    assert (rows.predicted == counts.predicted).all()
    assert (rows.support == counts.support).all()


@pytest.mark.parametrize("asked", ["top_k", "scores", "worth_collecting"])
def test_answers_are_those_of_the_pooled_rows(pooled, combined, asked):
    rows, counts = getattr(pooled, asked)(), getattr(combined, asked)()
    assert list(rows.columns) == list(counts.columns)
    for name in rows.columns:
        if name == "p_value":
            continue
        left, right = rows[name].tolist(), counts[name].tolist()
        if rows[name].dtype.kind == "f":
            assert np.allclose(left, right, rtol=0, atol=SAME, equal_nan=True), name
        else:
            assert left == right, name


@pytest.mark.parametrize("features", [["cp"], ["cp", "exang"], ["cp", "ca", "thal"]])
@pytest.mark.parametrize("site", ["cleveland"])  # of what was not recorded, rows say more
def test_the_cells_of_a_set_are_those_of_the_rows(pooled, combined, site, features):
    rows, counts = (
        explanation(pooled.selection_, site, features),
        explanation(combined, site, features),
    )
    assert rows.predicted == counts.predicted
    assert [cell.words for cell in rows.cells] == [cell.words for cell in counts.cells]
    for left, right in zip(rows.cells, counts.cells, strict=True):
        assert left.rows == pytest.approx(right.rows, abs=SAME)
        assert left.contribution == pytest.approx(right.contribution, abs=SAME)


def test_columns_are_missing_in_as_many_rows_as_in_the_pooled_table(pooled, combined):
    rows = {one.column: one.missing for one in pooled.selection_.cohorts.columns}
    counts = {one.column: one.missing for one in combined.cohorts.columns if one.role == "feature"}
    differ = {name for name in counts if counts[name] != rows[name]}
    assert differ == {"ca"}  # a few rows of hospitals that otherwise never recorded it
    assert rows["ca"] < counts["ca"] <= rows["ca"] + 10
    assert counts["thal"] > 400


def test_larger_sets_than_were_shared_are_refused(summaries, combined):
    with pytest.raises(MisfeatError, match="up to 3 features"):
        combined.top_k(size=4)
    with pytest.raises(MisfeatError, match="up to 3 features"):
        explanation(combined, "va", ["cp", "exang", "age", "sex"])
    with pytest.raises(MisfeatError, match="at most 3 features here"):
        combine(summaries, size=4)


@pytest.fixture(scope="module")
def pairs(hospitals, codebook):
    return [summarise(table, codebook, site, min_cell=1) for site, table in hospitals.items()]


def test_tables_of_pairs_answer_for_sets_of_three(pairs, combined, tmp_path):
    found = combine(pairs).selection
    assert found.size == 3
    for size in (1, 2, 3):  # no three features of heart explain more than their pairs do
        assert np.abs(found.completed(size).score - combined.completed(size).score).max() < SAME
    assert "site=va" in found.report().html()
    found.save(tmp_path / "run")
    assert best_sets(Selection.load(tmp_path / "run")) == best_sets(found)


def test_cells_and_other_scales_need_tables_of_the_sets_themselves(pairs):
    found = combine(pairs).selection
    with pytest.raises(MisfeatError, match="only counts of sets of up to 2 features"):
        found.why("va", ["cp", "exang", "age"])
    assert combine(pairs, estimate="above_chance").selection.size == 2
    with pytest.raises(MisfeatError, match=r"at most 2 features here, where .* shared tables of 2"):
        combine(pairs, estimate="sample", size=3)


def test_the_order_of_files_does_not_matter(summaries, combined):
    found = combine(summaries[::-1]).selection
    assert found.cohorts.names == combined.cohorts.names
    assert np.array_equal(found.completed(3).score, combined.completed(3).score)


def test_a_summary_of_another_codebook_is_refused(summaries, codebook):
    later = replace(codebook, edition=2, features=codebook.features[1:])
    old = replace(summaries[0], codebook=later)
    found = combine([old, *summaries[1:]], size=1)
    (refusal,) = found.refused
    assert "another codebook: edition 2, " in refusal.why
    assert len(found.selection.cohorts) == 3


def test_two_codebooks_of_equal_standing_are_a_question(summaries, codebook):
    other = replace(summaries[0], codebook=replace(codebook, edition=2))
    with pytest.raises(MisfeatError, match="codebook"):
        combine([other, summaries[1]])


def test_a_site_that_nobody_knows_is_refused(summaries):
    stranger = replace(summaries[0], site="mars")
    found = combine([stranger, *summaries[1:]], size=1)
    assert [one.why for one in found.refused] == ["The codebook names no site 'mars'."]


def test_a_site_counts_once(summaries):
    found = combine([*summaries, summaries[2]], size=1)
    assert len(found.taken) == 4
    assert "another summary" in found.refused[0].why


def test_nothing_to_combine_is_an_error(summaries):
    with pytest.raises(MisfeatError, match="No summary can be used"):
        combine([])
    with pytest.raises(MisfeatError, match="No summary can be used"):
        combine([replace(summaries[0], site="mars")])
