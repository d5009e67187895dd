from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from misfeat.exceptions import InPython, Message, Setting
from misfeat.show.markup import as_html
from misfeat.words.names import joined


@given(st.text(), st.text())
def test_no_name_makes_an_element(first, second):
    html = as_html(Message("In {where}, {names}.", where=first, names=joined([first, second])))
    without = html.replace('<bdi class="name">', "").replace("</bdi>", "")
    assert "<" not in without
    assert ">" not in without


def test_names_within_names_are_isolated_one_by_one():
    html = as_html(joined(["a", "b"]))
    assert html == '<bdi class="name">a</bdi> and <bdi class="name">b</bdi>'


def test_parameters_are_spelled_as_asked():
    message = Message("Use {setting}{python}.", setting=Setting("k", 3), python=InPython(" here"))
    assert as_html(message) == "Use <code>k=3</code> here."
    assert as_html(message, lambda one: f"--top {one.value}") == "Use <code>--top 3</code>."


def test_numbers_keep_their_units():
    assert (
        as_html(Message("{share} of {n:,}", share=Message("12 %"), n=1200)) == "12\u00a0% of 1,200"
    )


def test_text_without_parts_is_escaped():
    assert as_html("a < b") == "a &lt; b"


def test_what_turns_text_is_shown():
    assert "\u202e" not in as_html(Message("{name}", name="\u202eabc"))
