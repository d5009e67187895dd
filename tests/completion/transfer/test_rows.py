from __future__ import annotations

import numpy as np

from misfeat import Coding
from misfeat.cohorts import build_cohorts
from misfeat.completion.transfer.rows import CodedRows


def test_rare_categories_are_merged_and_gaps_become_one():
    rng = np.random.default_rng(0)
    codes = np.minimum(rng.geometric(0.05, size=4000), 60)
    columns = {"many": [f"v{c}" for c in codes], "y": codes % 2, "site": np.arange(4000) % 2}
    cohorts = build_cohorts(columns, "y", groups="site", coding=Coding(max_categories=60))
    rows = CodedRows.of(cohorts, most=8)
    assert rows.cards.tolist() == [8]
    assert not rows.as_scored
    assert set(np.unique(rows.codes)) == set(range(8))
    assert CodedRows.of(cohorts, most=100).as_scored
    columns["some"] = np.where(rng.random(4000) < 0.1, np.nan, codes % 3)
    with_gaps = build_cohorts(columns, "y", groups="site", coding=Coding(sporadic="available"))
    place = with_gaps.features.index("some")
    assert CodedRows.of(with_gaps).cards[place] == 4
