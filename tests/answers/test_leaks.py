"""Leaks, and gaps that say something."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks.common import datasets as paper_tables
from misfeat import SubgroupSelector, datasets
from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.leaks import leaks, missing_patterns, orders_classes, share_of_target
from misfeat.cli.errors import in_options
from misfeat.cohorts import Coding, build_cohorts
from misfeat.datasets import make_cohorts

SEEDS = range(8)
TABLES = arrays(
    np.int64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(0, 200)
)
ROWS = st.lists(st.integers(20, 90), min_size=2, max_size=5)


def table_of(seed, cases=None):
    """A table of three subgroups; its target has two classes, or as rare cases as asked for."""
    rng = np.random.default_rng(seed)
    data = make_cohorts(3, 300, 5, hide=0.2, random_state=seed)
    target = np.asarray(data.columns[data.target])
    if cases is not None:
        target = (rng.random(len(target)) < cases).astype(int)
    return {**data.columns, data.target: target}, data, target, rng


def named(find, table, data, **coding):
    cohorts = build_cohorts(table, data.target, groups=data.groups, coding=Coding(**coding))
    return [caution.columns for caution in find(cohorts)]


def with_errors(target, share, rng):
    """A copy in which a share of the rows holds a class that is not theirs."""
    classes = np.unique(target)
    wrong = rng.random(len(target)) < share
    shift = rng.integers(1, len(classes), len(target))
    place = np.searchsorted(classes, target)
    return classes[np.where(wrong, (place + shift) % len(classes), place)]


@pytest.mark.parametrize("cases", [None, 0.3, 0.1])
@pytest.mark.parametrize("errors", [0.0, 0.02])
def test_copies_of_the_target_are_named_in_every_table(cases, errors):
    for seed in SEEDS:
        table, data, target, rng = table_of(seed, cases)
        copy = with_errors(target, errors, rng)
        assert named(leaks, {**table, "copy": copy}, data) == [("copy",)], seed


@pytest.mark.parametrize("sporadic", ["category", "available"])
def test_recoded_copies_are_named(sporadic):
    table, data, target, rng = table_of(0)
    number = np.searchsorted(np.unique(target), target)
    measured = 100.0 * number + rng.random(len(target))
    measured[rng.random(len(target)) < 0.1] = np.nan
    text = np.array([f"code {9 - one}" for one in number])
    found = named(leaks, {**table, "measured": measured, "text": text}, data, sporadic=sporadic)
    assert found == [("measured",), ("text",)]


def test_a_copy_in_one_subgroup_alone_is_named_there():
    table, data, target, rng = table_of(1)
    (group,) = [data.groups] if isinstance(data.groups, str) else data.groups
    here = np.asarray(table[group]) == "c1"
    copy = np.where(here, target, rng.permutation(target))
    cohorts = build_cohorts({**table, "copy": copy}, data.target, groups=data.groups)
    (found,) = leaks(cohorts)
    assert found.subgroups == (f"{group}=c1",)


@pytest.mark.parametrize("right", [0.9, 0.95])
def test_a_copy_with_one_error_in_twenty_is_a_leak_and_a_good_test_is_none(right, rng):
    target = rng.integers(0, 2, 2000)
    table = {"test": np.where(rng.random(2000) < right, target, 1 - target), "y": target}
    assert bool(list(leaks(build_cohorts(table, "y")))) == (right == 0.95)


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_a_number_with_a_tenth_of_its_deviation_in_noise_is_a_leak(noise):
    target, other = np.random.default_rng(0).normal(size=(2, 2000))
    cohorts = build_cohorts({"x": target + noise * other, "y": target}, "y")
    assert bool(list(leaks(cohorts))) == (noise == 0.1)


def test_two_features_that_determine_the_target_together_are_cautioned_about():
    bought, prescribed = np.random.default_rng(0).integers(0, 4, (2, 2000))
    table = {"all": bought + prescribed, "prescribed": prescribed, "y": bought}
    cautions = SubgroupSelector(size=2).fit(table, "y").cautions()
    assert cautions["columns"][cautions["kind"] == "leak"].tolist() == [("all", "prescribed")]


@pytest.mark.parametrize("sporadic", ["category", "available"])
@pytest.mark.parametrize("cases", [None, 0.1])
def test_a_column_that_is_missing_with_one_class_is_named_in_every_table(sporadic, cases):
    for seed in SEEDS:
        table, data, target, rng = table_of(seed, cases)
        later = rng.normal(size=len(target))
        later[target == np.unique(target)[-1]] = np.nan
        found = named(missing_patterns, {**table, "later": later}, data, sporadic=sporadic)
        assert found == [("later",)], seed


def test_gaps_by_chance_or_of_subgroups_are_not_named(rng):
    table, data, target, rng = table_of(2)
    gaps = np.where(rng.random(len(target)) < 0.3, np.nan, rng.normal(size=len(target)))
    assert named(missing_patterns, {**table, "gaps": gaps}, data) == []
    site = np.repeat(["a", "b"], 1000)
    target = (rng.random(2000) < np.where(site == "a", 0.95, 0.05)).astype(int)
    gaps = rng.random(2000) < np.where(site == "a", 0.9, 0.05)
    table = {"site": site, "x": np.where(gaps, np.nan, rng.normal(size=2000)), "y": target}
    together = {name: values for name, values in table.items() if name != "site"}
    assert not list(missing_patterns(build_cohorts(table, "y", groups="site")))
    assert len(list(missing_patterns(build_cohorts(together, "y")))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heart", "mobile", "attrition", "loan"])
def test_nothing_is_named_in_real_tables(name, data_folder):
    assert data_folder.exists()
    package = datasets if name == "heart" else paper_tables
    data = getattr(package, f"load_{name}")()
    cohorts = build_cohorts(
        data.columns, data.target, groups=data.groups, coding=Coding(bins=data.bins)
    )
    assert not [*leaks(cohorts), *missing_patterns(cohorts)]


@given(TABLES)
def test_shares_lie_between_nothing_and_all(table):
    share, sure = share_of_target(table)
    assert 0 <= sure <= share <= 1


@given(st.integers(2, 5), st.integers(2, 4), st.integers(1, 30))
def test_a_value_that_has_nothing_to_do_with_classes_tells_nothing(values, classes, rows):
    assert share_of_target(np.full((values, classes), rows)).share == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("cases", [50, 100, 1000])
def test_a_copy_with_errors_tells_as_much_however_rare_the_cases_are(cases):
    others = 50 * cases
    table = [[0.98 * others, 0.02 * cases], [0.02 * others, 0.98 * cases]]
    assert share_of_target(table).share == pytest.approx(0.86, abs=0.06)


def binned(values, target, bins):
    edges = np.quantile(values, np.arange(1, bins) / bins, method="inverted_cdf")
    table = np.zeros((bins, target.max() + 1))
    np.add.at(table, (np.searchsorted(edges, values), target), 1)
    return table


@given(ROWS, st.integers(2, 9), st.randoms(use_true_random=False))
def test_classes_in_order_are_seen_through_any_bins(rows, bins, chance):
    names = chance.sample(range(len(rows)), len(rows))
    target = np.repeat(names, rows)
    assert orders_classes(binned(np.arange(len(target)), target, bins))


@given(ROWS, st.integers(2, 9), st.integers(0, 99))
def test_classes_in_no_order_are_not(rows, bins, seed):
    target = np.repeat(np.arange(len(rows)), rows)
    values = np.random.default_rng(seed).permutation(len(target))
    assert not orders_classes(binned(values, target, bins))


@pytest.mark.parametrize(("cases", "bins"), [(0.11, 5), (0.2, 3), (0.16, 5)])
def test_a_number_that_orders_rare_cases_is_a_leak(cases, bins, rng):
    target = (rng.random(1000) < cases).astype(int)
    number = 100.0 * target + rng.random(1000)
    good = 1.5 * target + rng.normal(size=1000)
    table = {"number": number, "good": good, "y": target}
    found = leaks(build_cohorts(table, "y", coding=Coding(bins=bins)))
    assert [caution.columns for caution in found] == [("number",)]


def test_a_value_or_a_number_that_is_high_in_all_of_few_cases_is_no_leak(rng):
    table = {"copy": [0, 0, 1, 1] * 3, "y": [0, 0, 1, 1] * 3}
    assert not list(leaks(build_cohorts(table, "y")))
    age = rng.uniform(20, 95, 4000)
    table = {"age": age, "y": (age > 80) & (rng.random(4000) < 0.25)}
    assert not list(leaks(build_cohorts(table, "y")))
    rng = np.random.default_rng(0)
    woman = rng.integers(0, 2, 2000)
    table = {"woman": woman, "y": woman * (rng.random(2000) < 0.2)}
    assert not list(leaks(build_cohorts(table, "y")))


def test_many_cautions_of_a_kind_are_one_that_lists_all_columns(rng):
    y = np.arange(200) % 2
    table = {f"x{n:02}": y if n < 4 else rng.integers(0, 2, 200) for n in range(6)}
    selector = SubgroupSelector(size=1).fit({**table, "y": y}, "y")
    found = {one.kind: one for one in list_cautions(selector.selection_)}
    assert found["leak"].words == (
        "4 features nearly determine the target each, and may be copies of it or made from it: "
        "'x00', 'x01', 'x02' and 'x03'. Unless known before the target is, leave them out: "
        "exclude='suspects'."
    )
    assert in_options(found["leak"].remedy).endswith("leave them out: --exclude-suspects.")
    assert found["leak"].columns == ("x00", "x01", "x02", "x03")
    assert found["duplicate"].sentence.startswith("6 pairs of features determine each other: 'x00'")
    frame = selector.cautions()
    assert frame["kind"].tolist().count("leak") == 1
    assert frame.set_index("kind").loc["leak", "columns"] == found["leak"].columns


@pytest.mark.parametrize("measure", ["mutual_info", "r2"])
def test_suspects_are_left_out_in_one_step_and_named(measure, rng):
    y = rng.integers(0, 2, 400)
    late = np.where(y == 1, np.nan, rng.normal(size=400))
    fair = (y + rng.integers(0, 3, 400)) % 4
    table = {"fair": fair, "copy": 3 * y, "late": late, "kept": y, "more": fair // 2, "y": y}
    settings = {"size": 1, "measure": measure, "include": ["kept"], "exclude": ["more", "suspects"]}
    selector = SubgroupSelector(**settings).fit(table, "y")
    assert selector.selection_.feature_names == ("fair", "kept")
    assert selector.cohorts_.notes[-1] == (
        "exclude='suspects' leaves out 'copy' (explains 97 % of the target by itself) and 'late' "
        "(explains 97 % of the target by where it is missing)."
    )
    named = SubgroupSelector(size=1, exclude="suspects").fit({"suspects": y, "a": fair}, y)
    assert named.selection_.feature_names == ("a",)


def test_a_feature_that_tells_by_its_gaps_alone_is_named(rng):
    y = rng.integers(0, 2, 900)
    table = {name: rng.normal(size=900) + told * y for name, told in (("gaps", 0.0), ("both", 1.5))}
    for values in table.values():
        values[rng.random(900) < np.where(y, 0.45, 0.15)] = np.nan
    table |= {"site": np.arange(900) % 3, "y": y}
    selection = SubgroupSelector("site", size=1).fit(table, "y").selection_
    (caution,) = (one for one in list_cautions(selection) if one.kind == "informative gaps")
    assert caution.columns == ("gaps",)
    table["gaps"] = np.where(rng.random(900) < 0.3, np.nan, rng.normal(size=900))
    selection = SubgroupSelector("site", size=1).fit(table, "y").selection_
    assert not [one for one in list_cautions(selection) if one.kind == "informative gaps"]
