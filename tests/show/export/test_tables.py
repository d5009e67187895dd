import numpy as np
import pytest

from misfeat import Coding, MisfeatWarning, SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.cli.errors import in_options
from misfeat.show.export import (
    ALWAYS_ANSWERED,
    TITLES,
    about_table,
    answer_tables,
    in_words_table,
    meaning_of,
    with_share_bounds,
)
from misfeat.show.question_output import QUESTIONS


def tables_of(selector, questions=tuple(TITLES), **more):
    found = answer_tables(selector.selection_, list(questions), **more)
    return {table.title: table for table in found}


def small(**more):
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, 3, 300) for name in "abc"}
    table["y"] = (table["a"] + rng.integers(0, 2, 300) > 1).astype(int)
    table["site"] = np.repeat(["s", "t", "u"], 100)
    return table | more


def test_sets_have_p_values_where_significance_is_asked_too(fitted, tables):
    alone = tables_of(fitted, ["top"])["best sets"]
    assert np.isnan(alone.columns["p_value"]).all()
    recorded = np.array(tables["best sets"].columns["source"]) == "recorded"
    assert not np.isnan(np.array(tables["best sets"].columns["p_value"])[recorded]).any()
    assert fitted.selection_.known_tests is None, "an export changes no later answer"


def test_every_question_has_a_table_with_the_answers_of_the_selection(fitted, tables):
    assert set(TITLES) == set(QUESTIONS)
    assert set(TITLES) >= ALWAYS_ANSWERED
    ordered = ["subgroups", "best sets", "columns"]
    assert list(tables_of(fitted, ["columns", "top", "subgroups"])) == ordered
    assert tables["subgroups"].columns["rows"] == fitted.subgroups_["rows"].tolist()
    assert tables["worth collecting"].columns["gain"] == fitted.worth_collecting()["gain"].tolist()
    assert tables["columns"].columns["column"] == [one.column for one in fitted.cohorts_.columns]
    assert all(table.rows and not table.note for table in tables.values())
    for title in ("best sets", "enough"):
        score, share = (np.array(tables[title].columns[name]) for name in ("score", "share"))
        for end in ("low", "high"):
            shares = np.array(tables[title].columns[f"share_{end}"])
            assert np.allclose(shares * score / share, tables[title].columns[end])
    held = {"subgroup": ["a"], "share": [0.5], "low": [0.1]}
    assert with_share_bounds(fitted.selection_, held) == held
    best = {one.subgroup: one.features for one in best_sets(fitted.selection_, k=1)}
    for title, named in (("why", "features"), ("alternatives", "instead_of")):
        names = zip(tables[title].columns["subgroup"], tables[title].columns[named], strict=True)
        assert set(names) == set(best.items())
    sentences = in_words_table(list(tables.values())).columns["sentence"]
    assert sum(one.startswith(f"{next(iter(best))}: ") for one in sentences) >= 2


def test_the_sentences_of_the_answer_come_first(fitted, tables):
    columns, first = in_words_table(list(tables.values())).columns, fitted.answer().sentences
    assert columns["sentence"][: columns["table"].count("answer")] == first
    assert len(set(columns["sentence"])) == len(columns["sentence"])


def test_every_column_is_explained(fitted, tables):
    about = about_table(fitted.selection_, list(tables.values()))
    *keys, values = about.columns.values()
    lines = dict(zip(zip(*keys, strict=True), values, strict=True))
    for table in tables.values():
        for one in table.columns:
            assert lines[f"column of {table.title}", one], (table.title, one)
        assert lines["table", table.title] == table.words
    assert lines["run", "target"] == fitted.cohorts_.target
    assert lines["setting", "size"] == "2"
    assert meaning_of("why", "share") != meaning_of("top", "share")
    assert meaning_of("top", "low") == "Lower end of the interval."


def test_r2_says_what_it_cannot_answer_in_the_words_of_its_reader():
    selector = SubgroupSelector("site", size=2, measure="r2").fit(small(), "y")
    assert "use measure='mutual_info'" in tables_of(selector, ["why"])["why"].note
    options = tables_of(selector, ["why"], spell=in_options)
    assert "use --measure 'mutual_info'" in options["why"].note


def test_a_subgroup_with_one_class_is_named():
    table = small()
    table["y"] = np.where(table["site"] == "t", 0, table["y"])
    with pytest.warns(MisfeatWarning, match="single value in the subgroup 'site=t'"):
        selector = SubgroupSelector("site", size=1).fit(table, "y")
    found = tables_of(selector, ["top", "subgroups"])
    assert "No set of 'site=t': the target has a single value there" in found["best sets"].note
    assert set(found["best sets"].columns["subgroup"]) == {"site=s", "site=u"}
    assert found["subgroups"].rows == 3


def test_nothing_to_collect_and_nothing_that_misleads_are_said():
    found = tables_of(SubgroupSelector("site", size=1).fit(small(), "y"), ["worth", "cautions"])
    assert found["worth collecting"].note.startswith("Every subgroup recorded every feature")
    assert found["worth collecting"].columns
    assert found["worth collecting"].rows == 0


def test_what_the_target_was_taken_for_is_part_of_every_export():
    rng = np.random.default_rng(2)
    table = small(y=rng.normal(size=300))
    for kind, said in (("number", "number: scores are means over 4 grids"), ("classes", "classes")):
        fitted = SubgroupSelector("site", size=1, coding=Coding(target=kind)).fit(table, "y")
        tables = tables_of(fitted, ["top"])
        about = about_table(fitted.selection_, list(tables.values()))
        facts = dict(zip(about.columns["name"], about.columns["value"], strict=True))
        assert facts["target taken as"].startswith(said)
        assert ("spread" in tables[TITLES["top"]].columns) == (kind == "number")
