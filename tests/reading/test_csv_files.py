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
    ("text", "row", "expected", "found"),
    [
        (f"x,y,z\n{ROWS}1", 62, 3, 1),
        (f"x,y,z\n{ROWS}1,0", 62, 3, 2),
        (f"x,y,z\n1,0\n{ROWS}", 2, 3, 2),
        (f"x,y,z\n{ROWS}1,2,3,4\n{ROWS}", 62, 3, 4),
        (f'x,y,z\n"1\n2",0,1\n1,0\n{ROWS}', 3, 3, 2),
        (f"x,y\n{ROWS}", 2, 2, 3),
        ("x;y\n" + "1;0\n" * 40 + "2", 42, 2, 1),
    ],
)
def test_a_row_with_too_few_or_too_many_cells_is_named(tmp_path, text, row, expected, found):
    path = write(tmp_path / "t.csv", text)
    reason = rf"t\.csv' cannot be read as CSV.*Row #{row}: Expected {expected} columns, got {found}"
    with pytest.raises(DamagedFileError, match=reason):
        build_cohorts(path, "y")


def test_a_decimal_comma_is_no_delimiter(tmp_path):
    path = write(tmp_path / "t.csv", "x;y;z\n" + "1,5;0;a\n2,5;1;b\n" * 20)
    assert build_cohorts(path, "y").features == ("x", "z")


@pytest.mark.parametrize("n_before", [30, 30_000])
def test_the_first_doubled_quote_may_come_late(tmp_path, n_before):
    plain = 'north,0\n"south, east",1\n' * n_before
    path = write(tmp_path / "t.csv", f'x,y\n{plain}"the ""old"", ward",1\n')
    assert build_cohorts(path, "y").categories[0] == ("north", "south, east", 'the "old", ward')


def test_columns_of_the_same_name_are_numbered(tmp_path):
    path = write(tmp_path / "t.csv", "a,b,a,A,y\n" + "1,2,3,4,0\n5,6,7,8,1\n" * 9)
    assert build_cohorts(path, "y").features == ("a", "b", "a_1", "A_2")


def test_one_column_is_a_table(tmp_path):
    path = write(tmp_path / "t.csv", "y\n" + "1\n0\n" * 20)
    with pytest.raises(MisfeatError) as caught:
        build_cohorts(path, "z")
    assert "no column 'z'" in str(caught.value)


def test_names_that_spell_nothing_are_names(tmp_path):
    path = write(tmp_path / "t.csv", "NA,y,null\n" + "1,0,3\n2,1,4\n" * 10)
    assert build_cohorts(path, "y").features == ("NA", "null")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_text_that_is_not_utf8_is_refused_with_the_remedy(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(f"x,y,ä\n{ROWS}".encode(encoding))
    with pytest.raises(DamagedFileError, match=r"its text UTF-8\. \(.*codec can't decode byte"):
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


@pytest.mark.parametrize("ends", [("\r\n", "\n"), ("\n", "\r\n"), ("\n", "\r\n", "\r")])
def test_lines_may_end_in_different_ways(tmp_path, ends):
    lines = f"x,y,z\n{ROWS}".splitlines()
    path = tmp_path / "t.csv"
    ended = (f"{line}{ends[n % len(ends)]}" for n, line in enumerate(lines))
    path.write_bytes("".join(ended).encode())
    same = write(tmp_path / "same.csv", f"x,y,z\n{ROWS}")
    assert build_cohorts(path, "y").equals(build_cohorts(same, "y"))


def test_breaks_within_cells_may_be_others_than_the_ends_of_lines(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f'"{n % 3}\n",{n % 2},"one\ntwo {n % 5}"\r\n' for n in range(60))
    path.write_bytes(f'x,y,"z\nz"\r\n{rows}'.encode())
    assert build_cohorts(path, "y").features == ("x", "z\nz")


def test_what_duckdb_says_is_passed_on_whole(tmp_path):
    path = write(tmp_path / "t.csv", f'x,y,z\n{ROWS}"{"q" * 3_000_000}",0,1\n')
    with pytest.raises(DamagedFileError, match="Maximum line size of 2000000 bytes exceeded"):
        build_cohorts(path, "y")


def test_a_very_long_name_of_a_column_is_a_name(tmp_path):
    path = write(tmp_path / "t.csv", f"{'x' * 200_000},y,z\n{ROWS}")
    assert build_cohorts(path, "y").features == ("x" * 200_000, "z")


def test_flags_are_written_true_and_false_and_other_words_are_words(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(
        f"{'TRUE' if i % 3 else 'false'},{'yes' if i % 2 else 'no'},{i % 2}\n" for i in range(60)
    )
    path.write_text('"a ""b""",c,y\n' + rows, encoding="utf-8")
    first, second, _ = build_cohorts(path, "y").columns
    assert (first.taken_for, first.categories) == ("flag", ("False", "True"))
    assert (second.taken_for, second.categories) == ("category", ("no", "yes"))
