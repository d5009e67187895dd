"""Whichever library holds a table, its cohorts are the same, bit for bit."""

import datetime as dt
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest

from misfeat import SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from tests.cohorts.test_groups import visits
from tests.cohorts.test_merged_categories import loans, towns
from tests.cohorts.test_parsed_text import messy
from tests.cohorts.test_targets import numbers
from tests.reading.holders import HOLDERS, as_rows

AWKWARD_GROUPS = [{"age": [40, 60]}, "sex", {"weight": [80]}]
AWKWARD_CODES = {"*": ["?"], "score": [-9]}


@cache
def awkward_table() -> pl.DataFrame:
    """Every type of column, each with missing values of several spellings."""
    rng = np.random.default_rng(7)
    n = 600

    def holes(values, share=0.1):
        return [None if hole else v for v, hole in zip(values, rng.random(n) < share, strict=True)]

    weight = np.where(rng.random(n) < 0.1, np.nan, rng.normal(75, 12, n).round(1))
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(900, size=n)]
    return pl.DataFrame(
        {
            "age": holes(rng.integers(20, 80, n).tolist(), 0.02),
            "sex": holes(rng.choice(["F", "M"], n).tolist(), 0.02),
            "weight": weight,
            "score": holes(rng.choice([-9, 0, 1, 2, 3], n).tolist()),
            "flag": holes((rng.random(n) < 0.3).tolist()),
            "town": holes(rng.choice([f"town {i}" for i in range(15)], n).tolist()),
            "marker": rng.choice(["?", "1", "2.5", "10"], n).tolist(),
            "visited": holes([dt.datetime.combine(day, dt.time(9)) for day in days]),
            "constant": ["same"] * n,
            "code": [f"id-{i}" for i in range(n)],
            "ill": holes(rng.choice(["no", "yes", "?"], n, p=[0.6, 0.35, 0.05]).tolist(), 0.03),
        },
        schema_overrides={"score": pl.Int16, "age": pl.UInt8},
    )


def weighted(weight: str) -> tuple[pl.DataFrame, dict[str, object]]:
    """A table with weights, some of them 0, and how they are to be taken."""
    rng = np.random.default_rng(7)
    number = rng.normal(size=400)
    columns = {
        "site": rng.choice(["a", "b", "c"], 400),
        "few": rng.integers(0, 3, 400),
        "many": [None if gap else one for one, gap in zip(number, number < -1.3, strict=True)],
        "word": rng.choice(list("pqrstuvwxyz"), 400),
        "sampling": rng.gamma(1.5, size=400) * (rng.random(400) > 0.05),
        "frequency": rng.integers(0, 4, 400),
        "y": rng.choice(["no", "yes"], 400),
    }
    del columns[{"sampling": "frequency", "frequency": "sampling"}[weight]]
    return pl.DataFrame(columns), {"groups": "site", "sample_weight": weight, "weights": weight}


AWKWARD = {
    "groups": AWKWARD_GROUPS,
    "coding": Coding(missing_values=AWKWARD_CODES, min_rows=20, bins={"visited": 3, "*": 4}),
}
TABLES = {
    "every type": lambda: (awkward_table().rename({"ill": "y"}), AWKWARD),
    "texts that stand for numbers": lambda: (messy(), {"groups": ["site", {"income": [20_000]}]}),
    "many values": lambda: (towns(1.5), {"groups": "site"}),
    "values in order": lambda: (pl.from_pandas(loans(450)).rename({"rate": "y"}), {}),
    "chosen subgroups": lambda: (visits(), {"groups": "auto"}),
    "a number for a target": lambda: (numbers(), {}),
    "sampling weights": lambda: weighted("sampling"),
    "frequencies": lambda: weighted("frequency"),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_gives_equal_cohorts_in_every_library(name):
    table, asked = TABLES[name]()
    expected = build_cohorts(table, "y", **asked)
    for holder, hold in HOLDERS.items():
        assert build_cohorts(hold(table), "y", **asked).equals(expected), holder


def test_the_table_of_every_type_is_treated_as_documented():
    cohorts = build_cohorts(awkward_table(), "ill", **AWKWARD)
    treatments = {report.column: (report.role, report.treatment) for report in cohorts.columns}
    assert treatments == {
        "age": ("group", "subgroups"),
        "sex": ("group", "subgroups"),
        "weight": ("group", "subgroups"),
        "score": ("feature", "as it is"),
        "flag": ("feature", "as it is"),
        "town": ("feature", "11 most frequent values and other"),
        "marker": ("feature", "as it is"),
        "visited": ("feature", "3 quantile bins"),
        "constant": ("left out", "constant"),
        "code": ("left out", "identifier"),
        "ill": ("target", "as it is"),
    }
    labels = dict(zip(cohorts.features, cohorts.categories, strict=True))
    assert labels["marker"] == ("1", "2.5", "10", "missing")
    assert labels["score"] == ("0", "1", "2", "3", "missing")
    assert labels["flag"] == ("False", "True", "missing")
    assert cohorts.classes == ("no", "yes")
    assert "age<=40 & sex=F & weight>80" in cohorts.names
    assert cohorts.names[-1] == "small subgroups"
    dropped = awkward_table()["ill"].is_null() | (awkward_table()["ill"] == "?")
    assert cohorts.weights.sum() == 600 - dropped.sum()


@pytest.fixture(scope="module")
def heart(heart_path) -> pl.DataFrame:
    return pl.from_pandas(pd.read_csv(heart_path))


def test_heart_gives_equal_cohorts_and_equal_sets_in_every_library(heart):
    selector = SubgroupSelector(groups="site", size=2, k=5).fit(heart, "num")
    expected, cohorts = as_rows(selector.top_k()), selector.cohorts_
    for holder, hold in HOLDERS.items():
        selector.fit(hold(heart), "num")
        assert selector.cohorts_.equals(cohorts), holder
        assert as_rows(selector.top_k()) == expected, holder


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "parquet", "folder", "glob"])
def test_heart_gives_equal_cohorts_from_every_kind_of_path(heart, tmp_path, kind):
    if kind == "parquet":
        path = tmp_path / "heart.parquet"
        heart.write_parquet(path)
    elif kind in ("folder", "glob"):
        for number, part in enumerate(heart.iter_slices(300)):
            part.write_parquet(tmp_path / f"part-{number}.parquet")
        path = tmp_path if kind == "folder" else f"{tmp_path}/part-*.parquet"
    else:
        path = tmp_path / f"heart.{kind}"
        heart.to_pandas().to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    expected = build_cohorts(heart, "num", groups="site")
    assert build_cohorts(path, "num", groups="site").equals(expected)


def test_every_text_type_of_pandas_is_text():
    frame = pd.DataFrame({"x": ["a", "b", None, "a"] * 5, "y": [0, 1, 0, 1] * 5})
    expected = build_cohorts(pl.from_pandas(frame), "y")
    for dtype in ("string", "category", "object"):
        assert build_cohorts(frame.astype({"x": dtype}), "y").equals(expected)


def test_polars_categories_are_text_and_enums_have_an_order():
    table = pl.DataFrame({"x": ["b", "a", None, "b"] * 5, "y": [0, 1, 0, 1] * 5})
    expected = build_cohorts(table, "y")
    categories = build_cohorts(table.with_columns(pl.col("x").cast(pl.Categorical)), "y")
    assert categories.equals(expected)
    ordered = build_cohorts(table.with_columns(pl.col("x").cast(pl.Enum(["b", "a"]))), "y")
    assert (expected.categories, ordered.categories) == (
        (("a", "b", "missing"),),
        (("b", "a", "missing"),),
    )


def test_zones_of_moments_do_not_matter():
    hours = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=h) for h in range(40)]
    table = pl.DataFrame({"x": hours, "y": [0, 1] * 20})
    zoned = table.with_columns(
        pl.col("x").dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")
    )
    assert build_cohorts(zoned, "y").equals(build_cohorts(table, "y"))


def test_the_width_of_numbers_does_not_matter():
    table = pl.DataFrame({"x": [*range(30), None], "y": [0, 1] * 15 + [0]})
    coding = Coding(bins={"x": 3})
    expected = build_cohorts(table, "y", coding=coding)
    for dtype in (pl.Float32, pl.Float64, pl.Decimal(10, 2), pl.UInt64, pl.Int8):
        cast = table.with_columns(pl.col("x").cast(dtype))
        assert build_cohorts(cast, "y", coding=coding).equals(expected)


def test_more_distinct_values_than_are_counted_are_binned_all_the_same(monkeypatch, rng):
    monkeypatch.setattr("misfeat.cohorts.column_profiles.DISTINCT_LIMIT", 50)
    values = np.where(rng.random(1000) < 0.1, np.nan, rng.random(1000))
    table = pl.DataFrame({"x": values, "y": rng.integers(2, size=1000)})
    present = values[~np.isnan(values)]
    expected = np.quantile(present, [0.25, 0.5, 0.75], method="inverted_cdf")
    for hold in HOLDERS.values():
        cohorts = build_cohorts(hold(table), "y", coding=Coding(bins=4))
        (report,) = (r for r in cohorts.columns if r.column == "x")
        assert report.edges == pytest.approx(expected)
        assert report.missing == np.isnan(values).sum()
