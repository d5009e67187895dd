from __future__ import annotations

import pytest

from misfeat import MisfeatError
from misfeat.cohorts import build_cohorts
from misfeat.datasets import load_attrition, load_heart, load_loan, load_mobile


@pytest.mark.parametrize(
    ("load", "n_rows", "n_columns", "n_cohorts"),
    [
        (load_mobile, 2000, 21, 2),
        (load_attrition, 59_598, 23, 8),
        (load_loan, 67_463, 11, 3),
        (load_heart, 920, 15, 4),
    ],
)
def test_real_tables_load_and_fall_into_their_cohorts(
    data_folder, load, n_rows, n_columns, n_cohorts
):
    data = load()
    assert (data.n_rows, len(data.columns)) == (n_rows, n_columns)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    assert len(cohorts) == n_cohorts
    assert cohorts.weights.sum() == n_rows


def test_a_missing_folder_or_file_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.delenv("MISFEAT_DATA", raising=False)
    with pytest.raises(MisfeatError, match=r"MISFEAT_DATA is not set. Download it \(UCI Heart"):
        load_heart()
    monkeypatch.setenv("MISFEAT_DATA", str(tmp_path))
    with pytest.raises(MisfeatError, match="does not hold it"):
        load_mobile()
