from __future__ import annotations

import numpy as np

from misfeat.selection import withholding
from tests.attacks.small_cells import attack


def test_no_small_count_can_be_worked_out():
    assert attack(4, seed=7).n_wrong == 0


def test_the_attack_works_counts_out_where_cells_are_merged_but_not_rounded(monkeypatch):
    monkeypatch.setattr(
        withholding, "rounded", lambda counts, least: np.asarray(counts).astype(np.int64)
    )
    assert attack(4, seed=7).n_wrong == 4
