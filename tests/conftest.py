"""Fixtures that several folders of tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


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


@pytest.fixture(scope="session", autouse=True)
def _one_torch_thread() -> None:
    """Small networks train as fast on one thread, and much faster where cores are shared."""
    import torch

    torch.set_num_threads(1)
