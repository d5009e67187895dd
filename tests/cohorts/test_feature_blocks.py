import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

from misfeat import SubgroupSelector
from misfeat.cohorts import build_cohorts
from misfeat.cohorts.feature_blocks import joined_blocks
from misfeat.cohorts.feature_removal import without_features
from misfeat.datasets import make_cohorts


@pytest.fixture
def data():
    return make_cohorts(3, 300, 5, hide=0.0, random_state=0)


def test_a_block_is_one_feature_with_a_code_for_every_combination(data):
    cohorts = build_cohorts(data.complete, data.target, groups=data.groups)
    blocked = joined_blocks(cohorts, {"panel": ["f4", "f2"]})
    assert blocked.features == ("f1", "panel", "f3", "f5")
    place = blocked.features.index("panel")
    labels = blocked.categories[place]
    assert len(labels) == 9
    assert labels[0] == "f4=0, f2=0"
    for code, row in zip(blocked.codes[place], cohorts.codes.T, strict=True):
        assert labels[code] == f"f4={row[3]}, f2={row[1]}"
    assert blocked.weights is cohorts.weights


def test_a_cohort_recorded_a_block_if_it_recorded_every_member():
    table = {
        "site": ["p"] * 4 + ["q"] * 4,
        "a": [0, 1, 0, 1, 0, 1, 0, 1],
        "b": [0, 0, 1, 1, None, None, None, None],
        "c": [1, 0, 0, 1, 1, 1, 0, 0],
        "y": [0, 1, 0, 1, 0, 1, 1, 0],
    }
    cohorts = joined_blocks(build_cohorts(table, "y", groups="site"), {"ab": ["a", "b"]})
    assert cohorts.features == ("ab", "c")
    assert cohorts.missing.tolist() == [[False, False], [True, False]]
    assert (cohorts["site=q"].codes[0] == -1).all()


def test_the_gaps_of_a_block_are_the_combinations_in_which_a_member_is_missing():
    table = {
        "a": [0, 1, None, None, 0, 1, 0, 1],
        "b": [0, 0, 1, None, 0, 1, 1, 0],
        "c": [1, None, 0, 1, 1, 1, 0, 0],
        "y": [0, 1, 0, 1, 0, 1, 1, 0],
    }
    cohorts = build_cohorts(table, "y")
    assert cohorts.gap_codes == ((2,), (2,), (2,))
    blocked = joined_blocks(cohorts, {"ab": ["a", "b"]})
    labels, gaps = blocked.categories[0], blocked.gap_codes[0]
    assert [labels[code] for code in gaps] == ["a=missing, b=1", "a=missing, b=missing"]
    assert blocked.gap_codes[1] == (2,)
    assert blocked.recorded_shares().tolist() == [[6 / 8, 7 / 8]]
    assert without_features(cohorts, ["a"]).gap_codes == ((2,), (2,))


def test_a_block_may_have_hundreds_of_combinations(rng):
    table = {name: rng.integers(0, 6, 3000) for name in "abc"}
    cohorts = build_cohorts({**table, "y": rng.integers(0, 2, 3000)}, "y")
    blocked = joined_blocks(cohorts, {"all": ["a", "b", "c"]})
    assert np.unique(blocked.codes[0]).tolist() == list(range(6**3))
    assert blocked.categories[0][-1] == "a=5, b=5, c=5"


def test_the_selector_scores_blocks_and_keeps_their_members(data):
    table = pd.DataFrame(data.complete)
    selector = SubgroupSelector(
        "cohort", size=1, k=2, blocks={"panel": ["f1", "f2"]}, estimate="sample"
    ).fit(table, "target")
    best = selector.top_k(subgroup="cohort=c1")
    assert best["features"][0] == ("panel",)
    own = table[table["cohort"] == "c1"]
    truth = mutual_info_score(own["f1"] * 3 + own["f2"], own["target"])
    assert best["score"][0] == pytest.approx(truth, abs=1e-12)
    assert {"f1", "f2"} <= set(selector.get_feature_names_out())
    assert {"f1", "f2"} <= set(selector.transform(table).columns)
