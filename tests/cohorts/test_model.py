from __future__ import annotations

from dataclasses import replace

import numpy as np

from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.feature_blocks import hide_features

TABLE = {
    "site": ["p"] * 4 + ["q"] * 4,
    "a": [0, 1, None, 1, 0, 1, 0, 1],
    "said": ["missing", "taken"] * 4,
    "both": ["missing", None, "x", "x"] * 2,
    "b": [0, 0, 1, 1, None, None, None, None],
    "y": [0, 1, 0, 1, 0, 1, 1, 0],
}


def test_a_value_called_missing_is_a_value():
    cohorts = build_cohorts(TABLE, "y", groups="site")
    gaps = dict(zip(cohorts.features, cohorts.gap_codes, strict=True))
    assert gaps == {"a": (2,), "said": (), "both": (2,), "b": ()}
    shares = dict(zip(cohorts.features, cohorts.recorded_shares().T.tolist(), strict=True))
    assert shares == {"a": [0.75, 1.0], "said": [1.0, 1.0], "both": [0.75, 0.75], "b": [1.0, 0.0]}


def test_shares_are_the_same_where_missing_values_have_no_category():
    own = build_cohorts(TABLE, "y", groups="site")
    none = build_cohorts(TABLE, "y", groups="site", coding=Coding(sporadic="available"))
    assert none.gap_codes == ((), (), (), ())
    assert np.array_equal(own.recorded_shares(), none.recorded_shares())


def test_a_hidden_feature_holds_no_rows_and_others_keep_their_gaps():
    cohorts = build_cohorts(TABLE, "y", groups="site")
    hidden = hide_features(cohorts, np.array([[True, False, False, False], [False] * 4]))
    assert hidden.gap_codes == cohorts.gap_codes
    assert hidden.recorded_shares()[:, 0].tolist() == [0.0, 1.0]


def test_cohorts_with_other_gaps_are_not_equal():
    cohorts = build_cohorts(TABLE, "y", groups="site")
    assert cohorts.equals(replace(cohorts))
    assert not cohorts.equals(replace(cohorts, gap_codes=((),) * 4))
