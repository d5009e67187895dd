"""What leaves an engine, by the engine's own plan: one aggregate, and nothing but its output."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import narwhals as nw
import pytest

from misfeat.reading.engine_table import EngineTable


class Query(NamedTuple):
    """A query whose result came back: how many aggregates its plan has, and its columns."""

    aggregates: int
    columns: list[str]


@contextmanager
def collected_queries(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Query]]:
    """The queries of an engine whose results came back."""
    queries: list[Query] = []
    usual = EngineTable._collected

    def collected(self: EngineTable, rows: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        native = nw.to_native(rows)
        queries.append(Query(aggregates_in(native), rows.collect_schema().names()))
        return usual(self, rows)

    with monkeypatch.context() as patched:
        patched.setattr(EngineTable, "_collected", collected)
        yield queries


def aggregates_in(query: Any) -> int:
    """How many aggregates the plan of a query has; of Dask, whether it has any."""
    library = type(query).__module__.partition(".")[0].strip("_")
    if library == "duckdb":
        return _in_duckdb(query.explain())
    if library == "pyspark":
        plan = query._jdf.queryExecution().optimizedPlan().toString()
        return sum(line.lstrip(" +-:").startswith("Aggregate") for line in plan.splitlines())
    if library == "dask":
        kinds = [type(node).__name__ for node in query.expr.walk()]
        words = ("Aggregation", "Size", "Sum", "Len", "Count", "Min", "Max", "NUnique")
        return int(any(word in kind for kind in kinds for word in words))
    import ibis  # with PostgreSQL, or DuckDB, behind it

    connection = query.get_backend()
    plan = connection.raw_sql(f"EXPLAIN {ibis.to_sql(query)}").fetchall()
    text = "\n".join(" ".join(map(str, line)) for line in plan)
    if connection.name == "duckdb":
        return _in_duckdb(text)
    return sum("Aggregate" in line for line in text.splitlines())


def _in_duckdb(plan: str) -> int:
    """Versions of DuckDB write HASH_GROUP_BY or Hash Group By."""
    words = plan.upper().replace("_", " ")
    return sum(words.count(word) for word in ("GROUP BY", "UNGROUPED AGGREGATE"))
