from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from misfeat import MisfeatError, MisfeatWarning
from misfeat.cohorts import Coding, build_cohorts
from misfeat.datasets import load_readmission
from tests.cohorts.tables import table


def test_weights_count_the_rows_of_the_table_and_rows_are_distinct_within_a_cohort():
    data = table()
    cohorts = build_cohorts(data, "y", groups="site")
    for cohort in cohorts:
        site = cohort.name.removeprefix("site=")
        assert cohort.size == np.sum(data["site"] == site)
        rows = np.vstack([cohort.codes, cohort.target])
        assert rows.shape[1] == np.unique(rows, axis=1).shape[1]
        for row, weight in zip(rows.T, cohort.weights, strict=True):
            x, z, y = row
            held = (data["site"] == site) & (data["x"] == x) & (data["z"] == z) & (data["y"] == y)
            assert held.sum() == weight


def test_the_paper_example_has_four_subgroups_and_their_gaps():
    patients = load_readmission()
    with pytest.warns(MisfeatWarning, match="ethnicity=Caucasian & age>40"):
        cohorts = build_cohorts(patients.columns, patients.target, groups=patients.groups)
    assert cohorts.names == tuple(
        f"ethnicity={e} & {a}" for e, a in product(["Asian", "Caucasian"], ["age<=40", "age>40"])
    )
    assert cohorts.missing_features("ethnicity=Asian & age<=40") == (
        "blood_pressure",
        "cholesterol",
    )
    assert cohorts.missing_features("ethnicity=Asian & age>40") == ()


def test_equal_cohorts_are_equal_and_others_are_not():
    data = table()
    cohorts = build_cohorts(data, "y", groups="site")
    assert cohorts.equals(build_cohorts(data, "y", groups="site"))
    changed = {**data, "x": np.roll(data["x"], 1)}
    assert not cohorts.equals(build_cohorts(changed, "y", groups="site"))


def test_progress_is_reported_from_start_to_end():
    seen = []
    build_cohorts(table(), "y", progress=lambda *step: seen.append(step))
    assert seen[0] == ("Reading columns", 0, 4)
    assert seen[-1] == ("Counting rows", 1, 1)


@pytest.mark.parametrize(
    ("change", "arguments", "complaint"),
    [
        ({}, {"y": "yy"}, r"no column 'yy' \(asked for as the target\); did you mean 'y'"),
        ({}, {"y": "outcome"}, "it has 'site', 'x', 'z', 'y'"),
        ({}, {"groups": "sites"}, r"no column 'sites' \(asked for as groups\).*'site'"),
        ({}, {"groups": {"old": "age > 4"}}, "no column 'age'"),
        ({}, {"coding": Coding(missing_values={"chol": 0})}, "no column 'chol'.*missing_values"),
        ({}, {"coding": Coding(bins={"chol": 4})}, "no column 'chol'.*bins"),
        ({}, {"groups": ["site", "y"]}, "'y' is both the target and a group"),
        ({}, {"y": None}, "No target was given"),
        ({"y": np.full(60, np.nan)}, {}, "target 'y' is missing in every row"),
        ({"y": np.array([f"p{i}" for i in range(60)])}, {}, "target 'y' has a different value"),
        ({"u": np.arange(60)}, {"groups": "u"}, "'u' has a different value in nearly every row"),
        ({}, {"groups": {"site": [1, 2]}}, "'site' holds text values and cannot be cut at 1, 2"),
        ({}, {"groups": {"x": ["2024-01-01"]}}, "'x' holds integer values and cannot be cut"),
        ({}, {"groups": {"site": {"q": "Q"}}}, "names the value 'q', which does not occur"),
        ({}, {"groups": {"g": "x == 'a'"}}, "compares 'x', which holds integer values, with 'a'"),
        ({}, {"groups": {"g": "site > 1"}}, "compares 'site', which holds text values, with 1"),
        ({}, {"groups": {"g": "x == True"}}, "compares 'x'"),
        ({}, {"groups": 5}, "groups=5 defines no subgroups; use a column name, groups={'age'"),
        ({}, {"groups": ["site", 5]}, "groups=5 defines"),
        ({}, {"groups": {5: [1]}}, "groups={5: .* defines"),
        ({}, {"coding": Coding(sporadic="drop")}, "'drop' is unknown; use 'category' or"),
        ({}, {"coding": Coding(small_groups="x")}, "small_groups='x'"),
        ({}, {"coding": Coding(missing_groups="x")}, "missing_groups='x'"),
        ({}, {"coding": Coding(missing_threshold=0)}, "missing_threshold=0"),
        ({}, {"coding": Coding(max_categories=1)}, "max_categories=1"),
        ({}, {"coding": Coding(min_rows=0)}, "min_rows=0"),
        ({"x": np.zeros(3)}, {}, "columns differ in length: 'site' has 60, 'x' has 3"),
        ({"x": np.zeros((60, 2))}, {}, "Column 'x' has 2 dimensions"),
        ({3: np.zeros(60)}, {}, "3 is not"),
    ],
)
def test_what_cannot_be_answered_is_refused_by_name(change, arguments, complaint):
    arguments = {"y": "y", **arguments}
    with pytest.raises(MisfeatError, match=complaint):
        build_cohorts({**table(), **change}, **arguments)


def test_a_target_that_is_constant_in_a_cohort_is_warned_about():
    data = table()
    data["y"][data["site"] == "b"] = 1
    with pytest.warns(MisfeatWarning, match="single value in the subgroup 'site=b'"):
        cohorts = build_cohorts(data, "y", groups="site")
    assert "site=b" in cohorts.names


def test_warnings_point_at_the_line_of_the_user():
    with pytest.warns(MisfeatWarning) as caught:
        build_cohorts(table(empty=np.full(60, np.nan)), "y")
    assert caught[0].filename == __file__


def test_long_lists_of_subgroups_are_cut_short():
    n = 400
    data = {"g": np.arange(n) // 2, "x": np.arange(n) % 3, "y": np.arange(n) % 2}
    cohorts = build_cohorts(data, "y", groups="g")
    with pytest.raises(MisfeatError, match="'g=9' and 190 more"):
        cohorts.position("g=none")
    with pytest.raises(MisfeatError, match=r"g=9 \(2\) and 190 more\. Lower it"):
        build_cohorts(data, "y", groups="g", coding=Coding(min_rows=3, small_groups="drop"))
    with pytest.raises(MisfeatError, match=r"the values are .* and 190 more"):
        build_cohorts(data, "y", groups={"g": {"no": "other"}})
