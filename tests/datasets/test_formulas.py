from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.datasets import make_formula
from misfeat.datasets.population import FORMULAS


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


def test_unknown_names_are_refused():
    with pytest.raises(MisfeatError, match="collection='SD3'"):
        make_formula("SD3")
    with pytest.raises(MisfeatError, match="formula=4"):
        make_formula(formula=4)
