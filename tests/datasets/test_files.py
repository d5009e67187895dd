from __future__ import annotations

import pytest

from misfeat import MisfeatError
from misfeat.cohorts import build_cohorts
from misfeat.datasets import (
    load_adult,
    load_attrition,
    load_diabetes130,
    load_loan,
    load_mobile,
)

LOADERS = {
    load_mobile: (21, 2),
    load_attrition: (23, 8),
    load_loan: (11, 3),
    load_adult: (13, 6),
    load_diabetes130: (18, 5),
}
"""Columns and cohorts of each."""
ROWS = {
    load_mobile: 2000,
    load_attrition: 59_598,
    load_loan: 67_463,
    load_adult: 48_842,
    load_diabetes130: 101_766,
}


def check_loads(load, n_rows):
    n_columns, n_cohorts = LOADERS[load]
    data = load()
    assert (data.n_rows, len(data.columns)) == (n_rows, n_columns)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    assert len(cohorts) == n_cohorts
    assert cohorts.weights.sum() == n_rows


@pytest.mark.slow
@pytest.mark.parametrize("load", LOADERS)
def test_real_tables_load_and_fall_into_their_cohorts(data_folder, load):
    check_loads(load, ROWS[load])


@pytest.mark.parametrize("load", LOADERS)
def test_tables_load_from_the_folder_and_fall_into_their_cohorts(stand_in_folder, load):
    check_loads(load, 600)


def test_a_missing_folder_or_file_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.delenv("MISFEAT_DATA", raising=False)
    with pytest.raises(MisfeatError, match=r"MISFEAT_DATA is not set. Download it \(Kaggle, hem"):
        load_loan()
    monkeypatch.setenv("MISFEAT_DATA", str(tmp_path))
    with pytest.raises(MisfeatError, match="does not hold it"):
        load_mobile()


def test_values_that_read_like_gaps_stay_values(stand_in_folder):
    stays, adult = load_diabetes130().columns, load_adult().columns
    assert {"None", ">8", "Norm"} == set(stays["A1Cresult"])
    assert "?" in adult["workclass"]
    assert set(stays["readmitted"]) == {0, 1}
