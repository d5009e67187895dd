"""The real tables, with nothing but the target and the groups said."""

from __future__ import annotations

import json
import time

import pytest

from tests.cli.commands import run

SECONDS = 120
"""Far more than a run takes, compilation included."""


@pytest.mark.parametrize(
    ("file", "target", "groups", "subgroups", "expected", "lacking"),
    [
        ("mobile.csv.gz", "price_range", ["dual_sim"], 2, {"ram", "battery_power"}, set()),
        (
            "attrition.csv.gz",
            "Attrition",
            ["Age:25,40,50", "Gender"],
            8,
            {"Job Level", "Marital Status"},
            set(),
        ),
        ("loan.csv.gz", "Loan Status", ["Grade"], 7, set(), set()),
        ("heart.csv", "num", ["site"], 4, set(), {"ca"}),
    ],
)
def test_every_table_is_answered_sensibly(
    data_folder, file, target, groups, subgroups, expected, lacking
):
    by = [word for group in groups for word in ("--by", group)]
    begun = time.monotonic()
    result = run("run", str(data_folder / file), "--target", target, *by, "--json")
    assert result.exit_code == 0, result.stderr
    assert time.monotonic() - begun < SECONDS
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    cohorts = {line["subgroup"]: line for line in lines if line["kind"] == "subgroup"}
    sets = [line for line in lines if line["kind"] == "set"]
    assert len(cohorts) == subgroups
    assert len(sets) == 10 * subgroups
    assert {feature for line in cohorts.values() for feature in line["missing"]} == lacking
    used = {group.split(":")[0] for group in groups} | {target}
    for line in sets:
        assert len(set(line["features"]) - used) == 3
        assert 0 <= line["low"] <= line["score"] <= line["high"]
        assert line["high"] <= cohorts[line["subgroup"]]["target_entropy"] + 1e-9
        if line["rank"] == 1:
            assert expected <= set(line["features"])
    worths = [line for line in lines if line["kind"] == "worth"]
    assert {line["feature"] for line in worths} == lacking
