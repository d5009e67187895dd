"""What several benchmarks are tried with."""

import csv

import pytest

from benchmarks.common import draws


@pytest.fixture
def small_tables(monkeypatch):
    """Generated tables have few rows and features."""
    monkeypatch.setattr(draws, "ROWS_TO_DRAW_FROM", 600)
    monkeypatch.setattr(draws, "FEATURES", 5)
    draws.source_of.cache_clear()
    yield
    draws.source_of.cache_clear()


def rows_of(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
