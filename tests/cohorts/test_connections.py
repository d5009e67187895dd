from __future__ import annotations

import pytest

from misfeat.cohorts import connections
from misfeat.cohorts.connections import MEMORY_A_THREAD, connect, threads_for


@pytest.mark.parametrize(("threads", "expected"), [(0.5, 1), (1, 1), (7.9, 7), (16, 16), (99, 16)])
def test_every_thread_has_memory_enough(monkeypatch, threads, expected):
    monkeypatch.setattr(connections, "effective_n_jobs", lambda _: 16)
    assert threads_for(int(threads * MEMORY_A_THREAD)) == expected


def test_a_connection_has_so_many_threads(monkeypatch):
    monkeypatch.setattr(connections, "effective_n_jobs", lambda _: 16)
    monkeypatch.setattr(connections, "allowed_memory", lambda: 10 * MEMORY_A_THREAD)
    connection, close = connect("rows.parquet")
    try:
        assert connection.execute("SELECT current_setting('threads')").fetchone() == (4,)
    finally:
        close()
