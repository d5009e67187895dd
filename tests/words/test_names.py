from __future__ import annotations

from misfeat.words.names import joined


def test_every_name_is_a_part_of_its_own():
    assert list(joined(["a", "b", "c"]).about.values()) == ["a", "b", "c"]


def test_braces_in_names_are_text():
    assert joined(["{0}", "{name1}"]) == "{0} and {name1}"


def test_what_commands_a_terminal_is_shown():
    assert joined(["a\x1b[31m", "b"]) == "a\\x1b[31m and b"


def test_one_name_too_many_is_named_rather_than_counted():
    assert joined(list("abcdef"), most=5) == "a, b, c, d, e and f"
