from __future__ import annotations

import builtins
import gzip
import os

import polars as pl
import pytest

from misfeat import MisfeatError
from misfeat.cohorts import Coding, build_cohorts
from misfeat.reading import files
from misfeat.reading.files import MEMORY_A_THREAD, connect, threads_for


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_spellings_of_nothing_are_missing(tmp_path):
    path = write(tmp_path / "t.csv", "x,y\n1,0\nNA,1\n,0\nnull,1\n2,0\nNaN,1\n3,1\n?,0\n")
    cohorts = build_cohorts(path, "y", coding=Coding(missing_values="?"))
    assert cohorts.categories[0] == ("1", "2", "3", "missing")


def test_numbers_with_a_code_among_them_are_numbers_from_a_file_and_from_a_frame(tmp_path):
    values = [*map(str, range(30)), "?"] * 2
    frame = pl.DataFrame({"x": values, "y": [0, 1] * 31})
    frame.write_csv(tmp_path / "t.csv")
    from_file = build_cohorts(tmp_path / "t.csv", "y", coding=Coding(missing_values="?"))
    assert from_file.columns[0].treatment == "5 quantile bins"
    assert from_file.equals(build_cohorts(frame, "y", coding=Coding(missing_values="?")))


def test_other_delimiters_are_found(tmp_path):
    path = write(tmp_path / "t.csv", "x;y\n1;0\n2;1\n1;1\n")
    assert build_cohorts(path, "y").features == ("x",)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("t.parquet", "not parquet at all", "cannot be read as Parquet"),
        ("t.xlsx", "zip", "is not a file that can be read; expected one that ends in .csv"),
    ],
)
def test_files_that_cannot_be_used_are_refused_by_name(tmp_path, name, text, complaint):
    with pytest.raises(MisfeatError, match=complaint) as caught:
        build_cohorts(write(tmp_path / name, text), "y")
    assert name in str(caught.value)


def test_a_damaged_gzip_is_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(b"this is not gzip")
    with pytest.raises(MisfeatError, match=r"t\.csv\.gz"):
        build_cohorts(path, "y")


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(MisfeatError, match="empty"):
        build_cohorts(write(tmp_path / "t.csv", ""), "y")


def test_places_without_a_table_are_refused(tmp_path):
    with pytest.raises(MisfeatError, match=r"There is no file .*none\.csv"):
        build_cohorts(tmp_path / "none.csv", "y")
    with pytest.raises(MisfeatError, match="There is no file"):
        build_cohorts(f"{tmp_path}/*.parquet", "y")
    with pytest.raises(MisfeatError, match="holds no Parquet file"):
        build_cohorts(tmp_path, "y")


def test_a_glob_of_two_kinds_is_refused(tmp_path):
    write(tmp_path / "a.csv", "x,y\n1,0\n")
    pl.DataFrame({"x": [1], "y": [0]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(MisfeatError, match="both CSV and Parquet"):
        build_cohorts(f"{tmp_path}/*", "y")


def test_several_csv_files_are_one_table(tmp_path):
    for number in range(2):
        write(tmp_path / f"{number}.csv", "x,y\n1,0\n2,1\n")
    assert build_cohorts(f"{tmp_path}/*.csv", "y").weights.sum() == 4


def test_a_folder_of_csv_files_is_refused_with_the_glob_that_reads_them(tmp_path):
    for number in range(2):
        write(tmp_path / f"{number}.csv", "x,y\n1,0\n2,1\n")
    pattern = f"{tmp_path}/*.csv"
    with pytest.raises(MisfeatError, match="may hold Parquet files alone") as caught:
        build_cohorts(tmp_path, "y")
    assert repr(pattern) in str(caught.value)
    assert build_cohorts(pattern, "y").weights.sum() == 4


def test_a_folder_of_anything_is_not_searched_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_OTHERS", 20)
    deep = tmp_path
    for number in range(30):
        deep /= f"{number}"
    deep.mkdir(parents=True)
    pl.DataFrame({"x": [1, 2], "y": [0, 1]}).write_parquet(deep / "t.parquet")
    with pytest.raises(MisfeatError, match="holds mostly other files than Parquet"):
        build_cohorts(tmp_path, "y")


@pytest.mark.parametrize("bad", ["a", "b"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_bad_one_of_several_files_is_named(tmp_path, bad, ending):
    for name in "ab":
        frame = pl.DataFrame({"x": [1, 2], "y": [0, 1]})
        path = tmp_path / f"{name}.{ending}"
        frame.write_parquet(path) if ending == "parquet" else frame.write_csv(path)
    (tmp_path / f"{bad}.{ending}").write_bytes(b"x,y\n1,0\n\xff\xfe\x00\x01,2\n")
    with pytest.raises(MisfeatError, match=rf"^'[^']*/{bad}\.{ending}' cannot be read"):
        build_cohorts(f"{tmp_path}/*.{ending}", "y")


def test_the_target_of_a_file_is_a_column_of_it(tmp_path):
    with pytest.raises(MisfeatError, match="target of a file"):
        build_cohorts(write(tmp_path / "t.csv", "x,y\n1,0\n"), [0])


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


def test_columns_of_parquet_that_differ_in_case_are_refused(tmp_path):
    pl.DataFrame({"A": [1], "a": [2], "y": [0]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(MisfeatError, match="two columns named 'a'"):
        build_cohorts(tmp_path / "t.parquet", "y")


def test_partition_folders_are_a_column(tmp_path):
    for site in ("va", "zh"):
        (tmp_path / f"site={site}").mkdir()
        pl.DataFrame({"x": [1, 2], "y": [0, 1]}).write_parquet(tmp_path / f"site={site}/t.parquet")
    assert build_cohorts(tmp_path, "y", groups="site").names == ("site=va", "site=zh")


def test_leading_blank_lines_are_no_header(tmp_path):
    path = write(tmp_path / "t.csv", "\n\nx,y\n1,0\n2,1\n")
    assert build_cohorts(path, "y").features == ("x",)


def test_a_path_that_no_file_can_have_is_refused():
    with pytest.raises(MisfeatError, match="too long for a file"):
        build_cohorts("a" * 5000 + ".csv", "y")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_pipe_or_a_device_is_no_file(tmp_path, name):
    os.mkfifo(tmp_path / name)
    (tmp_path / f"zero.{name}").symlink_to("/dev/zero")
    for path in (tmp_path / name, tmp_path / f"zero.{name}"):
        with pytest.raises(MisfeatError, match="is no plain file; copy it to one"):
            build_cohorts(path, "y")


@pytest.mark.parametrize(("threads", "expected"), [(0.5, 1), (1, 1), (7.9, 7), (16, 16), (99, 16)])
def test_every_thread_has_memory_enough(monkeypatch, threads, expected):
    monkeypatch.setattr(files, "effective_n_jobs", lambda _: 16)
    assert threads_for(int(threads * MEMORY_A_THREAD)) == expected


def test_a_connection_has_so_many_threads(monkeypatch):
    monkeypatch.setattr(files, "effective_n_jobs", lambda _: 16)
    monkeypatch.setattr(files, "allowed_memory", lambda: 10 * MEMORY_A_THREAD)
    connection, close = connect("rows.parquet")
    try:
        assert connection.execute("SELECT current_setting('threads')").fetchone() == (4,)
    finally:
        close()
