import csv
import io
import math
import zipfile
from xml.etree import ElementTree as ET

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.exceptions import MisfeatWarning
from misfeat.show import export
from misfeat.show.export import (
    MOST_CHARACTERS,
    AnswerTable,
    begins_as_formula,
    csv_bytes,
    inert,
    legal_text,
    plain_value,
    workbook_bytes,
)
from misfeat.show.terminal import in_a_row
from tests.show.export.conftest import TEXTS

ANY_TEXT = st.text(st.characters(exclude_categories=()))
MANY_TEXTS = st.lists(ANY_TEXT | st.sampled_from(TEXTS), min_size=1)
SIGNS = "=+-@＝＋－＠"
RUNS = st.builds(
    lambda before, sign, after: before + sign + after,
    st.text(" \t\r\n\"'\xa0\u3000;", max_size=4),
    st.sampled_from(SIGNS),
    ANY_TEXT,
)
"""Text that is a formula to some spreadsheet, as likely as not."""


def table_of(title="texts", note="", **columns):
    return AnswerTable("", title, "?", columns, note=note)


def read(content):
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def loaded(*tables):
    return openpyxl.load_workbook(io.BytesIO(workbook_bytes(tables)))


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
    assert inert(text).replace("'", "") == text.replace("'", "")


def test_numbers_and_signs_within_text_are_left_alone_and_formulas_are_known():
    for text in ("-1", "+2.5", "-1e-05", "0", "a=1", "site=a & b<=-1", "a-b"):
        assert inert(text) == text
    for text in ("=1", " =1", '"=1', "'+1", "＝1", "\xa0@a", "-1-1"):
        assert begins_as_formula(text)


@given(ANY_TEXT | st.sampled_from(TEXTS))
def test_every_text_can_be_held_by_xml_and_utf_8(text):
    legal = legal_text(text)
    assert legal.encode().decode() == legal
    assert not [letter for letter in legal if letter < " " or letter in "\x7f\ufffe\uffff"]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc"))), min_size=1, max_size=4))
def test_names_in_a_row_can_be_taken_apart_again(names):
    row = in_a_row(names)
    assert next(csv.reader(io.StringIO(row), skipinitialspace=True)) == names


@given(MANY_TEXTS)
def test_no_cell_of_a_csv_file_is_run_and_every_cell_is_read_back(texts):
    heads, *lines = read(csv_bytes(table_of(a=texts, b=texts)))
    assert heads == ["a", "b"]
    assert lines == [[inert(plain_value(text))] * 2 for text in texts]
    assert not [cell for line in lines for cell in line if runs(cell)]


def test_a_table_without_columns_says_why_and_one_without_lines_keeps_its_heads():
    assert csv_bytes(table_of(note="no, rows")) == b'note\n"no, rows"\n'
    assert csv_bytes(table_of(a=[], b=[])) == b"a,b\n"


def check_text_cells(sheet):
    """No cell is a formula, and none becomes one when it is edited."""
    for row in sheet.iter_rows():
        for cell in row:
            assert cell.data_type != "f"
            if isinstance(cell.value, str):
                assert cell.data_type == "s"
                assert bool(cell.quotePrefix) == begins_as_formula(cell.value)


@settings(max_examples=40)
@given(MANY_TEXTS)
def test_text_in_a_workbook_is_text_whatever_it_holds(texts):
    sheet = loaded(table_of(a=texts))["texts"]
    check_text_cells(sheet)
    found = [row[0].value or "" for row in sheet.iter_rows(min_row=2, max_row=len(texts) + 1)]
    for cell, text in zip(found, map(plain_value, texts), strict=True):
        whole = len(text.encode("utf-16-le")) <= 2 * MOST_CHARACTERS
        expected = text.replace("_x005F_", "_")
        shown = cell.replace("_x005F_", "_")
        assert shown == expected if whole else expected.startswith(shown.removesuffix("…"))


def test_workbooks_of_a_hostile_selection_are_read_back_as_they_are(hostile_tables):
    book = loaded(*hostile_tables)
    assert book.sheetnames == [table.title for table in hostile_tables]
    for table in hostile_tables:
        check_text_cells(book[table.title])
        heads, *lines = book[table.title].iter_rows(values_only=True)
        assert list(heads) == list(table.columns)
        assert len(lines) == table.rows > 0
        for line, expected in zip(lines, zip(*table.columns.values(), strict=True), strict=True):
            for value, held in zip(line, map(plain_value, expected), strict=True):
                if isinstance(held, str):
                    assert (value or "").replace("_x005F_", "_") == held
                elif isinstance(held, float):
                    assert math.isclose(value, held, rel_tol=1e-12, abs_tol=1e-300)
                else:
                    assert value == held


def test_codes_of_characters_are_not_taken_for_characters():
    """Excel reads ``_x0041_`` as the letter A, unless its first underscore is written as a code."""
    content = workbook_bytes([table_of(a=["_x0041_", "a_x"])])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        sheet = ET.fromstring(archive.read("xl/worksheets/sheet1.xml"))  # noqa: S314
    texts = [found.text for found in sheet.findall(".//{*}t")]
    assert texts == ["a", "_x005F_x0041_", "a_x"]


def test_numbers_have_digits_by_what_they_are_and_heads_stay_in_view():
    sheet = loaded(table_of(share=[0.1234567], score=[0.25], rows=[1200.0], sets=[7]))["texts"]
    shown = [(cell.value, cell.number_format) for cell in sheet[2]]
    assert shown == [(0.1234567, "0.0000"), (0.25, "0.0000"), (1200, "General"), (7, "General")]
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:D2"
    assert all(cell.font.bold for cell in sheet[1])


@pytest.mark.parametrize("letter", ["x", "\N{GRINNING FACE}"])
def test_a_column_is_as_wide_as_its_text_and_text_is_cut_to_what_a_cell_holds(letter):
    narrow, wide = (loaded(table_of(a=[letter * n]))["texts"] for n in (20, 2 * MOST_CHARACTERS))
    assert narrow.column_dimensions["A"].width == 22
    assert wide.column_dimensions["A"].width == export.WIDEST + 2
    assert wide["A2"].alignment.wrap_text
    cut = wide["A2"].value
    assert cut.strip("…") == letter * (len(cut) - 1)
    assert len(cut.encode("utf-16-le")) // 2 in (MOST_CHARACTERS, MOST_CHARACTERS - 1)


def test_lines_that_a_sheet_cannot_hold_are_said_to_be_left_out(monkeypatch):
    monkeypatch.setattr(export, "MOST_LINES", 3)
    with pytest.warns(MisfeatWarning, match=r"'texts' has 5 lines.* holds 3.* folder of CSV"):
        sheet = loaded(table_of(a=list("abcde")))["texts"]
    assert [cell.value for cell in sheet["A"]] == ["a", "a", "b", "c"]
    assert sheet.auto_filter.ref == "A1:A4"
