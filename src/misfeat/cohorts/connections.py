"""Connections to DuckDB, whose queries spill to disk before they take more memory than they may."""

from __future__ import annotations

from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs

from misfeat.exceptions import MisfeatError
from misfeat.machine.memory import allowed_memory

if TYPE_CHECKING:
    from collections.abc import Callable

QUERIES_SHARE = 0.4
"""The part of the memory that may be taken which queries take, before they spill to disk."""
LEAST_MEMORY = 256 * 2**20
"""Bytes that DuckDB cannot do without."""
MEMORY_A_THREAD = 128 * 2**20
"""Bytes of a thread that groups rows; with less it runs out of memory rather than spill."""


def connect(path: str) -> tuple[Any, Callable[[], None]]:
    """A connection to read a path on, and what closes it and removes what it left on disk."""
    try:
        import duckdb
        import pyarrow as pa  # noqa: F401
    except ImportError as error:
        raise MisfeatError(
            "Reading {path!r} needs DuckDB; install it with: pip install 'misfeat[duckdb]'",
            path=path,
        ) from error
    spilled = TemporaryDirectory(prefix="misfeat-", ignore_cleanup_errors=True)
    allowed = max(LEAST_MEMORY, int(QUERIES_SHARE * allowed_memory()))
    connection = duckdb.connect(
        config={
            "memory_limit": f"{allowed // 2**20}MiB",
            "temp_directory": spilled.name,
            "threads": threads_for(allowed),
            # Rows of a table have no order, and keeping one takes memory.
            "preserve_insertion_order": "false",
        }
    )
    # DuckDB draws its bar on standard output, which belongs to the answer.
    connection.execute("SET enable_progress_bar = false").fetchall()
    return connection, partial(_close, connection, spilled)


def threads_for(allowed: int) -> int:
    """How many threads DuckDB may use: one a core, but none that has too little memory."""
    return max(1, min(int(effective_n_jobs(-1)), allowed // MEMORY_A_THREAD))


def _close(connection: Any, spilled: TemporaryDirectory[str]) -> None:
    connection.close()
    spilled.cleanup()
