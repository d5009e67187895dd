"""Larger than memory: Parquet files that are never read into Python.

Tables in an engine stay there. The engine codes rows and collapses equal ones, and only counts come
back. Here DuckDB reads a folder of Parquet files; Spark, Dask, Ibis and PostgreSQL work alike.
"""

# %%
# A modest table, so that this page is quick: 600,000 rows in three files. A hundred million take
# 99 s on two cores and 2 GiB.
from pathlib import Path

import duckdb

import misfeat
from misfeat import SubgroupSelector

rows = """
    SELECT ['north', 'south', 'east', 'west'][1 + i % 4] AS region,
           hash(i, 1) % 5 AS a, hash(i, 2) % 4 AS b, hash(i, 3) % 3 AS c, hash(i, 4) % 6 AS d,
           CASE WHEN i % 4 <> 3 THEN hash(i, 5) % 4 END AS e,
           (hash(i, 6) % 100) < 20 + 12 * (a % 2) + 10 * (a % 2 = b % 2)::INT
                              + 10 * (hash(i, 5) % 4 = 0)::INT AS ill
    FROM range({begin}, {end}) AS rows(i)
"""
Path("visits").mkdir()
for part in range(3):
    query = rows.format(begin=part * 200_000, end=(part + 1) * 200_000)
    duckdb.sql(f"COPY ({query}) TO 'visits/part{part}.parquet'")

# %%
# A path is all that `fit` needs. `memory_limit` says which share of the free memory may be
# taken, by misfeat and the engine together.
with misfeat.memory_limit(0.3):
    selector = SubgroupSelector("region", size=2, k=2).fit("visits/*.parquet", "ill")
best = selector.top_k()[["subgroup", "features", "score", "low", "high", "source"]]
print(best.round(4).to_string(index=False))

# %%
# 600,000 rows became a few thousand with counts.
weights = selector.cohorts_.weights
print(f"{weights.sum():,} rows, {len(weights):,} different ones")
misfeat.plot.top_k(selector, "west")
