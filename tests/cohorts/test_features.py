import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

from misfeat import MisfeatError, MisfeatWarning, SubgroupSelector
from misfeat.cohorts import build_cohorts
from misfeat.cohorts.left_out_features import joined_blocks, without_features
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


def test_a_block_may_have_hundreds_of_combinations():
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 6, 3000) for name in "abc"}
    cohorts = build_cohorts({**table, "y": rng.integers(0, 2, 3000)}, "y")
    blocked = joined_blocks(cohorts, {"all": ["a", "b", "c"]})
    assert np.unique(blocked.codes[0]).tolist() == list(range(6**3))
    assert blocked.categories[0][-1] == "a=5, b=5, c=5"


def test_features_left_out_are_reported(data):
    cohorts = build_cohorts(data.complete, data.target, groups=data.groups)
    left = without_features(cohorts, ["f2"])
    assert left.features == ("f1", "f3", "f4", "f5")
    (report,) = [report for report in left.columns if report.column == "f2"]
    assert (report.role, report.treatment) == ("left out", "excluded")


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


def test_included_features_are_in_every_set_and_excluded_ones_in_none(data):
    table = pd.DataFrame(data.complete)
    selector = SubgroupSelector("cohort", size=2, include=["f5"], exclude=["f1"]).fit(
        table, "target"
    )
    sets = list(selector.top_k()["features"])
    assert sets
    assert all("f5" in features and "f1" not in features for features in sets)
    assert len(selector.scores(subgroup="cohort=c1")) == 3
    assert "f5" in selector.get_feature_names_out()
    asked = {"size": 2, "measure": "r2", "estimate": "sample"}
    r2 = SubgroupSelector("cohort", exclude=["f1"], **asked).fit(table, "target")
    assert all("f1" not in features for features in r2.scores()["features"])
    usual = SubgroupSelector("cohort", **asked).fit(table, "target")
    assert r2.score_of("cohort=c1", ["f2", "f3"]) == pytest.approx(
        usual.score_of("cohort=c1", ["f2", "f3"])
    )


def test_what_is_worth_collecting_keeps_what_is_included():
    data = make_cohorts(3, 400, 6, hide=0.3, random_state=1)
    selector = SubgroupSelector(data.groups, size=2, include=["f1"], random_state=0)
    worth = selector.fit(data.columns, data.target).worth_collecting()
    assert len(worth)
    assert all("f1" in best for best in worth["best_set"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"include": ["f9"]}, "no column 'f9' .asked for as a feature to include"),
        ({"exclude": ["f9"]}, "no column 'f9' .asked for as a feature to exclude"),
        ({"include": ["f1", "f2", "f3"]}, "size=2, but 3 features are to be included"),
        ({"include": 3}, "include=3; it must be a list of names"),
        ({"blocks": {"p": ["f9"]}}, "a member of the block 'p'"),
        ({"blocks": {"p": "f1"}}, "The block 'p' is 'f1'; give a list"),
        ({"blocks": {"p": ["f1"], "q": ["f1"]}}, "Blocks name 'f1' twice, in 'p' and 'q'"),
        ({"blocks": {"p": ["f1", "f1"]}}, "Blocks name 'f1' twice, in 'p' and 'p'"),
        ({"blocks": {"p": ["f1", 3]}}, "The block 'p' is .* give a list of features"),
        ({"blocks": {1: ["f1", "f2"]}}, "A block is named 1; names must be text"),
        ({"blocks": {"f3": ["f1", "f2"]}}, "'f3' has the name of a column"),
        ({"blocks": {"target": ["f1", "f2"]}}, "'target' has the name of a column"),
        ({"blocks": {"f3": ["f1"]}, "exclude": ["f3"]}, "'f3' has the name of a column"),
        ({"blocks": ["f1"]}, "it must map names to lists"),
        ({"blocks": {"p": ["f1"]}, "measure": "r2"}, "blocks needs measure='mutual_info'"),
    ],
)
def test_choices_that_make_no_sense_are_refused(data, settings, message):
    with pytest.raises(MisfeatError, match=message):
        SubgroupSelector("cohort", size=2, **settings).fit(data.complete, "target")


def test_names_may_come_in_an_array_or_an_index(data, tmp_path):
    table = pd.DataFrame(data.complete)

    def fitted(hold):
        choices = {"include": hold(["f5"]), "exclude": hold(["f1"]), "blocks": {"p": ("f2", "f3")}}
        return SubgroupSelector("cohort", size=2, **choices).fit(table, "target")

    expected = fitted(list)
    for hold in (np.array, pd.Index, pd.Series, set):
        found = fitted(hold)
        assert found.top_k().equals(expected.top_k())
        assert isinstance(found.exclude, type(hold(["f1"])))  # parameters stay as they came
        if hold is not pd.Series:
            found.save(tmp_path / "run")
            again = SubgroupSelector.load(tmp_path / "run")
            assert again.get_params() == expected.get_params()
            assert again.top_k().equals(expected.top_k())
            assert np.array_equal(again.get_support(), expected.get_support())


def table():
    """A feature of every fate: scored, constant, an identifier, text."""
    rng = np.random.default_rng(0)
    n = 120
    data = {f"x{i}": rng.integers(3, size=n) for i in range(1, 5)}
    return pd.DataFrame(
        {
            "site": np.repeat(["a", "b"], n // 2),
            **data,
            "same": 1,
            "number": rng.permutation(n),
            "kind": np.where(data["x1"] > 0, "p", "q"),
            "y": (data["x1"] + rng.integers(2, size=n)) % 2,
        }
    )


REASONS = {
    "x1": "is in exclude; take it out of one of the two",
    "x2": "is a member of the block 'panel'; name the block",
    "site": "tells the subgroups apart and is not a feature",
    "y": "is the target; take it out",
    "same": "was left out: constant",
    "number": "was left out as an identifier; if it measures something, keep it with bins=",
}


def selector(**settings):
    blocks = {"panel": ["x2", "x3"]}
    return SubgroupSelector("site", size=2, exclude=["x1"], blocks=blocks, **settings)


@pytest.fixture(scope="module")
def fitted():
    with pytest.warns(MisfeatWarning, match="Column 'number' is left out"):
        return selector().fit(table(), "y")


@pytest.mark.filterwarnings("ignore:Column 'number' is left out")
def test_a_column_that_is_no_feature_is_refused_with_the_reason(fitted):
    for name, reason in REASONS.items():
        expected = f"{name!r} was asked for as {{}}, but it {reason}"
        with pytest.raises(MisfeatError, match=expected.format("a feature to include")):
            selector(include=[name]).fit(table(), "y")
        with pytest.raises(MisfeatError, match=expected.format("a feature with a cost")):
            fitted.worth_collecting(costs={name: 2})
        with pytest.raises(MisfeatError, match=expected.format("a feature")):
            fitted.score_of("site=a", [name])
        if name != "x2":
            with pytest.raises(MisfeatError, match=expected.format("a member of the block 'q'")):
                selector().set_params(blocks={"q": ["x4", name]}).fit(table(), "y")


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_other_names_are_refused_with_other_reasons(fitted):
    r2 = SubgroupSelector("site", size=1, measure="r2").fit(table(), "y")
    empty = SubgroupSelector("site", size=1).fit(table().assign(x4=np.nan), "y")
    for asked, name, reason in (
        (fitted, "x9", r"no column 'x9' .*; it has 'panel', 'x4'"),
        (r2, "kind", r"'kind' .* has no numbers that measure='r2' could use"),
        (empty, "x4", r"'x4' .* because no subgroup recorded it; check"),
    ):
        with pytest.raises(MisfeatError, match=reason):
            asked.score_of("site=a", [name])


def test_nothing_is_noted_of_a_column_that_is_left_out():
    rng = np.random.default_rng(0)
    many = [f"v{value}" for value in rng.integers(0, 60, 900)]
    table, y = {"many": many, "a": rng.integers(0, 3, 900)}, rng.integers(0, 2, 900)
    for exclude, noted in ((None, True), (["many"], False)):
        notes = SubgroupSelector(size=1, exclude=exclude).fit(table, y).cohorts_.notes
        assert any("'many'" in note for note in notes) == noted
