"""Whole tables, with nothing but the target and the groups said."""

import pytest

from tests.cli.commands import json_lines

MOBILE = ("mobile.csv.gz", "price_range", ["dual_sim"], 2)
ATTRITION = ("attrition.csv.gz", "Attrition", ["Age:25,40,50", "Gender"], 8)
LOAN = ("loan.csv.gz", "Loan Status", ["Grade"], 7)
"""File, target, groups and how many subgroups they make."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "telling"),
    [
        (MOBILE, {"ram", "battery_power"}),
        (ATTRITION, {"Job Level", "Marital Status"}),
        (LOAN, set()),
    ],
)
def test_every_real_table_is_answered_sensibly(data_folder, table, telling):
    file, target, groups, n_subgroups = table
    check_answer(data_folder / file, target, groups, n_subgroups, telling)


@pytest.mark.parametrize(
    ("table", "telling"),
    [
        (MOBILE, {"ram"}),
        pytest.param(ATTRITION, {"Job Level"}, marks=pytest.mark.slow),
        (LOAN, {"Term"}),
    ],
)
def test_every_stand_in_of_a_real_table_is_answered_sensibly(stand_in_folder, table, telling):
    file, target, groups, n_subgroups = table
    check_answer(stand_in_folder / file, target, groups, n_subgroups, telling)


def check_answer(path, target, groups, n_subgroups, telling):
    by = [word for group in groups for word in ("--by", group)]
    lines = json_lines("run", str(path), "--target", target, *by)
    cohorts = {line["subgroup"]: line for line in lines if line["kind"] == "subgroup"}
    sets = [line for line in lines if line["kind"] == "set"]
    assert len(cohorts) == n_subgroups
    assert len(sets) == 10 * n_subgroups
    assert not any(line["missing"] for line in cohorts.values())
    used = {group.split(":")[0] for group in groups} | {target}
    for line in sets:
        assert len(set(line["features"]) - used) == 3
        assert 0 <= line["low"] <= line["score"] <= line["high"]
        assert line["high"] <= cohorts[line["subgroup"]]["target_entropy"] + 1e-9
        if line["rank"] == 1:
            assert telling <= set(line["features"])
    assert not any(line["kind"] == "worth" for line in lines)
