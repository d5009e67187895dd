from __future__ import annotations

import numpy as np

from misfeat.sites import rounding
from tests.attacks.site_cells import attack


def test_no_small_count_of_a_site_can_be_worked_out():
    assert attack(4, seed=11).n_wrong == 0


def test_the_attack_works_counts_out_where_they_are_not_rounded(monkeypatch):
    def as_they_are(counts, _chance, _least):
        return np.rint(np.asarray(counts)).astype(np.int64)

    monkeypatch.setattr(rounding, "rounded_by", as_they_are)
    assert attack(3, seed=11).n_wrong == 3
