"""Tables behind addresses: read where they are, shown without what nobody should see."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from misfeat import MisfeatError, SubgroupSelector
from misfeat.cli.app import app
from misfeat.cli.run_options import RunSettings
from misfeat.cli.settings_file import as_config, read_config
from misfeat.cohorts import build_cohorts
from misfeat.reading.addresses import is_address, without_secrets
from tests.reading.engines import POSTGRES_USER, postgres_server, require

SECRET = "hunter2"  # noqa: S105
TABLE = {"a": [0, 0, 1, 1] * 10, "b": [0, 1] * 20, "y": [0, 0, 1, 1] * 10}


SHOWN = {
    f"postgresql://ann:{SECRET}@db:5432/ward?table=a.b": "postgresql://ann@db:5432/ward?table=a.b",
    f"postgres://db/w?table=t&password={SECRET}&user=ann": "postgres://db/w?table=t&user=ann",
    f"postgres://db/w?table=t&password=a@{SECRET}": "postgres://db/w?table=t",
    f"postgresql://ann:{SECRET}@[/ward?table=t": "postgresql://...",
    f"postgresql://ann:{SECRET}/{SECRET}?@db/w?table=t": "postgresql://ann@db/w?table=t",
    f"https://me:{SECRET}@host/x.parquet?sig={SECRET}": "https://host/x.parquet",
    f"mysql://ann:{SECRET}@host/db": "mysql://host/db",
    f"ward://ann:{SECRET}/{SECRET}?x#@host/db?token={SECRET}": "ward://host/db",
    f"ward:///rows?token={SECRET}#{SECRET}": "ward:///rows",
    "hf://datasets/a/b@~parquet/x.parquet": "hf://datasets/a/b@~parquet/x.parquet",
    "s3://bucket/year=2020/*.parquet": "s3://bucket/year=2020/*.parquet",
    "data/rows.csv": "data/rows.csv",
    f" postgresql://ann:{SECRET}@db/ward?table=t": "postgresql://ann@db/ward?table=t",
}


def test_what_is_shown_has_no_password() -> None:
    assert {address: without_secrets(address) for address in SHOWN} == SHOWN


def test_paths_with_colons_are_paths() -> None:
    assert not is_address("a://b.csv")
    assert not is_address("C:/rows.csv")
    assert is_address("S3://bucket/rows.parquet")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (f"postgresql://ann:{SECRET}@db/ward", "does not name a table; write postgresql://user@"),
        (f"postgresql://ann:{SECRET}@[/ward?table=t", "does not name a table"),
    ],
)
def test_addresses_that_cannot_be_read_say_how_they_are_written(address: str, message: str) -> None:
    with pytest.raises(MisfeatError, match=message) as error:
        build_cohorts(address, "y")
    assert SECRET not in str(error.value)


def test_a_saved_run_keeps_the_address_and_not_the_password(tmp_path) -> None:
    settings = RunSettings(table=f"postgresql://ann:{SECRET}@db/ward?table=t", target="y")
    text = as_config(settings, tmp_path)
    assert tomllib.loads(text)["table"] == "postgresql://ann@db/ward?table=t"
    file = tmp_path / "run.toml"
    file.write_text(text)
    assert read_config(str(file))["table"] == "postgresql://ann@db/ward?table=t"


def test_a_scheme_that_nobody_opens_is_a_path():
    assert not is_address("nobodys://rows")
    with pytest.raises(MisfeatError, match="There is no file 'nobodys://host/rows'"):
        build_cohorts("nobodys://ann:hunter2@host/rows", "y")


class Ward:
    """A table that is made when it is read."""

    def __misfeat_table__(self):
        return TABLE


def test_a_source_is_fitted_and_transformed():
    selector = SubgroupSelector(size=1).fit(Ward(), "y")
    assert list(selector.transform(Ward())) == ["a"]


def test_a_source_must_not_give_a_source():
    class Twice:
        def __misfeat_table__(self):
            return Ward()

    with pytest.raises(MisfeatError, match="must give a table, no source"):
        build_cohorts(Twice(), "y")


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 2000
    return pd.DataFrame(
        {
            "site": rng.choice(["a", "b"], n),
            "dose": rng.integers(0, 4, n),
            "age": rng.integers(20, 90, n),
            "ill": rng.integers(0, 2, n),
        }
    )


@pytest.fixture(scope="module")
def server(rows: pd.DataFrame) -> Iterator[str]:
    """The beginning of addresses of a server that holds the rows as june.visits."""
    psycopg = pytest.importorskip("psycopg")
    require(psycopg, "psycopg is not installed")
    with postgres_server() as socket:
        said = {"host": str(socket), "user": POSTGRES_USER, "dbname": "postgres"}
        with psycopg.connect(**said) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE SCHEMA june")
            cursor.execute("CREATE TABLE june.visits (site text, dose int, age int, ill int)")
            with cursor.copy("COPY june.visits FROM STDIN") as copy:
                for row in rows.itertuples(index=False):
                    copy.write_row(list(row))
        yield f"postgresql://{POSTGRES_USER}:{SECRET}@/postgres?host={socket}"


@pytest.mark.heavy
@pytest.mark.xdist_group("addresses")
def test_a_table_of_postgresql_gives_the_cohorts_that_it_gives_in_pandas(
    server: str, rows: pd.DataFrame
) -> None:
    found = build_cohorts(f"{server}&table=june.visits", "ill", groups="site")
    assert found.equals(build_cohorts(rows, "ill", groups="site"))


@pytest.mark.heavy
@pytest.mark.xdist_group("addresses")
def test_a_table_that_is_not_there_is_named_without_the_password(server: str) -> None:
    with pytest.raises(MisfeatError, match=r"TableNotFound: .*beds") as error:
        build_cohorts(f"{server}&table=june.beds", "ill")
    assert SECRET not in str(error.value)


@pytest.mark.heavy
@pytest.mark.xdist_group("addresses")
def test_a_run_of_an_address_leaves_no_password(server: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    asked = ["run", f"{server}&table=june.visits", "--target", "ill", "--by", "site", "--size", "1"]
    done = CliRunner().invoke(app, [*asked, "--out", str(folder)])
    assert done.exit_code == 0, done.output
    assert SECRET not in done.output
    held = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    assert held
    assert not any(SECRET.encode() in content for content in held)
    again = CliRunner().invoke(app, ["run", "--config", str(folder / "run.toml")])
    assert again.exit_code == 0, again.output


def test_a_server_that_does_not_answer_is_named_without_the_password() -> None:
    pytest.importorskip("ibis")
    pytest.importorskip("psycopg")
    with pytest.raises(MisfeatError, match="cannot be read; check the address") as error:
        build_cohorts(f"postgresql://ann:{SECRET}@127.0.0.1:1/ward?table=visits", "ill")
    assert SECRET not in str(error.value)
    assert error.value.__cause__ is None
