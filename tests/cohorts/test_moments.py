from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest

from misfeat import MisfeatError
from misfeat.cohorts import build_moments


def table(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    a, b = rng.normal(100, 3, n), rng.integers(0, 20, n)
    return pl.DataFrame(
        {
            "site": rng.choice(["p", "q"], n),
            "a": a,
            "b": b,
            "flag": rng.random(n) < 0.4,
            "town": rng.choice(["x", "y", "z"], n),
            "gappy": np.where(rng.random(n) < 0.2, np.nan, a + rng.normal(0, 1, n)),
            "y": a + 0.1 * b + rng.normal(0, 1, n),
        }
    )


HOLDERS = {
    "pandas": lambda t: t.to_pandas(),
    "polars": lambda t: t,
    "lazy": lambda t: t.lazy(),
    "pyarrow": lambda t: t.to_arrow(),
    "duckdb": lambda t: duckdb.from_arrow(t.to_arrow()),
    "arrays": lambda t: {name: t[name].to_numpy() for name in t.columns},
}


def expected(frame, columns: list[str]) -> np.ndarray:
    values = frame[columns].astype(float)
    centred = (values - values.mean()).fillna(0.0)
    return (centred.T @ centred).to_numpy()


@pytest.mark.parametrize("holder", HOLDERS)
def test_products_are_those_of_the_cohort_with_gaps_at_the_mean(holder):
    moments = build_moments(HOLDERS[holder](table()), "y", groups="site")
    assert moments.features == ("a", "b", "flag", "gappy")
    frame = table().to_pandas()
    for name, rows, products in zip(moments.names, moments.rows, moments.products, strict=True):
        own = frame[frame["site"] == name.removeprefix("site=")]
        assert rows == len(own)
        assert products == pytest.approx(
            expected(own, [*moments.features, "y"]), rel=1e-9, abs=1e-6
        )


def test_one_cohort_needs_no_groups_and_merged_subgroups_add_up():
    whole = build_moments(table(), "y")
    merged = build_moments(table(), "y", groups={"site": {"*": "all"}})
    assert merged.products == pytest.approx(whole.products)


def test_a_feature_that_a_cohort_never_recorded_is_missing_there():
    frame = table().with_columns(
        gappy=pl.when(pl.col("site") == "p").then(None).otherwise(pl.col("gappy"))
    )
    moments = build_moments(frame, "y", groups="site")
    assert moments.missing.tolist() == [[False, False, False, True], [False] * 4]


def test_a_binary_target_of_text_counts_as_zero_and_one():
    labels = pl.when(pl.col("y") > 101).then(pl.lit("hi")).otherwise(pl.lit("lo"))
    frame = table().with_columns(y=labels)
    moments = build_moments(frame, "y")
    share = (frame["y"] == "lo").mean()
    assert moments.products[0][-1, -1] == pytest.approx(400 * share * (1 - share))


def test_rows_without_a_target_are_left_out():
    frame = table().with_columns(y=pl.when(pl.col("b") < 3).then(None).otherwise(pl.col("y")))
    assert build_moments(frame, "y").rows.tolist() == [int((frame["b"] >= 3).sum())]


def test_what_has_no_correlation_is_refused():
    with pytest.raises(MisfeatError, match="needs a numeric or binary target; 'town'"):
        build_moments(table(), "town")
    with pytest.raises(MisfeatError, match="needs numeric features"):
        build_moments(table().select("town", "y"), "y")


@pytest.mark.parametrize("holder", ["pandas", "duckdb", "arrays"])
def test_far_from_zero_and_with_many_values_nothing_is_lost(holder, monkeypatch):
    monkeypatch.setattr("misfeat.cohorts.columns.DISTINCT_LIMIT", 50)
    far = table().with_columns(a=pl.col("a") + 1e8)
    near = build_moments(table(), "y").products[0]
    assert build_moments(HOLDERS[holder](far), "y").products[0] == pytest.approx(near, rel=1e-5)


def test_whole_numbers_that_look_like_an_identifier_are_kept_on_request():
    frame = table().with_columns(
        salary=pl.Series(np.random.default_rng(0).permutation(10**6)[:400])
    )
    assert "salary" not in build_moments(frame, "y").features
    assert "salary" in build_moments(frame, "y", bins={"salary": 5}).features


def test_infinite_values_are_refused():
    frame = table().with_columns(b=pl.lit(float("inf")))
    frame = frame.with_columns(b=pl.when(pl.col("flag")).then(pl.col("b")).otherwise(1.0))
    with pytest.raises(MisfeatError, match="'b' holds infinite values"):
        build_moments(frame, "y")


def test_groupings_with_too_many_combinations_are_refused_or_answered():
    rng = np.random.default_rng(0)
    many = {f"g{i}": rng.integers(60, size=400) for i in range(12)}
    frame = table().with_columns(**{name: pl.Series(v) for name, v in many.items()})
    with pytest.raises(MisfeatError, match="group by fewer columns"):
        build_moments(frame, "y", groups=list(many))
    arrays = {name: frame[name].to_numpy() for name in frame.columns}
    assert len(build_moments(arrays, "y", groups=list(many)).names) == 400
