"""Results that PostgreSQL packs are those that Ibis fetches row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import pytest

from misfeat.cohorts.packed_results import collected
from tests.cohorts.engines import POSTGRES_USER, postgres_server

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("addresses")]

COLUMNS = (
    "small smallint, whole bigint, number float8, short real, flag boolean, words text, "
    "padded char(5), brief varchar(9), day date"
)
ROWS = """
    (1, 9223372036854775807, 'NaN', 0.1, TRUE, E'ä"\\n,%s\\t', 'ab', 'x', '2020-02-29'),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (-3, -9223372036854775808, '-Infinity', 'Infinity', FALSE, '', '', '日本', '1900-01-01'),
    (1, 0, 5e-324, -0.0, TRUE, 'ab  ', '    x', '', NULL)
"""


@pytest.fixture(scope="module")
def table() -> Iterator[Any]:
    """A table of every kind of column, in a server of its own."""
    ibis = pytest.importorskip("ibis")
    pytest.importorskip("psycopg")
    with postgres_server() as socket:
        connection = ibis.postgres.connect(
            host=str(socket), user=POSTGRES_USER, database="postgres"
        )
        try:
            with connection.con.transaction(), connection.con.cursor() as cursor:
                cursor.execute(f"CREATE TABLE odd ({COLUMNS})")
                cursor.execute(f"INSERT INTO odd VALUES {ROWS}")  # noqa: S608
            yield connection.table("odd")
        finally:
            connection.disconnect()


def _by_rows(table: Any) -> str:
    """A PyArrow table as text, in which one NaN is like another."""
    return f"{table.schema} {table.to_pylist()}"


def _assert_same(query: Any, *, by_ibis: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    usual = nw.LazyFrame.collect
    with monkeypatch.context() as patched:
        patched.setattr(nw.LazyFrame, "collect", lambda rows: asked.append(True) or usual(rows))
        found = collected(nw.from_native(query))
    assert _by_rows(found.to_native()) == _by_rows(query.to_pyarrow())
    assert bool(asked) == by_ibis


def test_every_value_comes_as_ibis_fetches_it(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = table.drop("day")
    _assert_same(plain, by_ibis=False, monkeypatch=monkeypatch)
    _assert_same(plain.filter(plain.small > 100), by_ibis=False, monkeypatch=monkeypatch)
    _assert_same(
        plain.group_by("small").agg(sum=plain.whole.sum(), most=plain.words.max()),
        by_ibis=False,
        monkeypatch=monkeypatch,
    )


def test_what_is_not_packed_is_fetched_row_by_row(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ibis

    _assert_same(table.select("day"), by_ibis=True, monkeypatch=monkeypatch)
    sent_ahead = ibis.memtable({"small": [1], "named": ["one"]})
    _assert_same(
        table.join(sent_ahead, "small").select("small", "named"),
        by_ibis=True,
        monkeypatch=monkeypatch,
    )
