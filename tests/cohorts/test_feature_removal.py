import numpy as np
import pandas as pd
import pytest

from misfeat import MisfeatError, MisfeatWarning, SubgroupSelector
from misfeat.cohorts import build_cohorts
from misfeat.cohorts.feature_removal import without_features
from misfeat.datasets import make_cohorts


@pytest.fixture
def data():
    return make_cohorts(3, 300, 5, hide=0.0, random_state=0)


def test_features_left_out_are_reported(data):
    cohorts = build_cohorts(data.complete, data.target, groups=data.groups)
    left = without_features(cohorts, ["f2"])
    assert left.features == ("f1", "f3", "f4", "f5")
    (report,) = [report for report in left.columns if report.column == "f2"]
    assert (report.role, report.treatment) == ("left out", "excluded")


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


def test_nothing_is_noted_of_a_column_that_is_left_out(rng):
    many = [f"v{value}" for value in rng.integers(0, 60, 900)]
    table, y = {"many": many, "a": rng.integers(0, 3, 900)}, rng.integers(0, 2, 900)
    for exclude, noted in ((None, True), (["many"], False)):
        notes = SubgroupSelector(size=1, exclude=exclude).fit(table, y).cohorts_.notes
        assert any("'many'" in note for note in notes) == noted
