import datetime as dt
from importlib.util import find_spec

import openpyxl
import pandas as pd
import pytest

from misfeat import DamagedFileError, MisfeatError, SubgroupSelector
from misfeat.cohorts import build_cohorts
from misfeat.reading import foreign_files

N = 60


def write_book(path):
    book = openpyxl.Workbook()
    first = book.active
    first.title = "visits"
    first.append([])
    first.append(["a", "b", "a", "when", "clock", None, "y"])
    for n in range(N):
        text = "x" if n % 2 else "#N/A"
        first.append(
            [n % 3, text, n / 2, dt.datetime(2024, 1, 1 + n % 4), dt.time(n % 5), None, n % 2]
        )
    second = book.create_sheet("2024")
    for row in (["p", "y"], *([n % 4, n % 2] for n in range(N))):
        second.append(row)
    book.save(path)


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_a_sheet_of_excel_is_the_first_or_the_one_named_behind_the_path(tmp_path):
    path = tmp_path / "t.xlsx"
    write_book(path)
    selector = SubgroupSelector(size=1).fit(path, "y")
    found = selector.cohorts_
    assert found.features == ("a", "b", "a.1", "when", "clock")
    assert found.categories[1] == ("x", "missing")
    assert found.categories[4] == tuple(f"0{hour}:00:00" for hour in range(5))
    assert any(f"{path}#2024" in note for note in found.notes)
    assert any("numbered: 'a.1'" in note for note in found.notes)
    assert build_cohorts(f"{path}#2024", "y").features == ("p",)
    with pytest.raises(MisfeatError, match="no sheet 'x'; it has 'visits', '2024'"):
        build_cohorts(f"{path}#x", "y")
    with pytest.raises(MisfeatError, match=r"There is no file .*none\.xlsx"):
        build_cohorts(tmp_path / "none.xlsx", "y")
    openpyxl.Workbook().save(path)
    with pytest.raises(MisfeatError, match="is empty"):
        build_cohorts(path, "y")


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_a_sheet_of_one_column_is_no_table_and_titles_are_no_header(tmp_path):
    path, book = tmp_path / "t.xlsx", openpyxl.Workbook()
    for line in ("made by a registry", "in 2024"):
        book.active.append([line])
    second = book.create_sheet("data")
    for row in (["Visits"], [], [None, "y"], *([n % 4, n % 2] for n in range(N))):
        second.append(row)
    book.save(path)
    found = SubgroupSelector(size=1).fit(path, "y").cohorts_
    assert found.features == ("column0",)
    assert any("'data' is read" in note and f"{path}#Sheet" in note for note in found.notes)
    assert any("header of" in note and "is its line 3" in note for note in found.notes)
    with pytest.raises(MisfeatError, match=r"no column 'y'.*it has 'made by a registry'"):
        build_cohorts(f"{path}#Sheet", "y")


@pytest.mark.parametrize("ending", ["sav", "zsav", "por", "dta", "xpt"])
def test_files_of_stata_spss_and_sas_are_read_with_their_labels(tmp_path, ending):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame(
        {
            "sex": [1.0, 2.0, None] * 20,
            "age": [20.0, 30.0, 98.0, 41.0] * 15,
            "when": pd.to_datetime(["2024-01-01", "2024-01-02"] * 30),
            "y": [0.0, 1.0, 1.0, 0.0, 1.0] * 12,
        }
    )
    path, labels = str(tmp_path / f"t.{ending}"), {"sex": {1: "male", 2: "female"}}
    if ending == "xpt":  # neither it nor .por keeps labels when written so
        pyreadstat.write_xport(frame, path)
    elif ending == "por":
        pyreadstat.write_por(frame, path)
    elif ending == "dta":
        pyreadstat.write_dta(frame, path, variable_value_labels=labels)
    else:
        labels["age"] = {98: "98 or older"}  # the other values have none
        compress = ending == "zsav"
        pyreadstat.write_sav(frame, path, variable_value_labels=labels, compress=compress)
    found = build_cohorts(path, "Y" if ending == "por" else "y")  # whose names are capitals
    sexes = ("1", "2", "missing") if ending in ("xpt", "por") else ("female", "male", "missing")
    assert found.categories == (sexes, ("20", "30", "41", "98"), ("2024-01-01", "2024-01-02"))


def test_what_a_file_needs_is_named_and_what_is_damaged_is_told(tmp_path, monkeypatch):
    path = tmp_path / "t.sav"
    path.write_text("not a table")
    if find_spec("pyreadstat"):
        with pytest.raises(DamagedFileError, match=r"t\.sav' cannot be read; check"):
            build_cohorts(path, "y")

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(foreign_files, "import_module", absent)
    for name, package in (("t.sav", "pyreadstat"), ("t.xlsx", "openpyxl")):
        (tmp_path / name).touch()
        with pytest.raises(MisfeatError, match=rf"needs {package}; .* 'misfeat\[files\]'"):
            build_cohorts(tmp_path / name, "y")
