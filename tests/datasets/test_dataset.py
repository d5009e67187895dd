from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from misfeat.cohorts import build_cohorts
from misfeat.datasets import load_readmission


@pytest.mark.parametrize(
    ("backend", "frame"),
    [
        ("pandas", pd.DataFrame),
        ("polars", pl.DataFrame),
        ("pyarrow", pa.Table),
        (None, pd.DataFrame),
    ],
)
def test_a_dataset_becomes_a_frame_of_any_library(backend, frame):
    patients = load_readmission()
    table = patients.to_frame(backend)
    assert isinstance(table, frame)
    expected = build_cohorts(patients.columns, patients.target)
    assert build_cohorts(table, patients.target).equals(expected)
