from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from misfeat.show.export.formats import legal_text
from misfeat.show.export.markdown import escaped, markdown_bytes
from misfeat.show.export.tables import TITLES, AnswerTable
from misfeat.show.questions import in_columns
from tests.show.export.hostile import FEATURES, SITES, TEXTS

PARSER = MarkdownIt("gfm-like", {"linkify": False})


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


def written(selector, tables, sentences=()):
    return markdown_bytes(in_columns(selector.selection_), tables, sentences).decode()


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


def test_hostile_names_stay_names(hostile, hostile_tables):
    table = next(one for one in hostile_tables if one.question == "features")
    heads, *lines = cells(written(hostile, [table]))
    shown = {line[heads.index("feature")] for line in lines}
    assert shown == {legal_text(name).strip() for name in FEATURES}
    assert {line[0] for line in lines} == {legal_text(f"=site={site}") for site in SITES}


def test_every_question_gives_a_heading_its_sentences_and_a_table(fitted, tables):
    text = written(fitted, tables.values(), ["First of all."])
    assert text.startswith("# What tells most about ")
    assert "\n\n- First of all.\n\n" in text
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == list(TITLES.values())
    for table in tables.values():
        alone = written(fitted, [table])
        heads, *lines = cells(alone)
        assert len(lines) == table.rows
        assert all(len(line) == len(heads) == len(set(heads)) for line in lines)
        assert all(f"- {escaped(one)}" in alone for one in table.sentences)


def test_shares_stand_in_per_cent_with_their_intervals(fitted, tables):
    heads, *lines = cells(written(fitted, [tables["best sets"]]))
    assert heads[:3] == ["subgroup", "rank", "features"]
    assert "between" not in heads
    for line, share in zip(lines, tables["best sets"].columns["share"], strict=True):
        found = re.fullmatch(r"([\d.]+) % \(([\d.]+)–([\d.]+) %\)", line[heads.index("tells")])
        value, low, high = map(float, found.groups())
        assert low <= value <= high
        assert abs(value - 100 * share) <= 0.5
    heads, *lines = cells(written(fitted, [tables["worth collecting"]]))
    assert re.fullmatch(r"\d+ % \(\d+–\d+ %\)", lines[0][heads.index("gain")])


def test_what_was_not_answered_is_said(fitted):
    refused = AnswerTable("why", "why", "Why does this set tell?", note="R² knows no cells.")
    text = written(fitted, [refused])
    assert text.endswith("## why\n\nWhy does this set tell? R² knows no cells.\n")
