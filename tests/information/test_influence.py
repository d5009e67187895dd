from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import Coding, MisfeatWarning
from misfeat.cohorts import build_cohorts
from misfeat.information import joint_mutual_info, target_entropy
from misfeat.information import mutual_info as module
from misfeat.information.mutual_info import influence, sampled_share


def rows_of(table):
    return build_cohorts(table, "y")["all rows"]


@given(st.integers(0, 2**32 - 1), st.integers(5, 60))
def test_influences_are_of_length_1_or_nothing(seed, n_rows):
    rng = np.random.default_rng(seed)
    table = {name: rng.integers(0, 3, n_rows) for name in "aby"}
    table["a"][0], table["b"][0], table["y"][:2] = 1 - table["a"][1] % 2, 2, (0, 1)
    rows = rows_of(table)
    for members in range(len(rows.codes)):
        found = influence(rows, [members])
        assert np.sum(found**2) == pytest.approx(1.0) or not found.any()


def test_cells_numbered_anew_are_the_same_cells(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rows_of({name: rng.integers(0, 4, 300) for name in "abcy"})
    before = influence(rows, [0, 1, 2])
    monkeypatch.setattr(module, "MOST_CELLS", 2)
    np.testing.assert_array_equal(influence(rows, [0, 1, 2]), before)


def test_a_copy_errs_as_its_original_does():
    rng = np.random.default_rng(1)
    a, y = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    rows = rows_of({"a": a, "copy": 2 - a, "y": y})
    assert influence(rows, [0]) @ influence(rows, [1]) == pytest.approx(1.0)


def test_rows_that_lack_a_value_have_no_influence():
    table = {"a": [0, 0, 1, 1, None] * 4, "b": [0, 1, 1] * 6 + [0, 1], "y": [0, 0, 1, 0, 1] * 4}
    rows = build_cohorts(table, "y", coding=Coding(sporadic="available"))["all rows"]
    found = influence(rows, [0])
    assert (rows.codes[0] < 0).any()
    assert not found[rows.codes[0] < 0].any()
    assert found.any()


def table(n_rows, right, seed):
    """A feature of three values that names the class as often as `right` says."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    told = np.where(rng.random(n_rows) < right, y, rng.integers(0, 3, n_rows))
    return {"a": told, "y": y}


def deviation(found):
    return np.sqrt(found.spread / found.n_rows + found.chance)


def test_the_share_is_the_score_above_chance_over_the_entropy_of_the_target():
    rows = rows_of(table(300, 0.4, 0))
    score = joint_mutual_info(rows, np.array([[0]]), above_chance=True)[0]
    assert sampled_share(rows, [0]).share == pytest.approx(score / target_entropy(rows))


@pytest.mark.parametrize("right", [0.0, 0.15, 0.5, 0.9])
def test_shares_of_new_samples_vary_as_much_as_is_said(right):
    found = [sampled_share(rows_of(table(400, right, seed)), [0]) for seed in range(300)]
    seen = np.std([one.share for one in found])
    said = np.sqrt(np.mean([deviation(one) ** 2 for one in found]))
    assert 0.85 < said / seen < (1.15 if right else 1.6)  # chance alone looks like a small share


def test_rows_that_lack_a_value_do_not_count():
    columns = table(300, 0.5, 0)
    gaps = {**columns, "a": [None if row < 100 else int(v) for row, v in enumerate(columns["a"])]}
    rows = build_cohorts(gaps, "y", coding=Coding(sporadic="available"))["all rows"]
    assert sampled_share(rows, [0]).n_rows == 200


def test_nothing_is_known_of_a_target_with_a_single_class():
    columns = {"a": [0, 1] * 20, "y": [0] * 20 + [0, 1] * 10, "g": ["x"] * 20 + ["z"] * 20}
    with pytest.warns(MisfeatWarning, match="single value"):
        rows = build_cohorts(columns, "y", groups="g", coding=Coding(min_rows=1))
    assert sampled_share(rows["g=x"], [0]) is None
    assert sampled_share(rows["g=z"], [0]) is not None
