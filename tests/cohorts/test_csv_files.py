from __future__ import annotations

import gzip

import pytest

from misfeat import DamagedFileError, MisfeatError
from misfeat.cohorts import build_cohorts

ROWS = "".join(f"{n % 3},{n % 2},{n % 5}\n" for n in range(60))


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        (f"x,y,z\n{ROWS}1", 62, "1 cell"),
        (f"x,y,z\n{ROWS}1,0", 62, "2 cells"),
        (f"x,y,z\n1,0\n{ROWS}", 2, "2 cells"),
        (f"x,y,z\n{ROWS}1,2,3,4\n{ROWS}", 62, "4 cells"),
        (f'x,y,z\n"1\n2",0,1\n1,0\n{ROWS}', 4, "2 cells"),
        (f"x,y\n{ROWS}", 2, "3 cells"),
    ],
)
def test_a_row_with_too_few_or_too_many_cells_is_named_by_its_line(tmp_path, text, line, found):
    path = write(tmp_path / "t.csv", text)
    with pytest.raises(DamagedFileError, match=rf"t\.csv' has {found} in line {line}, but"):
        build_cohorts(path, "y")


def test_other_delimiters_do_not_hide_a_short_row(tmp_path):
    path = write(tmp_path / "t.csv", "x;y\n" + "1;0\n" * 40 + "2")
    with pytest.raises(DamagedFileError, match="1 cell in line 42, but 2 columns"):
        build_cohorts(path, "y")


def test_one_column_is_a_table(tmp_path):
    path = write(tmp_path / "t.csv", "y\n" + "1\n0\n" * 20)
    with pytest.raises(MisfeatError) as caught:
        build_cohorts(path, "z")
    assert "no column 'z'" in str(caught.value)


def test_names_that_spell_nothing_are_names(tmp_path):
    path = write(tmp_path / "t.csv", "NA,y,null\n" + "1,0,3\n2,1,4\n" * 10)
    assert build_cohorts(path, "y").features == ("NA", "null")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_wide_text_is_refused_with_the_remedy(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(f"x,y,z\n{ROWS}".encode(encoding))
    with pytest.raises(MisfeatError, match="save it as UTF-8"):
        build_cohorts(path, "y")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"PK\x03\x04\x00\x00" * 100)
    with pytest.raises(DamagedFileError, match=r"t\.csv' cannot be read as CSV: .* no text"):
        build_cohorts(path, "y")


@pytest.mark.parametrize("damage", ["cut", "checksum"])
def test_a_packed_file_that_is_not_whole_is_refused(tmp_path, damage):
    packed = gzip.compress(f"x,y,z\n{ROWS}".encode())
    changed = packed[:-8] + b"\0\0\0\0" + packed[-4:]
    path = tmp_path / "t.csv.gz"
    path.write_bytes(packed[: len(packed) // 2] if damage == "cut" else changed)
    with pytest.raises(DamagedFileError, match=r"t\.csv\.gz' cannot be read as CSV"):
        build_cohorts(path, "y")


def test_files_with_other_columns_are_refused(tmp_path):
    write(tmp_path / "a.csv", "x,y\n1,0\n2,1\n")
    write(tmp_path / "b.csv", "y,x\n1,0\n2,1\n")
    with pytest.raises(MisfeatError, match=r"b\.csv' has the columns 'y', 'x', but"):
        build_cohorts(f"{tmp_path}/*.csv", "y")


def test_breaks_within_cells_are_told_from_the_ends_of_lines(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f'{n % 3},"one\ntwo {n % 2}",{n % 2}\r\n' for n in range(30))
    path.write_bytes(f'x,"z\nz",y\r\n{rows}'.encode())
    with pytest.raises(DamagedFileError, match="hold line breaks of another kind"):
        build_cohorts(str(path), "y")


@pytest.mark.parametrize("ends", [("\r\n", "\n"), ("\n", "\r\n"), ("\n", "\r\n", "\r")])
def test_lines_that_end_in_different_ways_are_told(tmp_path, ends):
    lines = f"x,y,z\n{ROWS}".splitlines()
    path = tmp_path / "t.csv"
    ended = (f"{line}{ends[n % len(ends)]}" for n, line in enumerate(lines))
    path.write_bytes("".join(ended).encode())
    with pytest.raises(DamagedFileError, match=r"The lines of .*t\.csv' end in different ways \("):
        build_cohorts(path, "y")


def test_ends_of_lines_within_cells_may_be_others(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f'"{n % 3}\n",{n % 2},{n % 5}\r\n' for n in range(60))
    path.write_bytes(f"x,y,z\r\n{rows}".encode())
    assert build_cohorts(path, "y").features == ("x", "z")


def test_a_row_that_is_too_long_is_named_by_its_line(tmp_path):
    path = write(tmp_path / "t.csv", f'x,y,z\n{ROWS}"{"q" * 3_000_000}",0,1\n')
    with pytest.raises(MisfeatError, match=r"more than 2,000,000 characters in line 62") as refused:
        build_cohorts(path, "y")
    assert "qqq" not in str(refused.value)


def test_a_very_long_name_of_a_column_is_a_name(tmp_path):
    path = write(tmp_path / "t.csv", f"{'x' * 200_000},y,z\n{ROWS}")
    assert build_cohorts(path, "y").features == ("x" * 200_000, "z")
