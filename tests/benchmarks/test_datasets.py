import numpy as np
import pytest

from benchmarks.common.datasets import (
    FORMULAS,
    load_adult,
    load_attrition,
    load_diabetes130,
    load_loan,
    load_mobile,
    make_formula,
)
from misfeat import MisfeatError
from misfeat.cohorts import build_cohorts

SHAPES = {
    load_mobile: (2000, 21, 2),
    load_attrition: (59_598, 23, 8),
    load_loan: (67_463, 11, 3),
    load_adult: (48_842, 13, 6),
    load_diabetes130: (101_766, 18, 5),
}
"""Rows, columns and cohorts of each."""


def shape(load):
    data = load()
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    assert cohorts.weights.sum() == data.n_rows
    return data.n_rows, len(data.columns), len(cohorts)


@pytest.mark.slow
def test_real_tables_load_and_fall_into_their_cohorts(data_folder):
    assert {load: shape(load) for load in SHAPES} == SHAPES


def test_tables_load_from_the_folder_and_fall_into_their_cohorts(stand_in_folder):
    assert {load: shape(load)[1:] for load in SHAPES} == {k: v[1:] for k, v in SHAPES.items()}


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


def test_xor_binds_tighter_than_and_which_binds_tighter_than_or():
    f = dict(zip("12345", [0b01, 0b11, 0b10, 0b11, 0b10], strict=True))
    # (f2 and f4 and f1) or ((f1 and (f2 xor f5)) xor (f3 and f2 and f1))
    assert FORMULAS[1](*f.values()) == (0b01 | ((0b01 & 0b01) ^ 0b00))
    assert FORMULAS[2](*f.values()) == ((0b11 ^ 0b11 ^ 0b01) | (0b01 & (0b11 ^ 0b10)))
    assert FORMULAS[3](*f.values()) == ((0b01 & 0b11 & 0b10) | (0b01 & 0b10) | (0b10 & 0b10 & 0b11))


@pytest.mark.parametrize(("collection", "n_features", "n_values"), [("SD1", 15, 4), ("SD2", 20, 5)])
def test_collections_have_the_shape_of_the_paper(collection, n_features, n_values):
    data = make_formula(collection, n_rows=2000, random_state=0)
    features = [name for name in data.columns if name.startswith("f")]
    assert len(features) == n_features
    assert data.columns["f1"].max() == n_values - 1
    assert np.unique(data.columns["subgroup"]).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("formula", [1, 2, 3])
def test_the_target_follows_the_formula_unless_there_is_noise(formula):
    clean = make_formula(formula=formula, n_rows=3000, random_state=0)
    relevant = [clean.columns[f"f{i}"] for i in range(1, 6)]
    assert np.array_equal(FORMULAS[formula](*relevant), clean.columns["target"])
    noisy = make_formula(formula=formula, n_rows=3000, noise=True, random_state=0)
    flipped = np.mean(noisy.columns["f15"] != clean.columns["f15"])
    # A flip draws any of four values, so a quarter of the flips changes nothing.
    assert 0.04 < flipped < 0.09
