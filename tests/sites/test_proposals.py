from __future__ import annotations

import numpy as np
import pytest

from misfeat import Coding, MisfeatError
from misfeat.sites import propose, read_proposal
from misfeat.sites.codebook import LONGEST, rounded


def table(n=200):
    rng = np.random.default_rng(0)
    return {
        "age": rng.normal(50, 12, n).round(3),
        "smokes": ["yes"] * 9 + ["no"] * (n - 9),
        "parity": rng.integers(0, 3, n),
        "id": [f"person {i}" for i in range(n)],
        "lab": [None] * n,
        "ill": rng.random(n) < 0.4,
    }


def test_a_proposal_names_common_values_and_rounded_cut_points_only():
    found = propose(table(), "ill", "north")
    columns = {one.column: one for one in found.features}
    assert columns["age"].edges == (41, 47, 54, 61)
    assert columns["smokes"].values == ("no",)
    assert columns["parity"].values == (0, 1, 2)
    assert set(found.left_out) == {"id", "lab"}
    assert found.target.kind == "flag"


@pytest.mark.parametrize(("n", "most"), [(3, 0), (19, 0), (20, 1), (49, 3), (50, 4)])
def test_at_least_ten_rows_lie_between_two_cut_points(n, most):
    ages = np.linspace(20.0, 90.0, n)
    held = {"age": ages, "ill": ([False, True] * n)[:n]}
    found = propose(held, "ill", "north", coding=Coding(min_rows=1))
    assert len(found.features[0].edges) == most


def test_a_column_with_a_name_that_no_codebook_holds_is_left_out():
    found = propose({**table(), "x" * 3000: [0, 1] * 100}, "ill", "north")
    assert "more than" in found.left_out["x" * LONGEST]


def test_cut_points_that_a_site_gives_are_proposed_as_they_are():
    found = propose(table(), "ill", "north", coding=Coding(bins={"age": [45, 65]}))
    assert found.features[0].edges == (45, 65)


def test_a_proposal_comes_back_as_it_was(tmp_path):
    found = propose(table(), "ill", "north")
    found.write(tmp_path / "p.json")
    again = read_proposal(tmp_path / "p.json")
    assert again.features == found.features
    assert again.target == found.target


@pytest.mark.parametrize("name", ["", "a\nb", 3])
def test_a_site_has_a_name(name):
    with pytest.raises(MisfeatError, match="name"):
        propose(table(), "ill", name)


def test_cut_points_are_rounded_well_below_their_spread():
    assert rounded([]) == ()
    assert rounded([5.0]) == (5,)
    assert rounded([1234.0, 5678.0]) == (1000, 6000)
