from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from misfeat import MisfeatError, SubgroupSelector
from misfeat.answers.top import best_sets
from misfeat.show.export.cells import legal_text
from misfeat.show.export.markdown import escaped, markdown_table
from misfeat.show.questions import QUESTIONS, About
from tests.show.export.hostile import FEATURES, SITES, TEXTS

PARSER = MarkdownIt("gfm-like", {"linkify": False})


def markdown(selector, question="top", k=None, **about):
    return markdown_table(selector.selection_, question, About(**about), k)


def cells(text):
    """The lines of all tables as a reader of Markdown finds them; fails where there is markup."""
    lines = []
    for token in PARSER.parse(text):
        if token.type == "tr_open":
            lines.append([])
        elif token.type == "inline" and token.level > 3:
            kinds = {child.type for child in token.children}
            assert kinds <= {"text", "text_special"}, token.content
            lines[-1].append("".join(child.content for child in token.children))
    return lines


@given(
    st.lists(
        st.text(st.characters(exclude_categories=())) | st.sampled_from(TEXTS[:-1]), min_size=1
    )
)
def test_every_text_is_read_back_and_none_is_markup(texts):
    table = "| a |\n| --- |\n" + "".join(f"| {escaped(text)} |\n" for text in texts)
    found = [line[0].strip() for line in cells(table)[1:]]
    assert found == [legal_text(text).strip() for text in texts]


def test_links_are_not_made_of_names():
    assert escaped("http://a.b") == r"http\://a.b"
    assert escaped("www.a.b and a.b") == r"www\.a.b and a.b"


def test_hostile_names_stay_names(hostile):
    heads, *lines = cells(markdown(hostile, "features"))
    shown = {line[heads.index("feature")] for line in lines}
    assert shown == {legal_text(name).strip() for name in FEATURES}
    assert {line[0] for line in lines} == {legal_text(f"=site={site}") for site in SITES}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_gives_a_table(fitted, question):
    best = best_sets(fitted.selection_, k=1)[0]
    about = {"subgroup": best.subgroup, "features": best.features}
    text = markdown(fitted, question, **(about if QUESTIONS[question].of_a_set else {}))
    heads, *lines = cells(text)
    assert lines
    assert all(len(line) == len(heads) == len(set(heads)) for line in lines)


def test_shares_are_per_cent_with_their_intervals(fitted):
    heads, *lines = cells(markdown(fitted, "top", k=1))
    place = heads.index("share (90 % interval)")
    best = fitted.top_k(k=1)
    for line, share in zip(lines, best["share"], strict=True):
        found = re.fullmatch(r"([\d.]+) % \(([\d.]+)–([\d.]+) %\)", line[place])
        value, low, high = map(float, found.groups())
        assert low <= value <= high
        assert abs(value - 100 * share) <= 0.5


def test_a_narrow_interval_leaves_a_digit_and_a_known_score_has_none():
    table = {"a": [0, 1] * 40_000, "b": [0, 0, 1, 1] * 20_000, "y": [0, 1, 1, 1] * 20_000}
    shown = markdown(SubgroupSelector(size=1).fit(table, "y"), k=1)
    assert re.search(r"\| \d+\.\d % \(\d+\.\d–\d+\.\d %\) \|", shown)
    sample = markdown(SubgroupSelector(size=1, estimate="sample").fit(table, "y"), k=1)
    assert re.search(r"\| \d+\.\d % \|", sample)


def test_intervals_stand_behind_what_they_are_about(fitted):
    heads, *lines = cells(markdown(fitted, "worth"))
    assert "between" not in heads
    gain = heads.index("gain")
    assert re.fullmatch(r"\d+ % \(\d+–\d+ %\)", lines[0][gain])


def test_one_subgroup_needs_no_column_and_k_is_lines_of_each(fitted):
    name = fitted.subgroups_["subgroup"][0]
    heads, *lines = cells(markdown(fitted, "interactions", subgroup=name, k=4))
    assert heads[0] == "feature"
    assert len(lines) == 4
    heads, *lines = cells(markdown(fitted, "interactions", k=4))
    assert heads[0] == "subgroup"
    assert len(lines) == 4 * len(fitted.subgroups_)
    _, *lines = cells(markdown(fitted, "columns", k=1))
    assert len(lines) == len(fitted.cohorts_.columns)


def test_more_sets_than_at_fit_can_be_asked_for(fitted):
    _, *lines = cells(markdown(fitted, "top", k=5))
    assert len(lines) == 5 * len(fitted.subgroups_)


def test_a_star_marks_what_was_not_recorded_and_is_explained(fitted):
    text = markdown(fitted, "top")
    assert r"\*" in text
    assert text.endswith("A star marks a feature that the subgroup never recorded.\n")


def test_nothing_to_show_is_said():
    table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    shown = markdown(SubgroupSelector(size=1).fit(table, "y"), "worth")
    assert shown == "There is nothing to show.\n"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"question": "tops"}, "'tops' is no question"),
        ({"question": "why"}, "is about one set"),
        ({"k": 0}, "k=0; it must be an integer"),
        ({"question": "columns", "subgroup": "a"}, "takes no subgroup"),
    ],
)
def test_what_cannot_be_asked_is_refused(fitted, asked, message):
    with pytest.raises(MisfeatError, match=message):
        markdown(fitted, **asked)


def test_answers_are_exported_as_markdown(fitted, tmp_path):
    fitted.export(tmp_path / "top.md", "top")
    assert (tmp_path / "top.md").read_text(encoding="utf-8") == markdown(fitted)
    fitted.export(tmp_path / "all.md", ["why", "columns", "top"])
    text = (tmp_path / "all.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Best sets", "## Why", "## Columns"]
    assert markdown(fitted, "columns") in text
