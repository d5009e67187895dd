from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa

from misfeat.cohorts import build_cohorts
from misfeat.datasets import load_readmission


def test_a_dataset_becomes_a_frame_of_any_library():
    patients = load_readmission()
    expected = build_cohorts(patients.columns, patients.target)
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
    for backend, frame in {**frames, None: pd.DataFrame}.items():
        table = patients.to_frame(backend)
        assert isinstance(table, frame)
        assert build_cohorts(table, patients.target).equals(expected)
