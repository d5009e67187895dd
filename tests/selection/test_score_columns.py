from __future__ import annotations

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.selection.ranking import as_columns, scored_sets


@pytest.mark.parametrize("settings", [{}, {"estimate": "sample"}, {"include": ["f1"]}])
@pytest.mark.parametrize("tested", [False, True])
def test_columns_hold_what_the_sets_hold_one_by_one(settings, tested):
    data = make_cohorts(n_cohorts=3, n_rows=120, n_features=5, hide=0.3, random_state=0)
    selection = SubgroupSelector(data.groups, size=2, **settings).fit(data.columns, data.target)
    found = selection.selection_
    if tested:
        found.significance(permutations=19)
    sets = scored_sets(
        found.cohorts, found.book, found._shown(2), found.cohorts.names, tests=found.known_tests
    )
    wanted = {name: values for name, values in as_columns(sets).items() if name != "rank"}
    frame = selection.scores()
    assert list(frame.columns) == list(wanted)
    for name, values in wanted.items():
        if isinstance(values[0], float):
            np.testing.assert_array_equal(frame[name].to_numpy(), np.array(values))
        else:
            assert frame[name].tolist() == values


def test_a_numeric_target_has_a_spread_and_one_subgroup_can_be_asked_for():
    rng = np.random.default_rng(0)
    table = {
        "a": rng.integers(3, size=300),
        "b": rng.integers(3, size=300),
        "site": [0, 1, 2] * 100,
    }
    y = table["a"] + rng.normal(size=300)
    selector = SubgroupSelector("site", size=1).fit(table, y)
    frame = selector.scores(subgroup="site=1")
    assert frame["subgroup"].tolist() == ["site=1", "site=1"]
    assert "spread" in frame.columns
