"""How long a table in memory takes to be cut into subgroups and coded.

    python benchmarks/speed/coding_in_memory.py > benchmarks/speed/coding_in_memory.txt

Two tables of mixed columns, numbers (continuous, with gaps, of few values) and text: 12,500 rows of
15 features, the fastest of 15 turns, and 1,000,000 rows of 40, once. In turns: columns read into
arrays (`build_cohorts`), a query for every column (what tables in an engine take), and for
comparison pandas alone: `qcut`, `factorize` and one `groupby` over all codes, without subgroups,
missing features, audits or checks. Where other programs run beside, the processor's time (of all
threads) tells more than the clock's.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl

from misfeat.cohorts import Cohorts, build_cohorts
from misfeat.cohorts.cohort_building import CohortRules, cohorts_of
from misfeat.reading.engine_table import EngineTable

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = (3, 8, 40, 2, 5)
"""Distinct texts of the columns, over and over."""


def mixed_table(n_rows: int, n_numbers: int, n_texts: int) -> pd.DataFrame:
    """A third of the numbers continuous, a third with gaps, a third of few values; and text."""
    rng = np.random.default_rng(0)
    columns: dict[str, np.ndarray] = {}
    for i in range(n_numbers):
        if i % 3 == 0:
            columns[f"x{i}"] = rng.normal(size=n_rows)
        elif i % 3 == 1:
            years = rng.integers(0, 90, n_rows).astype(float)
            columns[f"x{i}"] = np.where(rng.random(n_rows) < 0.1, np.nan, years)
        else:
            columns[f"x{i}"] = rng.integers(0, 5, n_rows)
    for i in range(n_texts):
        words = np.array([f"value {j}" for j in range(WORDS[i % len(WORDS)])], dtype=object)
        columns[f"t{i}"] = words[rng.integers(len(words), size=n_rows)]
    columns["site"] = np.array(["va", "ch", "hu", "cl"], dtype=object)[rng.integers(4, size=n_rows)]
    columns["y"] = (rng.random(n_rows) < 0.4).astype(int)
    return pd.DataFrame(columns)


def as_arrays(frame: object) -> Cohorts:
    """The cohorts as users get them."""
    return build_cohorts(frame, "y", groups="site")


def by_queries(frame: pd.DataFrame | pl.DataFrame) -> Cohorts:
    """The cohorts by way of a query for every column."""
    rows = pl.from_pandas(frame) if isinstance(frame, pd.DataFrame) else frame
    return cohorts_of(EngineTable(rows.lazy()), "y", CohortRules.parse("site"))


def by_pandas(frame: pd.DataFrame) -> pd.Series:
    """Codes and their counts, as one would write it in pandas."""
    codes = {}
    for name, column in frame.items():
        if column.dtype.kind == "f":
            codes[name] = pd.qcut(column, 5, labels=False, duplicates="drop")
        else:
            codes[name] = column.factorize()[0]
    coded = pd.DataFrame(codes)
    return coded.groupby(list(coded.columns), sort=False, dropna=False).size()


def fastest(ways: dict[str, Callable[[], object]], turns: int) -> dict[str, tuple[float, float]]:
    """The seconds of each way by the clock and of the processor, all of them in turns."""
    seconds = dict.fromkeys(ways, (float("inf"), float("inf")))
    for _ in range(turns):
        for name, way in ways.items():
            begun = time.perf_counter(), time.process_time()
            way()
            taken = time.perf_counter() - begun[0], time.process_time() - begun[1]
            seconds[name] = min(seconds[name][0], taken[0]), min(seconds[name][1], taken[1])
    return seconds


def main() -> None:
    """Time both tables, and check that all ways give the same cohorts."""
    print(f"{len(os.sched_getaffinity(0))} cores, pandas {pd.__version__}, polars {pl.__version__}")
    for n_rows, n_numbers, n_texts, turns in ((12_500, 10, 5, 15), (1_000_000, 30, 10, 1)):
        in_pandas = mixed_table(n_rows, n_numbers, n_texts)
        in_polars = pl.from_pandas(in_pandas)
        if turns > 1:
            assert as_arrays(in_pandas).equals(by_queries(in_polars))
        ways = {
            "pandas, as arrays": partial(as_arrays, in_pandas),
            "polars, as arrays": partial(as_arrays, in_polars),
            "pandas, a query a column": partial(by_queries, in_pandas),
            "polars, a query a column": partial(by_queries, in_polars),
            "pandas alone, no subgroups": partial(by_pandas, in_pandas),
        }
        seconds = fastest(ways, turns)
        print(f"\n{n_rows:,} rows, {n_numbers + n_texts} features")
        least = seconds["pandas, as arrays"][1]
        for name, (clock, processor) in seconds.items():
            print(
                f"  {name:28}{1000 * clock:10.1f} ms by the clock {1000 * processor:10.1f} ms of "
                f"the processor {processor / least:7.2f} times"
            )


if __name__ == "__main__":
    main()
