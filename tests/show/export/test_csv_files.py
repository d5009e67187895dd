from __future__ import annotations

import csv
import io
import math
import zipfile

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import MisfeatError
from misfeat.show.export.cells import inert, plain_value
from misfeat.show.export.csv_files import (
    FILES,
    check_folder,
    csv_text,
    file_name,
    write_folder,
    zip_bytes,
)
from misfeat.show.export.glossary import TEXT, Column
from misfeat.show.export.tables import AnswerTable
from tests.show.export.hostile import TEXTS
from tests.show.export.test_cells import runs


def of_texts(texts, title="features"):
    return AnswerTable(title, "?", (Column("=a", TEXT), Column("b", TEXT)), (texts, texts))


def read(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@given(st.lists(st.text(st.characters(exclude_categories=())) | st.sampled_from(TEXTS), min_size=1))
def test_no_cell_is_run_and_every_cell_is_read_back(texts):
    heads, *lines = read(csv_text(of_texts(texts)))
    assert heads == ["'=a", "b"]
    assert lines == [[inert(plain_value(text))] * 2 for text in texts]
    assert not [cell for line in lines for cell in line if runs(cell)]


def test_a_hostile_selection_is_read_back_as_it_is(hostile_tables):
    for table in hostile_tables:
        heads, *lines = read(csv_text(table))
        assert heads == [column.name for column in table.columns]
        assert len(lines) == table.rows > 0
        for line, expected in zip(lines, table.lines(), strict=True):
            assert not [cell for cell in line if runs(cell)]
            for cell, value in zip(line, map(plain_value, expected), strict=True):
                check_cell(cell, value)


def check_cell(cell, value):
    if isinstance(value, bool):
        assert cell == str(value).lower()
    elif isinstance(value, int | float):
        assert math.isclose(float(cell), value, rel_tol=0, abs_tol=0)
    else:
        assert cell == inert(value or "")


def test_pandas_reads_numbers_as_numbers_and_flags_as_flags(fitted, tmp_path):
    fitted.export(tmp_path / "a.csv", "top")
    found = pd.read_csv(tmp_path / "a.csv", float_precision="round_trip")
    expected = fitted.top_k()
    for name in ("score", "low", "high", "share", "rank"):
        assert (found[name] == expected[name]).all()
    assert found["features"].tolist() == [", ".join(one) for one in expected["features"]]
    fitted.export(tmp_path / "b.csv", "significance")
    assert pd.read_csv(tmp_path / "b.csv")["more_than_chance"].dtype == bool


def test_a_table_without_columns_says_why_and_one_without_lines_keeps_its_heads():
    assert csv_text(AnswerTable("why", "?", note="no, rows")) == 'note\n"no, rows"\n'
    assert csv_text(of_texts([])) == "'=a,b\n"


def test_an_older_export_is_replaced_and_what_it_held_more_goes(tmp_path):
    folder = tmp_path / "new" / "answers"
    write_folder(folder, [of_texts(["a"], title) for title in ("features", "best sets")])
    check_folder(folder)
    write_folder(folder, [of_texts(["b"])])
    assert [file.name for file in folder.iterdir()] == ["features.csv"]
    assert read((folder / "features.csv").read_text(encoding="utf-8"))[1] == ["b", "b"]


def test_a_folder_of_others_is_refused(tmp_path):
    (tmp_path / "features.csv").touch()
    (tmp_path / ".hidden").touch()
    check_folder(tmp_path)
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(MisfeatError, match=r"holds 'thesis\.txt', which is no part of an export"):
        check_folder(tmp_path)


def test_an_archive_holds_the_same_files(tmp_path):
    tables = [of_texts(["a"], title) for title in ("features", "best sets")]
    write_folder(tmp_path, tables)
    with zipfile.ZipFile(io.BytesIO(zip_bytes(tables))) as archive:
        assert sorted(archive.namelist()) == sorted(file.name for file in tmp_path.iterdir())
        for name in archive.namelist():
            assert archive.read(name) == (tmp_path / name).read_bytes()


def test_every_table_has_a_file_of_its_own():
    assert len(set(FILES)) == len(FILES)
    assert file_name("worth collecting") in FILES
