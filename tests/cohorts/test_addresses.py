"""Addresses are told from paths, read, and shown without what nobody should see."""

from __future__ import annotations

import tomllib

import pytest

from misfeat import MisfeatError
from misfeat.cli.config import as_config, read_config
from misfeat.cli.options import RunSettings
from misfeat.cohorts import build_cohorts
from misfeat.cohorts.addresses import is_address, parsed_database, without_secrets

SECRET = "hunter2"  # noqa: S105


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (
            f"postgresql://ann:{SECRET}@db:5432/ward?table=a.b",
            "postgresql://ann@db:5432/ward?table=a.b",
        ),
        (
            f"postgres://db/ward?table=t&password={SECRET}&user=ann",
            "postgres://db/ward?table=t&user=ann",
        ),
        (f"https://me:{SECRET}@host/x.parquet?sig={SECRET}", "https://host/x.parquet"),
        (f"postgresql://ann:{SECRET}@[/ward?table=t", "postgresql://..."),
        (f"postgresql://ann:{SECRET}/{SECRET}?@db/w?table=t", "postgresql://ann@db/w?table=t"),
        (f"mysql://ann:{SECRET}@host/db", "mysql://host/db"),
        (f"ward://ann:{SECRET}/{SECRET}?x#@host/db?token={SECRET}", "ward://host/db"),
        (f"ward:///rows?token={SECRET}#{SECRET}", "ward:///rows"),
        ("hf://datasets/a/b@~parquet/x.parquet", "hf://datasets/a/b@~parquet/x.parquet"),
        ("s3://bucket/year=2020/*.parquet", "s3://bucket/year=2020/*.parquet"),
        ("data/rows.csv", "data/rows.csv"),
    ],
)
def test_what_is_shown_has_no_password(address: str, shown: str) -> None:
    assert without_secrets(address) == shown


def test_paths_with_colons_are_paths() -> None:
    assert not is_address("a://b.csv")
    assert not is_address("C:/rows.csv")
    assert is_address("S3://bucket/rows.parquet")


def test_a_password_may_hold_any_character() -> None:
    said, schema, name = parsed_database("postgresql://ann:a%40b%2Fc@db/ward?table=visits")
    assert said == {"user": "ann", "password": "a@b/c", "host": "db", "database": "ward"}
    assert (schema, name) == (None, "visits")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (f"postgresql://ann:{SECRET}@db/ward", "does not name a table; write postgresql://user@"),
        (f"postgresql://ann:{SECRET}@db:port/ward?table=t", "does not name a table"),
        ("s3://bucket/rows.csv", "is not a Parquet file"),
        ("gs://bucket/folder", "a pattern such as 'gs://bucket/folder/\\*.parquet'"),
    ],
)
def test_addresses_that_cannot_be_read_say_how_they_are_written(address: str, message: str) -> None:
    with pytest.raises(MisfeatError, match=message) as error:
        build_cohorts(address, "y")
    assert SECRET not in str(error.value)


def test_a_saved_run_keeps_the_address_and_not_the_password(tmp_path) -> None:
    settings = RunSettings({"table": f"postgresql://ann:{SECRET}@db/ward?table=t", "target": "y"})
    text = as_config(settings, tmp_path)
    assert tomllib.loads(text)["table"] == "postgresql://ann@db/ward?table=t"
    file = tmp_path / "run.toml"
    file.write_text(text)
    assert read_config(str(file))["table"] == "postgresql://ann@db/ward?table=t"
