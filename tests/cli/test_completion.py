"""What a shell is offered."""

from __future__ import annotations

import gzip

import pytest

from misfeat.cli.options import header
from tests.cli.commands import process


def offered(*words: str) -> list[str]:
    line = " ".join(["misfeat", *words])
    found = process(_MISFEAT_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words)))
    assert found.stderr == ""
    return found.stdout.split()


def test_columns_are_offered_from_the_table_that_was_named(table):
    assert offered("run", table, "--target", "") == ["site", "x", "z", "y"]
    assert offered("run", table, "--by", "si") == ["site"]
    assert offered("run", "none.csv", "--target", "") == []


def test_choices_and_options_are_offered():
    assert offered("run", "--sampler", "r") == ["randwalk"]
    assert offered("run", "--completer", "m") == ["markov_blanket", "mlp", "multiplex"]
    assert "--missing-threshold" in offered("run", "--missing")
    assert "doctor" in offered("d")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_header_is_read_without_an_engine(tmp_path, delimiter):
    line = delimiter.join(["Loan Status", '"a, b"', "é"]) + "\n1\n"
    (tmp_path / "t.csv").write_text(line)
    with gzip.open(tmp_path / "t.csv.gz", "wt", encoding="utf-8") as file:
        file.write(line)
    assert header(str(tmp_path / "t.csv")) == ["Loan Status", "a, b", "é"]
    assert header(str(tmp_path / "t.csv.gz")) == ["Loan Status", "a, b", "é"]


def test_a_parquet_file_tells_its_columns_and_what_cannot_be_read_none(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "t.parquet")
    assert header(str(tmp_path / "t.parquet")) == ["a", "b"]
    (tmp_path / "t.parquet").write_bytes(b"none")
    (tmp_path / "t.csv.gz").write_bytes(b"none")
    for name in ("t.parquet", "t.csv.gz", "none.csv", ""):
        assert header(str(tmp_path / name)) == []


def test_a_script_for_the_shell_can_be_shown():
    shown = process("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_MISFEAT_COMPLETE=complete_bash" in shown.stdout
