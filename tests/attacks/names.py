"""Names that mean something to an engine, a format or a terminal, as column names everywhere.

Every name stands for a feature, the target and a group, in every library
and engine and in files. The answer must be the one that a plain name gets, or an error of ours
that names the column.
"""

import csv
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from misfeat import SubgroupSelector
from misfeat.cohorts import build_cohorts
from tests.attacks.tally import Tally, run_script, without_notes

Table = dict[str, list[Any]]

ZOO = (
    "*", "**", "* EXCLUDE (a)", "^a.*$", "^.*$", "COLUMNS(*)", "COLUMNS('a.*')", 'a"b', '"', "a'b",
    "'", "`", "a`b", "`a`", "a.b", "a.", ".", "[a]", "a[0]", "{a}", "{0}", "a{", "%s", "%(a)s",
    "$1", "?", "#1", ":a", "@a", "a b", " a", "a ", " ", "a\tb", "a\nb", "a\r\nb", "\t", "A",
    "SITE", "", "select", "SELECT * FROM a", "a; DROP TABLE csv_rows; --", "-- a", "/* a */",
    "NULL", "null", "None", "NaN", "1", "1.0", "-1", "a-b", "a,b", "a;b", "a|b", "a=b", "a&b",
    "a<b>", "a\\b", "\\", "a/b", "rowid", "column_0", "column_1", "column0", "key", "key_0",
    "value", "n_rows", "target", "group", "index", "level_0", "__index_level_0__", "x0", "s0",
    "one", "q0", "literal", "len", "count", "struct", "\N{GRINNING FACE}",
    "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}", "\N{LATIN SMALL LIGATURE FI}",
    "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}",
    "\N{ZERO WIDTH NO-BREAK SPACE}a", "\N{RIGHT-TO-LEFT OVERRIDE}a", "a\x1b[31m", "a\x00b", "\x7f",
    "\x9b", "\ud800", "a\udcff", "x" * 63, "x" * 64, "x" * 10_000,
)  # fmt: skip
"""Names that have a meaning somewhere, or none anywhere."""
PLAIN = {"feature": "a", "target": "outcome", "group": "site"}
"""The column that plays each role."""


def make_table(rows: int = 120) -> Table:
    """Four columns with plain names; the order of columns is part of the test."""
    random = np.random.default_rng(5)
    a, b, site = (random.integers(0, n, rows).tolist() for n in (4, 3, 2))
    return {
        "a": a,
        "b": [None if value == 0 else value for value in b],
        "site": [("north", "south")[value] for value in site],
        "outcome": [(p + q) % 3 for p, q in zip(a, b, strict=True)],
    }


def _csv(table: Table, folder: Path) -> str:
    path = folder / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return str(path)


def _parquet(table: Table, folder: Path) -> str:
    import pyarrow.parquet as pq

    path = folder / "table.parquet"
    pq.write_table(pa.table(table), path)
    return str(path)


def quick_engines(folder: Path) -> dict[str, Callable[[Table], Any]]:
    """Everything that holds tables and starts quickly."""
    return {
        "pandas": pd.DataFrame,
        "pandas-arrow": lambda table: pd.DataFrame(table).convert_dtypes(dtype_backend="pyarrow"),
        "polars": pl.DataFrame,
        "polars-lazy": pl.LazyFrame,
        "pyarrow": pa.table,
        "duckdb": lambda table: duckdb.from_arrow(pa.table(table)),
        "arrays": lambda table: {name: np.array(v) for name, v in table.items()},
        "csv": lambda table: _csv(table, folder),
        "parquet": lambda table: _parquet(table, folder),
    }


def heavy_engines(stack: ExitStack) -> dict[str, Callable[[Table], Any]]:
    """Engines that take long to start."""
    from tests.reading.engines import dask_engine, duckdb_engine, pyspark_engine

    opened = {
        "Dask": stack.enter_context(dask_engine()),
        "Ibis on DuckDB": stack.enter_context(duckdb_engine()),
        "PySpark": stack.enter_context(pyspark_engine()),
    }
    return {name: lambda table, hold=hold: hold(pa.table(table)) for name, hold in opened.items()}


def renamed(role: str, name: str) -> Table:
    """The table in which the column of a role has a name."""
    return {name if c == PLAIN[role] else c: values for c, values in make_table().items()}


def ask(hold: Callable[[Table], Any], role: str, name: str) -> tuple[Any, ...]:
    """What comes out where a column has a name, the plain name put in its place again."""
    plain = PLAIN[role]
    target = name if role == "target" else "outcome"
    site = name if role == "group" else "site"
    table = renamed(role, name)
    with without_notes():
        cohorts = build_cohorts(hold(table), target, groups=site)

    nameless = None if name.strip() else "column0"  # in the header of a CSV file

    def in_plain(names: Any) -> list[str]:
        return [plain if found in (name, nameless) else found for found in names]

    return (
        in_plain(cohorts.features),
        in_plain([cohorts.target]),
        [text.replace(f"{name}=", "site=") if role == "group" else text for text in cohorts.names],
        cohorts.codes.tolist(),
        cohorts.target_codes.tolist(),
        cohorts.weights.tolist(),
        cohorts.categories,
        cohorts.classes,
        in_plain(_transformed(hold(table), site, target)) if role == "feature" else None,
    )


def _transformed(held: Any, groups: Any, target: str) -> list[str]:
    """The columns that are chosen of a table; the whole of a file's is not held."""
    selector = SubgroupSelector(groups, size=2, k=1, estimate="sample", completer="interactions")
    with without_notes():
        selector.fit(held, target)
    return [] if isinstance(held, str) else _names(selector.transform(held))


def _names(held: Any) -> list[str]:
    if isinstance(held, dict):
        return list(held)
    names = getattr(held, "column_names", None)
    if names is None:
        names = held.collect_schema().names() if isinstance(held, pl.LazyFrame) else held.columns
    return list(names)


def try_name(
    tally: Tally, engine: str, hold: Callable[[Table], Any], role: str, name: str, expected: Any
) -> None:
    """Count how a name fared: right, refused in our words, wrong, or by a stranger's error."""
    case = f"{engine}, {role}, {name[:40]!a}"
    try:
        held = hold(renamed(role, name))
    except Exception:
        tally.well("no such table")
        return
    if not isinstance(held, str) and _names(held) != list(renamed(role, name)):
        tally.well("renamed by the engine")
        return
    found = tally.answer_to(case, lambda: ask(hold, role, name))
    if found is None:
        return
    if found == expected:
        tally.well("same answer")
    else:
        tally.wrongly("another answer", case)


def attack(cases: int, seed: int, heavy: bool = False) -> Tally:
    """Try names in every engine and role; `cases` of them, drawn anew by the seed."""
    tally = Tally("names", "A column's name is a name, in every engine, file and role.")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engines = heavy_engines(stack) if heavy else quick_engines(folder)
        every = list(product(engines, PLAIN, ZOO))
        plain = cache(lambda hold, role: ask(hold, role, PLAIN[role]))
        order = np.random.default_rng(seed).permutation(len(every))
        for number in order[:cases]:
            engine, role, name = every[number]
            expected = plain(engines[engine], role)
            try_name(tally, engine, engines[engine], role, name, expected)
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, cases=100_000))
