from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from misfeat import MisfeatError, MisfeatWarning, SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.cohorts import Coding
from misfeat.cohorts.cohort_building import CohortRules, cohorts_of
from misfeat.cohorts.product_sums import cohorts_and_product_sums
from misfeat.reading.inputs import open_table
from misfeat.reading.memory_table import ArrayTable
from misfeat.reading.values import MissingCodes
from tests.cohorts.tables import build_product_sums
from tests.reading.holders import HOLDERS


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


def expected(frame, columns: list[str]) -> np.ndarray:
    values = frame[columns].astype(float)
    centred = (values - values.mean()).fillna(0.0)
    return (centred.T @ centred).to_numpy()


@pytest.mark.parametrize("holder", HOLDERS)
def test_products_are_those_of_the_cohort_with_gaps_at_the_mean(holder):
    sums = build_product_sums(HOLDERS[holder](table()), "y", groups="site")
    assert sums.features == ("a", "b", "flag", "gappy")
    frame = table().to_pandas()
    for name, rows, products in zip(sums.names, sums.rows, sums.products, strict=True):
        own = frame[frame["site"] == name.removeprefix("site=")]
        assert rows == len(own)
        assert products == pytest.approx(expected(own, [*sums.features, "y"]), rel=1e-9, abs=1e-6)


def test_a_feature_that_a_cohort_never_recorded_is_missing_there():
    frame = table().with_columns(
        gappy=pl.when(pl.col("site") == "p").then(None).otherwise(pl.col("gappy"))
    )
    sums = build_product_sums(frame, "y", groups="site")
    assert sums.missing.tolist() == [[False, False, False, True], [False] * 4]


def test_a_binary_target_of_text_counts_as_zero_and_one():
    labels = pl.when(pl.col("y") > 101).then(pl.lit("hi")).otherwise(pl.lit("lo"))
    frame = table().with_columns(y=labels)
    sums = build_product_sums(frame, "y")
    share = (frame["y"] == "lo").mean()
    assert sums.products[0][-1, -1] == pytest.approx(400 * share * (1 - share))


def test_what_has_no_correlation_is_refused():
    infinite = table().with_columns(b=pl.when("flag").then(float("inf")).otherwise(1.0))
    for frame, target, message in (
        (table(), "town", "needs a numeric or binary target; 'town'"),
        (table().select("town", "y"), "y", "needs numeric features"),
        (infinite, "y", "'b' holds infinite values"),
    ):
        with pytest.raises(MisfeatError, match=message):
            build_product_sums(frame, target)


@pytest.mark.parametrize("holder", ["pandas", "duckdb", "arrays"])
def test_far_from_zero_and_with_many_values_nothing_is_lost(holder, monkeypatch):
    monkeypatch.setattr("misfeat.cohorts.column_profiles.DISTINCT_LIMIT", 50)
    far = table().with_columns(a=pl.col("a") + 1e8)
    near = build_product_sums(table(), "y").products[0]
    assert build_product_sums(HOLDERS[holder](far), "y").products[0] == pytest.approx(
        near, rel=1e-5
    )


def test_integers_that_look_like_an_identifier_are_kept_on_request():
    frame = table().with_columns(
        number=pl.Series(np.random.default_rng(0).permutation(10**6)[:400])
    )
    with pytest.warns(MisfeatWarning, match="'number' is left out as an identifier"):
        assert "number" not in build_product_sums(frame, "y").features
    assert "number" in build_product_sums(frame, "y", coding=Coding(bins={"number": 5})).features


def test_groupings_with_very_many_combinations_are_answered(rng):
    many = {f"g{i}": rng.integers(60, size=400) for i in range(12)}
    frame = table().with_columns(**{name: pl.Series(v) for name, v in many.items()})
    arrays = {name: frame[name].to_numpy() for name in frame.columns}
    for held in (frame.lazy(), arrays):
        with pytest.warns(MisfeatWarning, match="single value in the subgroups"):
            assert len(build_product_sums(held, "y", groups=list(many)).names) == 400


class CountingTable(ArrayTable):
    """Counts how often a column, a group-by or a sum of products is asked for."""

    def __init__(self, columns):
        super().__init__(columns)
        self.asked = Counter()
        self.closed = False

    def value_counts(self, column, limit):
        self.asked[column] += 1
        return super().value_counts(column, limit)

    def count_codes(self, coders):
        self.asked["group-by"] += 1
        return super().count_codes(coders)

    def sum_products(self, groups, variables):
        self.asked["sums"] += 1
        return super().sum_products(groups, variables)

    def close(self):
        self.closed = True


def test_one_pass_gives_the_cohorts_and_their_sums(heart_path):
    heart = pl.read_csv(heart_path)
    held = CountingTable({name: heart[name].to_numpy() for name in heart.columns})
    rules = CohortRules.parse(["site", {"age": [50]}], Coding(min_rows=100))
    cohorts, sums = cohorts_and_product_sums(held, "num", rules)
    assert held.asked == Counter([*heart.columns, "group-by", "sums"])
    assert held.closed
    assert sums.names == cohorts.names
    assert sums.names[-1] == "site=va & any age"
    assert sums.rows.tolist() == [cohort.size for cohort in cohorts]
    alone = cohorts_of(ArrayTable({n: heart[n].to_numpy() for n in heart.columns}), "num", rules)
    assert cohorts.equals(alone)


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")  # one has three rows
@pytest.mark.parametrize("holder", ["pandas", "duckdb", "arrays"])
def test_subgroups_of_the_sums_are_those_of_the_cohorts(holder):
    number = pl.int_range(pl.len())
    frame = table().with_columns(
        site=pl.when(number < 3).then(pl.lit("r")).when(number < 9).then(None).otherwise("site"),
        y=pl.when(number % 7 == 5).then(None).otherwise("y"),
    )
    for small_groups, missing_groups in product(["merge", "drop"], ["own", "drop"]):
        held, target = open_table(HOLDERS[holder](frame), "y", MissingCodes())
        coding = Coding(min_rows=4, small_groups=small_groups, missing_groups=missing_groups)
        cohorts, sums = cohorts_and_product_sums(held, target, CohortRules.parse("site", coding))
        assert sums.names == cohorts.names
        assert ("small subgroups" in sums.names) == (small_groups == "merge")
        assert ("site is missing" in sums.names) == (missing_groups == "own")
        assert sums.rows.tolist() == [cohort.size for cohort in cohorts]


def test_a_table_is_closed_also_where_it_cannot_be_answered():
    held = CountingTable({"town": np.array(["p", "q"] * 10), "y": np.arange(20) % 2})
    with pytest.raises(MisfeatError, match="needs numeric features"):
        cohorts_and_product_sums(held, "y", CohortRules.parse(None))
    assert held.closed


def test_a_column_that_is_constant_in_a_cohort_has_no_variance_there(rng):
    site = np.repeat(["here", "there"], 50)
    x = np.where(site == "here", 0.1, rng.normal(1e6, 1e6, 100))
    sums = build_product_sums({"x": x, "y": rng.normal(size=100), "site": site}, "y", groups="site")
    assert not sums.products[0, 0].any()
    assert sums.products[1, 0, 0] > 0


def test_integers_that_floats_round_are_rounded_alike_in_every_library():
    big = [-(2**63), 2**62, 2**53 + 1, 5, -7] * 4
    table = {"x": big, "y": [0.0, 1.0, 2.0, 3.0, 5.0] * 4}
    scores = []
    for hold in (pd.DataFrame, pl.DataFrame, pa.table):
        selector = SubgroupSelector(size=1, measure="r2", estimate="sample").fit(hold(table), "y")
        scores.append(best_sets(selector.selection_)[0].score)
    assert scores[1:] == pytest.approx(scores[:1] * 2, abs=1e-12)


@pytest.mark.parametrize("counted", [True, False])
def test_values_whose_squares_are_no_numbers_are_refused(counted, monkeypatch, rng):
    if not counted:
        monkeypatch.setattr("misfeat.cohorts.column_profiles.DISTINCT_LIMIT", 50)
    values = {"b": rng.normal(size=400), "y": rng.normal(size=400)}
    small = {**values, "b": values["b"] * 1e-140}
    assert build_product_sums(small, "y").products.all()
    with pytest.raises(MisfeatError, match="'b' holds values whose squares are too large"):
        build_product_sums({**values, "b": values["b"] * 1e200}, "y")


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_a_table_whose_only_number_is_missing_where_the_target_is_known_is_refused():
    nothing = [None] * 11
    table = {"ward": [8] * 7 + [17] * 6, "score": [1, 2, *nothing], "y": [*nothing, 9, 24]}
    with pytest.raises(MisfeatError, match="'score': never recorded"):
        SubgroupSelector(groups="ward", size=1, measure="r2").fit(table, "y")
