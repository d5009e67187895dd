import builtins
import gzip
import os
from itertools import product

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misfeat import DamagedFileError, MisfeatError
from misfeat.cohorts import Coding, build_cohorts
from misfeat.reading import files
from misfeat.reading.files import MEMORY_A_THREAD, connect

ROWS = "".join(f"{n % 3},{n % 2},{n % 5}\n" for n in range(60))
WORDS = "".join(f"{n % 3},{n % 2},{'north' if n % 5 else 'south'}\n" for n in range(60))


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def packed(text, ending):
    """Bytes as files of an ending hold them."""
    if ending == "csv.zst":
        return pa.compress(text, "zstd", asbytes=True)
    return gzip.compress(text) if ending == "csv.gz" else text


def test_spellings_of_nothing_are_missing(tmp_path):
    path = write(tmp_path / "t.csv", "x,y\n1,0\nNA,1\n,0\nn/a,1\n2,0\nNaT,1\n3,1\n?,0\n#NUM!,0\n")
    cohorts = build_cohorts(path, "y", coding=Coding(missing_values="?"))
    assert cohorts.categories[0] == ("1", "2", "3", "missing")


def test_numbers_with_a_code_among_them_are_numbers_from_a_file_and_from_a_frame(tmp_path):
    values = [*map(str, range(30)), "?"] * 2
    frame = pl.DataFrame({"x": values, "y": [0, 1] * 31})
    frame.write_csv(tmp_path / "t.csv")
    from_file = build_cohorts(tmp_path / "t.csv", "y", coding=Coding(missing_values="?"))
    assert from_file.columns[0].treatment == "5 quantile bins"
    assert from_file.equals(build_cohorts(frame, "y", coding=Coding(missing_values="?")))


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("t.parquet", "not parquet at all", "cannot be read as Parquet"),
        ("t.csv.gz", "this is not gzip", "cannot be read as CSV"),
        ("t.xls", "zip", "is not a file that can be read; expected one that ends in .csv"),
        ("t.xlsx", "zip", "cannot be read; check that it is whole"),
        ("t.csv", "", "is empty"),
        ("t.csv", ",", "is empty"),
    ],
)
def test_files_that_cannot_be_used_are_refused_by_name(tmp_path, name, text, complaint):
    with pytest.raises(MisfeatError, match=complaint) as caught:
        build_cohorts(write(tmp_path / name, text), "y")
    assert name in str(caught.value)


def test_places_without_a_table_are_refused(tmp_path):
    for path, complaint in (
        (tmp_path / "none.csv", r"There is no file .*none\.csv"),
        (f"{tmp_path}/*.parquet", "There is no file"),
        (tmp_path, "holds no Parquet file"),
        ("a" * 5000 + ".csv", "cannot be read: File name too long"),
    ):
        with pytest.raises(MisfeatError, match=complaint):
            build_cohorts(path, "y")


def test_files_that_do_not_go_together_are_refused(tmp_path):
    write(tmp_path / "a.csv", "x,y\n1,0\n2,1\n")
    with pytest.raises(MisfeatError, match="target of a file"):
        build_cohorts(tmp_path / "a.csv", [0, 1])
    write(tmp_path / "b.csv", "y,x\n1,0\n2,1\n")
    with pytest.raises(MisfeatError, match=r"b\.csv' has the columns 'y', 'x', but"):
        build_cohorts(f"{tmp_path}/*.csv", "y")
    pl.DataFrame({"A": [1], "a": [2], "y": [0]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(MisfeatError, match="two columns named 'a'"):
        build_cohorts(tmp_path / "t.parquet", "y")
    with pytest.raises(MisfeatError, match="both CSV and Parquet"):
        build_cohorts(f"{tmp_path}/*", "y")


def test_a_folder_of_csv_files_is_refused_with_the_glob_that_reads_them(tmp_path):
    for number in range(2):
        write(tmp_path / f"{number}.csv", "x,y\n1,0\n2,1\n")
    pattern = f"{tmp_path}/*.csv"
    with pytest.raises(MisfeatError, match="holds no Parquet file") as caught:
        build_cohorts(tmp_path, "y")
    assert repr(pattern) in str(caught.value)
    assert build_cohorts(pattern, "y").weights.sum() == 4


@pytest.mark.parametrize(("bad", "ending"), [("a", "csv"), ("b", "csv"), ("b", "parquet")])
def test_the_bad_one_of_several_files_is_named(tmp_path, bad, ending):
    for name in "ab":
        frame = pl.DataFrame({"x": [1, 2], "y": [0, 1]})
        path = tmp_path / f"{name}.{ending}"
        frame.write_parquet(path) if ending == "parquet" else frame.write_csv(path)
    (tmp_path / f"{bad}.{ending}").write_bytes(b"x,y\n1,0\n\xff\xfe\x00\x01,2\n")
    with pytest.raises(MisfeatError, match=rf"^'[^']*/{bad}\.{ending}' cannot be read"):
        build_cohorts(f"{tmp_path}/*.{ending}", "y")


def test_without_duckdb_the_remedy_is_named(tmp_path, monkeypatch):
    real = builtins.__import__

    def without_duckdb(name, *args, **kwargs):
        if name == "duckdb":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_duckdb)
    with pytest.raises(MisfeatError, match=r"pip install 'misfeat\[duckdb\]'"):
        build_cohorts(write(tmp_path / "t.csv", "x,y\n1,0\n"), "y")


def test_brackets_in_a_name_are_no_pattern(tmp_path):
    write(tmp_path / "a[1].csv", "x,y\n1,0\n2,1\n")
    write(tmp_path / "a1.csv", "z,y\n1,0\n2,1\n")
    assert build_cohorts(tmp_path / "a[1].csv", "y").features == ("x",)


def test_endings_may_be_capitals(tmp_path):
    frame = pl.DataFrame({"x": [1, 2], "y": [0, 1]})
    frame.write_parquet(tmp_path / "T.PARQUET")
    with gzip.open(tmp_path / "T.CSV.GZ", "wt") as file:
        file.write("x,y\n1,0\n2,1\n")
    for name in ("T.PARQUET", "T.CSV.GZ"):
        assert build_cohorts(tmp_path / name, "y").features == ("x",)


def test_partition_folders_are_a_column(tmp_path):
    for site in ("va", "zh"):
        (tmp_path / f"site={site}").mkdir()
        pl.DataFrame({"x": [1, 2], "y": [0, 1]}).write_parquet(tmp_path / f"site={site}/t.parquet")
    assert build_cohorts(tmp_path, "y", groups="site").names == ("site=va", "site=zh")


WRITTEN = [
    ("\n\nx,y\n1,0\n2,1\n", ("x",)),  # leading blank lines are no header
    ("x;y;z\n" + "1,5;0;a\n2,5;1;b\n" * 20, ("x", "z")),  # a decimal comma is no delimiter
    ("a,b,a,A,y\n" + "1,2,3,4,0\n5,6,7,8,1\n" * 9, ("a", "b", "a.1", "A")),
    ("a,a,a.1,y\n" + "1,2,3,0\n5,6,7,1\n" * 9, ("a", "a.2", "a.1")),
    ("'x','y'\n" + "'1, 2','0'\n'3','1'\n" * 20, ("x",)),
    ('x;y;"z"\n' + '"a \\"b\\"; c";0;1\nd;1;2\n' * 20, ("x", "z")),  # quotes behind backslashes
    ("x, cm, in;y;z, kg\n" + "1,5;0;a\n2,5;1;b\n" * 20, ("x, cm, in", "z, kg")),
    ("NA,y,null\n" + "1,0,3\n2,1,4\n" * 10, ("NA", "null")),
    ('x,y,"z\nz"\r\n' + '"0\n",0,"one\ntwo"\r\n"1\n",1,"three\n"\r\n' * 30, ("x", "z\nz")),
]


def test_columns_have_the_names_that_their_header_says(tmp_path):
    for text, features in WRITTEN:
        (tmp_path / "t.csv").write_bytes(text.encode())
        assert build_cohorts(tmp_path / "t.csv", "y").features == features


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_pipe_or_a_device_is_no_file(tmp_path, name):
    os.mkfifo(tmp_path / name)
    (tmp_path / f"zero.{name}").symlink_to("/dev/zero")
    for path in (tmp_path / name, tmp_path / f"zero.{name}"):
        with pytest.raises(MisfeatError, match="is not a plain file; copy it to one"):
            build_cohorts(path, "y")


def test_a_connection_has_so_many_threads(monkeypatch):
    monkeypatch.setattr("joblib.effective_n_jobs", lambda _: 16)
    monkeypatch.setattr(files, "allowed_memory", lambda: 10 * MEMORY_A_THREAD)
    connection, close = connect("rows.parquet")
    try:
        assert connection.execute("SELECT current_setting('threads')").fetchone() == (4,)
    finally:
        close()


def test_a_row_with_too_few_or_too_many_cells_is_named(tmp_path):
    for text, row, expected, found in (
        (f"x,y,z\n{ROWS}1", 62, 3, 1),
        (f"x,y,z\n{ROWS}1,0", 62, 3, 2),
        (f"x,y,z\n1,0\n{ROWS}", 2, 3, 2),
        (f"x,y,z\n{ROWS}1,2,3,4\n{ROWS}", 62, 3, 4),
        (f'x,y,z\n"1\n2",0,1\n1,0\n{ROWS}', 3, 3, 2),
        (f"x,y\n{ROWS}", 2, 2, 3),
        ("x;y\n" + "1;0\n" * 40 + "2", 42, 2, 1),
    ):
        reason = rf"t\.csv' cannot be .*Row #{row}: Expected {expected} columns, got {found}"
        with pytest.raises(DamagedFileError, match=reason):
            build_cohorts(write(tmp_path / "t.csv", text), "y")


@pytest.mark.parametrize(
    ("above", "line"),
    [("Report 2020\n\nby a registry\n", 4), ("# a, b\n", 2), ("sep=,\n", 2), ("\n\n", 3), ("", 0)],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_stands_above_the_header_is_not_read_and_noted(tmp_path, above, line, end):
    text = f"{above}x,y,z\n{WORDS}".replace("\n", end)
    (tmp_path / "t.csv").write_bytes(text.encode())
    found = build_cohorts(tmp_path / "t.csv", "y")
    assert (found.features, found.weights.sum()) == (("x", "z"), 60)
    assert [f"is its line {line}; what stands" in note for note in found.notes] == [True] * bool(
        line
    )


@pytest.mark.parametrize("header", ["#x,y,z", "x y z", '"a\nx",y,z'])
def test_other_lines_are_headers(tmp_path, header):
    rows = f"{header}\n{WORDS}" if "," in header else f"{header}\n" + "1,5 0 a\n2,5 1 b\n" * 20
    found = build_cohorts(write(tmp_path / "t.csv", rows), "y")
    assert (len(found.features), found.notes[1:]) == (2, ())


@pytest.mark.parametrize(
    ("mark", "ending", "above"), [(" ", "txt", ""), ("\t", "tab", ""), (",", "csv", "\n# drawn\n")]
)
def test_a_header_need_not_name_names_of_rows(tmp_path, mark, ending, above):
    rows = "".join(f"r{at},{row}\n" for at, row in enumerate(WORDS.split()))
    text = f"{above}x,y,z\n{rows}".replace(",", mark)
    found = build_cohorts(write(tmp_path / f"t.{ending}", text), "y")
    assert (found.features, found.weights.sum()) == (("x", "z"), 60)
    with pytest.raises(DamagedFileError, match=r"Row #62: Expected 4 columns, got 3"):
        build_cohorts(write(tmp_path / f"t.{ending}", f"{text}r{mark}1{mark}0"), "y")


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_thousands_with_points_stand_beside_greater_whole_numbers(tmp_path):
    def coded(cells):
        lines = (f"{cells[n % 4]},{n % 2}\n" for n in range(80))
        return build_cohorts(write(tmp_path / "t.csv", "x,y\n" + "".join(lines)), "y").columns[0]

    assert coded(["1.112", "942", "1.060", "880"]).categories == ("880", "942", "1.060", "1.112")
    assert coded(["1.333", "2", "2.667", "3"]).categories == ("1.333", "2", "2.667", "3")


def test_a_quote_that_nothing_closes_is_named(tmp_path):
    lines = f"x,y,z\n{ROWS}".splitlines()
    for at, column in product((3, 20), range(3)):
        cells = lines[at].split(",")
        cells[column] = f'"{cells[column]}'
        text = "\n".join([*lines[:at], ",".join(cells), *lines[at + 1 :]])
        with pytest.raises(DamagedFileError, match=f"Row #{at + 1} opens a quote that nothing"):
            build_cohorts(write(tmp_path / "t.csv", text), "y")


def test_a_note_below_the_table_is_named(tmp_path):
    for note in ("Source: a registry\n", "\n(60 rows affected)\n", "one\ntwo"):
        with pytest.raises(DamagedFileError, match=r"got 1.*looks like a note below the table"):
            build_cohorts(write(tmp_path / "t.csv", f"x,y,z\n{ROWS}{note}"), "y")


@pytest.mark.parametrize("ending", ["txt", "tab", "TXT.gz"])
def test_text_files_of_other_endings_are_read(tmp_path, ending):
    text = f"x,y,z\n{WORDS}".replace(",", "\t").encode()
    (tmp_path / f"t.{ending}").write_bytes(gzip.compress(text) if "gz" in ending else text)
    expected = build_cohorts(write(tmp_path / "t.csv", f"x,y,z\n{WORDS}"), "y")
    assert build_cohorts(tmp_path / f"t.{ending}", "y").equals(expected)


@pytest.mark.parametrize("n_before", [30, 30_000])
def test_the_first_doubled_quote_may_come_late(tmp_path, n_before):
    plain = 'north,0\n"south, east",1\n' * n_before
    path = write(tmp_path / "t.csv", f'x,y\n{plain}"the ""old"", ward",1\n')
    assert build_cohorts(path, "y").categories[0] == ("north", "south, east", 'the "old", ward')


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "tsv"])
def test_text_of_other_encodings_is_read_with_a_note(tmp_path, encoding, ending):
    text = f"x,y,ä\n{WORDS}" + '1,0,"é\r\nö"\n' * 3
    path = tmp_path / f"t.{ending}"
    coded = (text.replace(",", "\t") if ending == "tsv" else text).encode(encoding)
    path.write_bytes(packed(coded, ending))
    found = build_cohorts(path, "y")
    expected = build_cohorts(write(tmp_path / "same.csv", text), "y")
    assert (found.features, found.categories) == (expected.features, expected.categories)
    assert np.array_equal(found.codes, expected.codes)
    assert any("is not UTF-8 and is read as" in note for note in found.notes)


def test_a_letter_of_another_encoding_may_come_late_but_not_among_letters_of_utf8(tmp_path):
    path, late = tmp_path / "t.csv", "1,0,é\n".encode("latin-1")
    path.write_bytes(f"x,y,z\n{WORDS * 500}".encode() + late)
    assert "é" in build_cohorts(path, "y").categories[1]
    path.write_bytes(f"x,y,z\n{WORDS}1,0,ö\n".encode() + late)
    with pytest.raises(DamagedFileError, match=r"t\.csv' cannot be read as CSV"):
        build_cohorts(path, "y")
    path.write_bytes(bytes(range(256)) * 50)
    with pytest.raises(DamagedFileError, match=r"t\.csv' cannot be read as CSV"):
        build_cohorts(path, "y")


def test_columns_that_share_a_name_are_noted(tmp_path):
    path = write(tmp_path / "t.csv", "a,a,y\n" + "1,2,0\n3,4,1\n" * 9)
    assert "Columns that share a name are numbered: 'a.1'." in build_cohorts(path, "y").notes


@pytest.mark.parametrize(
    ("ending", "damage"), [("csv.gz", "cut"), ("csv.gz", "checksum"), ("csv.zst", "cut")]
)
def test_a_packed_file_that_is_not_whole_is_refused(tmp_path, ending, damage):
    whole = packed(f"x,y,z\n{ROWS}".encode(), ending)
    changed = whole[:-8] + b"\0\0\0\0" + whole[-4:]
    path = tmp_path / f"t.{ending}"
    path.write_bytes(whole[: len(whole) // 2] if damage == "cut" else changed)
    with pytest.raises(DamagedFileError, match=rf"t\.{ending}' cannot be read as CSV"):
        build_cohorts(path, "y")


@pytest.mark.parametrize("ends", [("\r\n", "\n"), ("\n", "\r\n"), ("\n", "\r\n", "\r")])
def test_lines_may_end_in_different_ways(tmp_path, ends):
    lines = f"x,y,z\n{ROWS}".splitlines()
    path = tmp_path / "t.csv"
    ended = (f"{line}{ends[n % len(ends)]}" for n, line in enumerate(lines))
    path.write_bytes("".join(ended).encode())
    same = write(tmp_path / "same.csv", f"x,y,z\n{ROWS}")
    assert build_cohorts(path, "y").equals(build_cohorts(same, "y"))


def test_what_duckdb_says_is_passed_on_whole(tmp_path):
    path = write(tmp_path / "t.csv", f'x,y,z\n{ROWS}"{"q" * 3_000_000}",0,1\n')
    with pytest.raises(DamagedFileError, match="Maximum line size of 2000000 bytes exceeded"):
        build_cohorts(path, "y")


def test_flags_are_written_true_and_false_and_other_words_are_words(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(
        f"{'TRUE' if i % 3 else 'false'},{'yes' if i % 2 else 'no'},{i % 2}\n" for i in range(60)
    )
    path.write_text('"a ""b""",c,y\n' + rows, encoding="utf-8")
    first, second, _ = build_cohorts(path, "y").columns
    assert (first.taken_for, first.categories) == ("flag", ("False", "True"))
    assert (second.taken_for, second.categories) == ("category", ("no", "yes"))


def table(rows=5000):
    random = np.random.default_rng(1)
    return pa.table(
        {
            "x": random.integers(0, 9, rows),
            "z": random.normal(size=rows),
            "text": random.choice(["a", "b"], rows),
            "list": [[1, 2]] * rows,
            "nothing": pa.nulls(rows),
            "y": random.integers(0, 2, rows),
        }
    )


def test_whole_files_of_any_form_are_read(tmp_path):
    whole = table().drop_columns(["list", "nothing"])
    for options in (
        {"data_page_version": "2.0", "write_page_checksum": True},
        {"compression": "zstd", "row_group_size": 700},
        {"use_dictionary": False, "column_encoding": {"z": "BYTE_STREAM_SPLIT"}},
        {"compression": "none", "data_page_size": 500, "write_page_checksum": True},
    ):
        pq.write_table(whole, tmp_path / "t.parquet", **options)
        assert build_cohorts(tmp_path / "t.parquet", "y").features == ("x", "z", "text")


def test_what_an_engine_says_of_a_page_is_about_the_file(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(table(), path, compression="snappy")
    place = pq.read_metadata(path).row_group(0).column(1).data_page_offset + 200
    content = path.read_bytes()
    path.write_bytes(content[:place] + b"\xff" * 300 + content[place + 300 :])
    with pytest.raises(DamagedFileError, match=r"t\.parquet"):
        build_cohorts(path, "y")


def test_not_a_number_in_a_parquet_file_is_missing_as_a_null_is(tmp_path):
    gap, y = float("nan"), np.array([0, 1] * 10)
    for values in ([1.5, gap, 2.5, 3.5] * 5, [gap if i % 7 == 0 else i * 1.37 for i in range(20)]):
        file = tmp_path / "table.parquet"
        pq.write_table(pa.table({"a": values, "y": y}), file)
        found = build_cohorts(str(file), "y")
        expected = build_cohorts({"a": np.array(values), "y": y}, "y")
        assert found.categories == expected.categories
        assert np.array_equal(found.codes, expected.codes)
