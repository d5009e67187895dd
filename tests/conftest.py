"""Fixtures that several folders of tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Small models train as fast on one thread, and many times faster where cores are shared, since
# OpenMP's threads wait for each other busily. Read when torch and scikit-learn are first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real tables that the project does not ship."""
    folder = os.environ.get("MISFEAT_DATA")
    if not folder:
        pytest.skip("MISFEAT_DATA is not set; docs/data.md says how to get the tables")
    return Path(folder)


@pytest.fixture(scope="session")
def heart_path(data_folder: Path) -> Path:
    return data_folder / "heart.csv"
