"""The same table gives the same answer from whichever engine holds it, tried on real engines."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from misfeat import SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.cohorts import Coding, Cohorts, build_cohorts
from misfeat.cohorts.cohort_data import ColumnAudit
from tests.cohorts.plans import collected_queries
from tests.reading.engines import ENGINES, Hold, as_pandas
from tests.reading.test_holders_agree import TABLES

pytestmark = pytest.mark.heavy

HEART = {"groups": "site", "coding": Coding(missing_values={"chol": [0]})}
PATIENT_CODES = ["?", -9]
PATIENT_GROUPS: dict[str, Any] = {
    "text with nulls": "clinic",
    "flags with nulls": "fever",
    "integers with nulls": "Beds per room",
    "cut points of integers": {"age": [40, 60]},
    "cut points of dates": {"born": ["1948-01-01", "1965-07-01"]},
    "cut points of moments with a zone": {"called": ["2020-02-01T12:30"]},
    "merged values": {"drug": {"drug a": "first", "drug b": "first", "*": "others"}},
    "several": ["clinic", {"age": [60]}, "fever"],
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ENGINES],
)
def hold(request: pytest.FixtureRequest) -> Iterator[Hold]:
    """Puts a table into an engine; all tests of one engine run before the next one starts."""
    with ENGINES[request.param]() as hold:
        yield hold


@pytest.fixture(scope="module")
def heart(heart_path: Path) -> pa.Table:
    return pa.Table.from_pandas(pd.read_csv(heart_path), preserve_index=False)


@pytest.fixture(scope="module")
def held_heart(hold: Hold, heart: pa.Table) -> Any:
    return hold(heart)


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    return make_patients(600)


@pytest.fixture(scope="module")
def held_patients(hold: Hold, patients: pa.Table) -> Any:
    return hold(patients)


def make_patients(rows: int) -> pa.Table:
    """Columns that engines are known to treat differently, each with holes of its own."""
    random = np.random.default_rng(20240229)

    def chance(share: float) -> list[bool]:
        return (random.random(rows) < share).tolist()

    def holes(values: list[Any], share: float, hole: object = None) -> list[Any]:
        return [hole if gone else v for v, gone in zip(values, chance(share), strict=True)]

    def integers(low: int, high: int) -> list[int]:
        return random.integers(low, high, rows).tolist()

    def choices(*values: str) -> list[str]:
        falling = np.arange(len(values), 0, -1)
        return random.choice(values, rows, p=falling / falling.sum()).tolist()

    age, visits = integers(18, 95), integers(0, 30)
    fever = [a + v > 80 or u for a, v, u in zip(age, visits, chance(0.2), strict=True)]
    lab = np.round(random.normal(size=rows), 2)
    lab[:4] = [np.inf, -np.inf, -0.0, 0.0]
    fee = [Decimal(cents) / 100 for cents in integers(100, 9000)]
    born = [dt.date(1930, 1, 1) + dt.timedelta(days=d) for d in integers(0, 20_000)]
    seen = [dt.datetime(2019, 12, 1) + dt.timedelta(microseconds=m) for m in integers(0, 10**13)]
    outcome = [a // 35 + v // 10 + u for a, v, u in zip(age, visits, chance(0.3), strict=True)]
    return pa.table(
        {
            "age": pa.array(age, pa.int32()),
            "clinic": pa.array(holes(choices("north", "south", "Süd-Ost"), 0.1)),
            "smoker": pa.array(holes(holes(choices("no", "yes"), 0.1, "?"), 0.1)),
            "drug": pa.array(choices(*(f"drug {letter}" for letter in "abcdefghijklmn"))),
            "weight": pa.array(holes([str(w / 4) for w in integers(160, 400)], 0.1, "?")),
            "visits": pa.array(holes(holes(visits, 0.1, -9), 0.1), pa.int64()),
            "Beds per room": pa.array(holes(integers(1, 4), 0.1), pa.int64()),
            "fever": pa.array(holes(fever, 0.15), pa.bool_()),
            "lab": pa.array(holes(holes(lab.tolist(), 0.1, np.nan), 0.1), pa.float64()),
            "fee": pa.array(holes(fee, 0.1), pa.decimal128(6, 2)),
            "born": pa.array(holes(born, 0.05), pa.date32()),
            "seen": pa.array(holes(seen, 0.05), pa.timestamp("us")),
            "called": pa.array(holes(seen[::-1], 0.05), pa.timestamp("us", "UTC")),
            "outcome": pa.array(holes(outcome, 0.02), pa.int32()),
        }
    )


def assert_same(found: Cohorts, expected: Cohorts) -> None:
    """Compare what people can read first, so that a failure says what differs."""
    assert found.columns == expected.columns
    assert found.names == expected.names
    assert found.notes == expected.notes
    assert found.equals(expected)


def rows_of(frame: Any) -> list[dict[str, Any]]:
    assert isinstance(frame, pd.DataFrame)
    known = frame.astype(object).where(frame.notna(), None)  # NaN equals nothing
    return known.to_dict("records")


def report_on(column: str, cohorts: Cohorts) -> ColumnAudit:
    (report,) = (report for report in cohorts.columns if report.column == column)
    return report


def test_heart_gives_the_cohorts_that_it_gives_in_pandas(held_heart: Any, heart: pa.Table) -> None:
    expected = build_cohorts(as_pandas(heart), "num", **HEART)
    assert expected.missing.any()
    assert_same(build_cohorts(held_heart, "num", **HEART), expected)


@pytest.mark.parametrize("groups", PATIENT_GROUPS.values(), ids=PATIENT_GROUPS)
def test_awkward_columns_give_the_cohorts_that_they_give_in_pandas(
    held_patients: Any, patients: pa.Table, groups: Any
) -> None:
    choices = {"groups": groups, "coding": Coding(missing_values=PATIENT_CODES)}
    expected = build_cohorts(as_pandas(patients), "outcome", **choices)
    assert len(expected) > 1
    assert_same(build_cohorts(held_patients, "outcome", **choices), expected)


def test_awkward_columns_give_the_top_k_that_they_give_in_pandas(
    held_patients: Any, patients: pa.Table
) -> None:
    groups = ["clinic", {"age": [60]}]
    selector = SubgroupSelector(
        groups=groups, size=2, k=5, coding=Coding(missing_values=PATIENT_CODES, min_rows=1)
    )
    expected = rows_of(selector.fit(as_pandas(patients), "outcome").top_k())
    assert len(expected) == 5 * 8
    assert rows_of(selector.fit(held_patients, "outcome").top_k()) == expected


def test_rows_that_need_several_keys_give_the_cohorts_that_they_give_in_pandas(hold: Hold) -> None:
    random = np.random.default_rng(1)
    features = {f"feature_{i}": random.integers(0, 30, 500) for i in range(14)}
    table = pa.table({**features, "target": random.integers(0, 2, 500)})
    expected = build_cohorts(as_pandas(table), "target", coding=Coding(max_categories=30))
    assert all(len(labels) == 30 for labels in expected.categories)
    assert_same(build_cohorts(hold(table), "target", coding=Coding(max_categories=30)), expected)


def test_hundreds_of_subgroups_are_the_ones_that_pandas_finds(hold: Hold) -> None:
    random = np.random.default_rng(2)
    ward = np.repeat(np.arange(500), 4)
    table = pa.table({"ward": ward, "dose": random.integers(0, 5, 2000), "ill": [0, 1] * 1000})
    expected = build_cohorts(as_pandas(table), "ill", groups="ward")
    assert len(expected) == 500
    assert_same(build_cohorts(hold(table), "ill", groups="ward"), expected)


def test_names_that_mean_something_to_an_engine_are_only_names(hold: Hold) -> None:
    random = np.random.default_rng(3)
    names = ["blood.pressure", "blood", "select", "n_rows", "value", "key_0", 'a "b" c', "50 %s"]
    table = pa.table({name: random.integers(0, 3, 200) for name in [*names, "Target"]})
    choices = {"groups": {"blood.pressure": [1]}}
    expected = build_cohorts(as_pandas(table), "Target", **choices)
    assert expected.features == tuple(names[1:])
    assert_same(build_cohorts(hold(table), "Target", **choices), expected)


def test_beyond_the_limit_of_distinct_values_numbers_are_cut_at_the_same_edges(
    hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(4)
    level = np.round(random.lognormal(size=2000), 3)
    level[random.random(2000) < 0.1] = np.nan
    level[random.random(2000) < 0.1] = -9
    steps = random.integers(0, 1000, 2000)
    steps[random.random(2000) < 0.1] = -9
    table = pa.table(
        {
            "level": pa.array(level, mask=random.random(2000) < 0.1),
            "steps": pa.array(steps, mask=random.random(2000) < 0.1),
            "ill": random.integers(0, 2, 2000),
        }
    )
    expected = build_cohorts(as_pandas(table), "ill", coding=Coding(missing_values=-9))
    for module in ("column_coding", "column_profiles"):
        monkeypatch.setattr(f"misfeat.cohorts.{module}.DISTINCT_LIMIT", 50)
    monkeypatch.setattr("misfeat.reading.engine_table.FEW_VALUES", 20)
    cohorts = build_cohorts(hold(table), "ill", coding=Coding(missing_values=-9))
    for column in ("level", "steps"):
        report = report_on(column, cohorts)
        assert report.treatment == "5 quantile bins"
        assert report.edges == report_on(column, expected).edges
        assert report.missing == report_on(column, expected).missing


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_beyond_the_limit_of_distinct_values_moments_are_left_out_unless_they_are_cut(
    hold: Hold, monkeypatch: pytest.MonkeyPatch, zone: str | None
) -> None:
    for module in ("column_coding", "column_profiles"):
        monkeypatch.setattr(f"misfeat.cohorts.{module}.DISTINCT_LIMIT", 50)
    random = np.random.default_rng(5)
    after = random.integers(0, 10**15, 2000).tolist()
    seen = [dt.datetime(1990, 1, 1) + dt.timedelta(microseconds=m) for m in after]
    moments = pa.array(seen, pa.timestamp("us", zone), mask=random.random(2000) < 0.1)
    table = pa.table({"seen": moments, "ill": random.integers(0, 2, 2000)})
    table = table.append_column("other", pa.array(random.integers(0, 2, 2000)))
    held = hold(table)
    assert report_on("seen", build_cohorts(held, "ill")).role == "left out"
    cut = build_cohorts(held, "ill", coding=Coding(bins={"seen": ["2000-01-01"]}))
    assert report_on("seen", cut).treatment == "given cut points"
    assert report_on("seen", cut).missing == moments.null_count


@pytest.mark.parametrize("name", [name for name in TABLES if name != "every type"])
def test_other_tables_give_the_cohorts_that_they_give_in_pandas(hold: Hold, name: str) -> None:
    table, asked = TABLES[name]()
    held = table.to_arrow()
    expected = build_cohorts(as_pandas(held), "y", **asked)
    assert_same(build_cohorts(hold(held), "y", **asked), expected)


def make_rows(rows: int) -> pa.Table:
    """Rows that hardly ever come twice, in subgroups of which one is small."""
    random = np.random.default_rng(6)
    few = {f"few_{i}": random.integers(0, 4, rows) for i in range(8)}
    level = random.normal(size=rows)
    return pa.table(
        {
            **few,
            "level": pa.array(level, mask=random.random(rows) < 0.1),
            "site": random.choice(["a", "b", "c"], rows, p=[0.6, 0.37, 0.03]),
            "ill": (level + few["few_0"] + random.normal(size=rows) > 2).astype(np.int64),
        }
    )


def test_long_tables_give_the_same_cohorts_and_answers_and_only_aggregates_leave(
    hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_rows(20_000)
    held = hold(table)
    expected = build_cohorts(as_pandas(table), "ill", groups="site")
    with collected_queries(monkeypatch) as queries:
        assert_same(build_cohorts(held, "ill", groups="site"), expected)
    assert all(query.aggregates for query in queries if query.columns != ["one"])
    assert queries[-1].aggregates == 1
    assert set(queries[-1].columns) == {"key_0", "n_rows"}
    asked = {"groups": "site", "size": 2, "coding": Coding(max_rows=3000), "random_state": 0}
    drawn = SubgroupSelector(**asked).fit(held, "ill")
    same = SubgroupSelector(**asked).fit(pl.from_arrow(table).lazy(), "ill")
    assert_same(drawn.cohorts_, same.cohorts_)
    assert len(drawn.cohorts_.weights) < 3300
    assert best_sets(drawn.selection_) == best_sets(same.selection_)
