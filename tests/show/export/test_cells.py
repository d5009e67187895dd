from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.show.answer_columns import in_a_row
from misfeat.show.export.cells import (
    MOST_CHARACTERS,
    begins_as_formula,
    cut_to,
    inert,
    legal_text,
    plain_value,
)
from tests.show.export.hostile import TEXTS

ANY_TEXT = st.text(st.characters(exclude_categories=()))
SIGNS = "=+-@＝＋－＠"
RUNS = st.builds(
    lambda before, sign, after: before + sign + after,
    st.text(" \t\r\n\"'\xa0\u3000;", max_size=4),
    st.sampled_from(SIGNS),
    ANY_TEXT,
)
"""Text that is a formula to some spreadsheet, as likely as not."""


def is_number(text):
    try:
        return float(text) is not None and not text.startswith(" ")
    except ValueError:
        return False


def runs(cell):
    """Whether a spreadsheet might run a cell of a CSV file, told another way than the code does."""
    bare = cell.strip().lstrip("\"'`´‘’“”«» \t\r\n\xa0\u3000")
    return cell[:1] != "'" and bare[:1] in tuple(SIGNS) and not is_number(cell)


@given(ANY_TEXT | RUNS | st.sampled_from(TEXTS))
def test_no_text_is_left_that_a_spreadsheet_runs(text):
    cell = inert(legal_text(text))
    assert not runs(cell)
    assert not any(runs(part) for part in cell.split(";")[1:] if not is_number(part))


@given(ANY_TEXT | RUNS)
def test_an_apostrophe_is_all_that_is_added(text):
    assert inert(text).replace("'", "") == text.replace("'", "")


@pytest.mark.parametrize("text", ["-1", "+2.5", "-1e-05", "0", "a=1", "site=a & b<=-1", "a-b"])
def test_numbers_and_signs_within_text_are_left_alone(text):
    assert inert(text) == text


@given(ANY_TEXT | st.sampled_from(TEXTS))
def test_every_text_can_be_held_by_xml_and_utf_8(text):
    legal = legal_text(text)
    assert legal.encode().decode() == legal
    assert not [letter for letter in legal if letter < " " or letter in "\x7f\ufffe\uffff"]


def test_what_xml_may_not_hold_is_spelled():
    assert legal_text("a\ufffe\uffff\x00\ud800") == r"a\ufffe\uffff\x00\ud800"


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc"))), min_size=1, max_size=4))
def test_names_in_a_row_can_be_taken_apart_again(names):
    row = in_a_row(names)
    assert next(csv.reader(io.StringIO(row), skipinitialspace=True)) == names


def test_plain_names_in_a_row_stand_without_quotes():
    assert in_a_row(("age", "body mass index", "a.b")) == "age, body mass index, a.b"
    assert in_a_row(("age", "a,b"), starred=("a,b",)) == 'age, "a,b"*'


@pytest.mark.parametrize("text", ["=1", " =1", '"=1', "'+1", "＝1", "\xa0@a", "-1-1"])
def test_formulas_are_known(text):
    assert begins_as_formula(text)


@pytest.mark.parametrize("letter", ["x", "\N{GRINNING FACE}"])
def test_text_is_cut_to_what_a_cell_of_excel_holds(letter):
    fits = letter * (MOST_CHARACTERS // len(letter.encode("utf-16-le")) * 2)
    assert cut_to(fits) == fits
    cut = cut_to(letter * MOST_CHARACTERS * 2)
    assert cut.endswith("…")
    assert cut.strip("…") == letter * (len(cut) - 1)
    assert len(cut.encode("utf-16-le")) // 2 in (MOST_CHARACTERS, MOST_CHARACTERS - 1)


def test_values_become_what_cells_hold():
    held = [np.float64(0.5), np.int64(3), np.bool_(True), None, float("inf"), ("b", "a"), ()]
    assert list(map(plain_value, held)) == [0.5, 3, True, None, None, "b, a", ""]
    assert [type(plain_value(one)) for one in held[:3]] == [float, int, bool]
