"""Tables behind addresses: a real PostgreSQL server, and stores that cannot be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from misfeat import MisfeatError
from misfeat.cli.app import app
from misfeat.cohorts import build_cohorts
from tests.reading.engines import POSTGRES_USER, postgres_server, require

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "hunter2"  # noqa: S105


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
    with pytest.raises(MisfeatError, match=r"There is no table 'june\.beds'") as error:
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
