from __future__ import annotations

from misfeat.show.export.glossary import _OF_TABLES, FLAG, NAMES, SCORE, TEXT, column_of
from misfeat.show.questions import QUESTIONS


def test_a_column_means_what_its_table_says_and_else_what_it_always_means():
    assert column_of("why", "share").meaning != column_of("top", "share").meaning
    assert column_of("enough", "subgroup") == column_of("worth", "subgroup")


def test_a_column_that_nobody_wrote_down_is_known_by_its_values():
    held = {FLAG: [True], NAMES: [None, ("a",)], SCORE: [0.5], TEXT: ["a"]}
    for kind, values in held.items():
        assert column_of("top", "new", values).kind == kind
    assert column_of("top", "new", []).kind == TEXT


def test_the_tables_are_those_of_the_questions():
    assert set(_OF_TABLES) == set(QUESTIONS)
