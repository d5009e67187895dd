from __future__ import annotations

import io
import math
import zipfile
from xml.etree import ElementTree as ET

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.exceptions import MisfeatWarning
from misfeat.show.export import excel
from misfeat.show.export.cells import begins_as_formula, cut_to, plain_value
from misfeat.show.export.excel import workbook_bytes
from misfeat.show.export.glossary import COUNT, SCORE, SHARE, TEXT, Column
from misfeat.show.export.tables import AnswerTable
from tests.show.export.hostile import TEXTS


def loaded(*tables):
    return openpyxl.load_workbook(io.BytesIO(workbook_bytes(tables)))


def of_texts(texts):
    return AnswerTable("texts", "?", (Column("=text", TEXT),), (list(texts),))


def check_text_cells(sheet):
    """No cell is a formula, and none becomes one when it is edited."""
    for row in sheet.iter_rows():
        for cell in row:
            assert cell.data_type != "f"
            if isinstance(cell.value, str):
                assert cell.data_type == "s"
                assert bool(cell.quotePrefix) == begins_as_formula(cell.value)


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(exclude_categories=())) | st.sampled_from(TEXTS), min_size=1))
def test_text_is_text_whatever_it_holds(texts):
    sheet = loaded(of_texts(texts))["texts"]
    check_text_cells(sheet)
    found = [row[0].value or "" for row in sheet.iter_rows(min_row=2, max_row=len(texts) + 1)]
    expected = [cut_to(plain_value(text)) for text in texts]
    assert [one.replace("_x005F_", "_") for one in found] == [
        one.replace("_x005F_", "_") for one in expected
    ]


def test_a_hostile_selection_is_read_back_as_it_is(hostile_tables):
    book = loaded(*hostile_tables)
    assert book.sheetnames == [table.title for table in hostile_tables]
    for table in hostile_tables:
        sheet = book[table.title]
        check_text_cells(sheet)
        heads, *lines = sheet.iter_rows(values_only=True)
        assert list(heads) == [column.name for column in table.columns]
        assert len(lines) == table.rows > 0
        for line, expected in zip(lines, table.lines(), strict=True):
            for value, held in zip(line, map(plain_value, expected), strict=True):
                check_value(value, held)


def check_value(value, held):
    if isinstance(held, str):
        assert (value or "").replace("_x005F_", "_") == held
    elif isinstance(held, float):
        assert math.isclose(value, held, rel_tol=1e-12, abs_tol=1e-300)
    else:
        assert value == held


def test_codes_of_characters_are_not_taken_for_characters():
    """Excel reads ``_x0041_`` as the letter A, unless its first underscore is written as a code."""
    with zipfile.ZipFile(io.BytesIO(workbook_bytes([of_texts(["_x0041_", "a_x"])]))) as archive:
        sheet = ET.fromstring(archive.read("xl/worksheets/sheet1.xml"))  # noqa: S314
    texts = [found.text for found in sheet.findall(".//{*}t")]
    assert texts == ["=text", "_x005F_x0041_", "a_x"]


def test_numbers_have_digits_by_what_they_are_and_heads_stay_in_view():
    columns = (Column("share", SHARE), Column("score", SCORE), Column("rows", COUNT))
    sheet = loaded(AnswerTable("a", "?", columns, ([0.1234567], [0.25], [1200])))["a"]
    shown = [(cell.value, cell.number_format) for cell in sheet[2]]
    assert shown == [(0.1234567, "0.0%"), (0.25, "0.0000"), (1200, "#,##0")]
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:C2"
    assert all(cell.font.bold for cell in sheet[1])


def test_a_column_is_as_wide_as_its_text_up_to_a_limit():
    narrow, wide = (loaded(of_texts(["x" * n]))["texts"] for n in (20, 500))
    assert narrow.column_dimensions["A"].width == 22
    assert wide.column_dimensions["A"].width == excel.WIDEST + 2
    assert wide["A2"].alignment.wrap_text


def test_a_table_without_lines_says_why():
    sheet = loaded(AnswerTable("a", "?", note="=nothing"))["a"]
    assert [cell.value for cell in sheet["A"]] == ["note", "=nothing"]
    check_text_cells(sheet)


def test_lines_that_a_sheet_cannot_hold_are_said_to_be_left_out(monkeypatch):
    monkeypatch.setattr(excel, "MOST_LINES", 3)
    with pytest.warns(MisfeatWarning, match=r"'texts' has 5 lines.* holds 3.* folder of CSV"):
        sheet = loaded(of_texts("abcde"))["texts"]
    assert [cell.value for cell in sheet["A"]] == ["=text", "a", "b", "c"]
    assert sheet.auto_filter.ref == "A1:A4"
