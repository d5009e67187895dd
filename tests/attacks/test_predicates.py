from __future__ import annotations

import pytest

from tests.attacks.predicates import attack, make_table, try_shape
from tests.attacks.tally import Tally


@pytest.mark.parametrize(
    ("groups", "outcome"),
    [
        ({"some": f"tiny in {list(range(3000))}"}, "same answer everywhere"),
        ({"some": "tiny in [1, 2.5, 300]"}, "same answer everywhere"),
        ({"some": "real in [1, 2.5, 3] or long in [4, 5.0]"}, "same answer everywhere"),
        ({"some": "tiny > 300 or tiny < -300"}, "same answer everywhere"),
        ({"some": "ﬁ > 60"}, "same answer everywhere"),
        ({"some": "not " * 40 + "tiny > 50"}, "same answer everywhere"),
        ({"some": "not " * 60 + "tiny > 50"}, "refused clearly"),
        ({"some": " or ".join(["tiny > 1"] * 1001)}, "refused clearly"),
        ({"some": f"tiny in {list(range(10_001))}"}, "refused clearly"),
        ({"some": f"long == {2**63}"}, "refused clearly"),
        ({"some": "real < 1e999"}, "refused clearly"),
        ({"some": "tiny > 1\0"}, "refused clearly"),
        ({"tiny": [1, 10**30]}, "refused clearly"),
        ({"tiny": [1, 300]}, "same answer everywhere"),
    ],
)
def test_predicates_and_cuts_are_answered_alike_or_refused(groups, outcome):
    tally = Tally("predicates", "")
    try_shape(tally, "one", groups, make_table())
    assert tally.outcomes == {outcome: 1}, tally.wrong


@pytest.mark.attack
def test_predicates_of_every_shape_are_answered_alike_or_refused():
    assert not attack(44, seed=3).wrong
