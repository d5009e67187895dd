"""Weights: the same bits from every library, frequencies as copies, and what is refused.

Shares, Kish's sizes and design effects are held against R's package survey; the rows and figures
are those of benchmarks/weights/survey.R.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat import MisfeatError, MisfeatWarning
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.design_effects import mean_effect
from misfeat.cohorts.weights import MOST_MASS, heaviest_of, squares_of
from tests.cohorts.tables import effective_size

N_ROWS = 400


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    number = rng.normal(size=N_ROWS)
    return pl.DataFrame(
        {
            "site": rng.choice(["a", "b", "c"], N_ROWS),
            "few": rng.integers(0, 3, N_ROWS),
            "many": np.where(rng.random(N_ROWS) < 0.1, np.nan, number),
            "word": rng.choice(list("pqrstuvwxyz"), N_ROWS),
            "target": rng.choice(["no", "yes"], N_ROWS),
            "weight": rng.gamma(1.5, size=N_ROWS) * (rng.random(N_ROWS) > 0.05),
            "times": rng.integers(0, 4, N_ROWS),
        },
        strict=False,
    ).with_columns(pl.col("many").fill_nan(None))


def test_masses_are_the_sums_of_weights_and_sizes_those_of_shares_of_classes(table):
    cohorts = build_cohorts(table.drop("times"), "target", groups="site", sample_weight="weight")
    for cohort in cohorts:
        own = table.filter(pl.col("site") == cohort.name.removeprefix("site="))
        weight = own["weight"].to_numpy()
        assert cohort.effective == pytest.approx(effective_size(weight, own["target"]), rel=1e-9)
        assert cohort.size == (weight > 0).sum()
        by_class = np.bincount(cohort.target, weights=cohort.counts) / cohort.effective
        yes = weight[(own["target"] == "yes").to_numpy()].sum() / weight.sum()
        assert by_class[cohorts.classes.index("yes")] == pytest.approx(yes, rel=1e-12)


def test_weights_that_differ_between_subgroups_alone_leave_their_sizes():
    table = {"g": ["a"] * 10 + ["b"] * 10, "x": [0, 1] * 10, "y": [0, 1, 1, 0] * 5}
    cohorts = build_cohorts(table, "y", groups="g", sample_weight=[0.1] * 10 + [0.7] * 10)
    assert cohorts.effective.tolist() == [10.0, 10.0]


def test_the_columns_of_weights_and_design_are_no_features(table):
    rows = table.drop("times").with_columns(unit=pl.Series(np.arange(N_ROWS) % 20))
    cohorts = build_cohorts(
        rows, "target", sample_weight="weight", design={"strata": "site", "cluster": "unit"}
    )
    assert not {"weight", "site", "unit"} & set(cohorts.features)
    assert {"few", "many"} <= set(cohorts.features)
    roles = {audit.column: (audit.role, audit.treatment) for audit in cohorts.columns}
    assert roles["weight"] == ("weight", "sampling weights")
    assert roles["site"] == ("design", "strata")
    assert roles["unit"] == ("design", "clusters")


def with_weights(values, **told):
    table = {"g": list("aabb"), "x": [0, 1, 0, 1], "y": [0, 1, 1, 0], "w": values}
    return build_cohorts(table, "y", **{"sample_weight": "w", **told})


BY_FREQUENCY = {"weights": "frequency"}
REFUSED = [
    ([1, 2, -3, 1], {}, "'w' hold -3; no weight may be negative"),
    ([1, 2, np.inf, 1], {}, "'w' hold an infinite value"),
    ([1, 2, np.nan, 1], {}, "'w' are missing in 1 rows"),
    ([1, None, 2, 1], {}, "'w' are missing in 1 rows"),
    (["1", "b", "2", "1"], {}, "'w' are text values, such as 'b'; pass numbers"),
    ([True, False, True, True], {}, "'w' are flag values"),
    ([0, 0, 0, 0], {}, "'w' are all zero"),
    ([1.5, 2, 3, 1], BY_FREQUENCY, "fractions, but frequencies are whole numbers"),
    ([1e16, 2, 3, 1e16], BY_FREQUENCY, "too large for frequencies"),
]
CLASHING = [
    ({"sample_weight": [1, 2, 3]}, r"shape \(3,\), but X has 4 rows"),
    ({"sample_weight": "v"}, "no column 'v'.*the weights"),
    ({"sample_weight": "y"}, "'y' is both the target and the weights"),
    ({"groups": "w"}, "'w' is both a group and the weights"),
    ({"design": {"strata": "w"}}, "both part of the design and the weights"),
    ({"design": {"psu": "g"}}, "give the columns of strata and clusters"),
    ({"design": {"cluster": 3}}, "3 is not the name of a column"),
    ({"design": {"cluster": "z"}}, "no column 'z'"),
    ({"design": {"cluster": "y"}}, "'y' is both the target and part of"),
    ({"design": {"cluster": "g"}, **BY_FREQUENCY}, "design=.*use weights='sampling'"),
]


def test_what_cannot_be_a_weight_is_refused():
    clashing = [([1, 2, 3, 4], told, words) for told, words in CLASHING]
    for values, told, words in [*REFUSED, *clashing]:
        with pytest.raises(MisfeatError, match=words):
            with_weights(values, **told)


@pytest.mark.parametrize("texts", [["0,64", "1,5"], ["0.64", "n/a"]])
def test_weights_that_are_text_are_refused_with_one_that_is_no_number(texts):
    table = {"a": [0, 1] * 20, "w": texts * 20, "y": [0, 1, 1, 0] * 10}
    example = next(text for text in texts if text != "0.64")
    with pytest.raises(MisfeatError, match=f"'w' are text values, such as '{example}'; pass"):
        build_cohorts(table, "y", sample_weight="w")


def test_a_lazy_table_names_its_weights(table):
    with pytest.raises(MisfeatError, match="as sample_weight"):
        build_cohorts(table.lazy(), "target", sample_weight=np.ones(N_ROWS))


@settings(max_examples=60, deadline=None)
@given(
    weights=st.lists(st.floats(20.0, 1e6), min_size=2, max_size=40),
    factor=st.sampled_from([0.25, 3.0, 1e-6, 1e9]),
)
def test_effective_sizes_do_not_depend_on_the_unit(weights, factor):
    rng = np.random.default_rng(len(weights))
    n = len(weights)
    table = {"x": rng.integers(0, 3, n), "z": np.arange(n) % 2, "y": np.arange(n) % 2}
    with np.errstate(all="ignore"):
        w = np.array(weights)
        found = [
            build_cohorts(table, "y", sample_weight=w * by, coding=Coding(min_rows=1))
            for by in (1.0, factor)
        ]
    sizes = [n if one.effective is None else one.effective[0] for one in found]
    assert sizes[0] == pytest.approx(min(effective_size(w, table["y"]), 100.0 * n), rel=1e-8)
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-8)
    masses = [one.counts for one in found]
    np.testing.assert_allclose(masses[0], masses[1], rtol=1e-6)
    assert all(one.masses is None or one.masses.sum() <= 2 * MOST_MASS for one in found)


def test_how_unequal_weights_are_within_a_row_is_kept():
    table = {"x": [0, 0, 0, 1, 1, 1, 1], "y": [0, 0, 0, 1, 1, 1, 1]}
    weights = np.array([1.0, 1.0, 1.0, 9.0, 0.1, 0.1, 0.1])
    cohorts = build_cohorts(table, "y", sample_weight=weights)
    unit = cohorts.masses.sum() / weights.sum()
    np.testing.assert_allclose(cohorts.heaviest / unit, [1.0, 9.0], rtol=1e-4)


@given(st.lists(st.floats(0.01, 50.0), min_size=1, max_size=9))
def test_a_heavy_row_and_others_alike_have_the_same_sums(weights):
    n, w = np.array([len(weights)]), np.array(weights)
    mass, squares = np.array([w.sum()]), np.array([(w**2).sum()])
    heaviest = heaviest_of(n, mass, squares)
    assert mass / n * (1 - 1e-12) <= heaviest <= mass
    np.testing.assert_allclose(squares_of(n, mass, heaviest), squares, rtol=1e-9)


def test_strata_of_one_cluster_are_said():
    table = {"s": [0, 0, 0, 1], "c": [0, 1, 2, 3], "x": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
    with pytest.warns(MisfeatWarning, match="1 strata of 's' have a single cluster"):
        build_cohorts(table, "y", design={"strata": "s", "cluster": "c"})


def test_a_design_that_is_missing_somewhere_is_refused():
    table = {"c": [0, 1, None, 3], "x": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
    with pytest.raises(MisfeatError, match="'c' of the design is missing in 1 rows"):
        build_cohorts(table, "y", design={"cluster": "c"})


def test_weights_that_are_worlds_apart_are_refused(table):
    weight = np.ones(N_ROWS)
    weight[0] = 1e8
    rows = table.drop("times").with_columns(weight=pl.Series(weight))
    for held in (rows, rows.lazy()):
        with pytest.raises(MisfeatError, match=r"'weight' go from 1 to 1e\+08, too far apart"):
            build_cohorts(held, "target", sample_weight="weight")


def test_rows_of_weight_0_are_as_if_they_were_not_there(table):
    rows = table.drop("times").filter(pl.col("weight") > 0)
    more = rows.head(40).with_columns(
        weight=pl.lit(0.0), word=pl.lit("none of the others"), target=pl.lit("odd")
    )
    whole = pl.concat([rows, more])
    expected = build_cohorts(rows, "target", groups="site", sample_weight="weight")
    for held in (whole, whole.lazy(), whole.to_pandas()):
        found = build_cohorts(held, "target", groups="site", sample_weight="weight")
        assert "Rows whose weight in 'weight' is 0 are left out." in found.notes
        assert replace(found, notes=expected.notes).equals(expected)


FOLDER = Path(__file__).parents[2] / "benchmarks" / "weights"
TABLES = [("HI_CHOL", "race"), ("HI_CHOL", "agecat"), ("agecat", "RIAGENDR")]
DESIGNS: dict[str, dict[str, str]] = {
    "strata and cluster": {"strata": "SDMVSTRA", "cluster": "SDMVPSU"},
    "strata": {"strata": "SDMVSTRA"},
}


@pytest.fixture(scope="module")
def rows():
    return pd.read_csv(FOLDER / "nhanes.csv.gz")


@pytest.fixture(scope="module")
def figures():
    return pd.read_csv(FOLDER / "survey.csv", dtype={"value": str, "class": str})


def figures_of(figures, **where):
    chosen = np.logical_and.reduce([figures[name] == value for name, value in where.items()])
    return figures[chosen]


@pytest.mark.parametrize(("target", "by"), TABLES)
@pytest.mark.parametrize("design", DESIGNS)
def test_subgroups_are_worth_what_survey_says(rows, figures, design, target, by):
    cohorts = build_cohorts(
        rows,
        target,
        groups=by,
        sample_weight="WTMEC2YR",
        design=DESIGNS[design],
        coding=Coding(min_rows=1),
    )
    told = figures_of(figures, design=design, target=target, by=by)
    assert len(cohorts) == told["value"].nunique()
    for cohort in cohorts:
        own = told[told["value"] == cohort.name.removeprefix(f"{by}=")].set_index("class")
        shares = np.bincount(cohort.target, weights=cohort.counts, minlength=cohort.n_classes)
        expected = [own["share"].get(label, 0.0) for label in cohorts.classes]
        np.testing.assert_allclose(shares / shares.sum(), expected, rtol=1e-6)
        effect = mean_effect(own["effect"].to_numpy(), own["share"].to_numpy())
        n_rows = own["rows"].iloc[0]
        assert cohort.size == n_rows
        assert cohort.effective == pytest.approx(min(n_rows / effect, n_rows), rel=1e-6)


def clustered(n_sites=3):
    rng = np.random.default_rng(5)
    school = np.repeat(np.arange(30), 20)
    y = (rng.normal(size=30)[school] + rng.normal(size=600) > 0).astype(int)
    site = np.where(school == 0, "one", np.array(["a", "b", "c"])[school % n_sites])
    return pd.DataFrame({"x": rng.integers(3, size=600), "site": site, "school": school, "y": y})


def test_a_subgroup_of_one_cluster_is_as_uncertain_as_the_worst_of_the_others():
    with pytest.warns(MisfeatWarning, match="1 of 4 subgroups are a single cluster of 'school'"):
        cohorts = build_cohorts(clustered(), "y", groups="site", design={"cluster": "school"})
    effects = {c.name: c.size / c.effective for c in cohorts}
    worst = max(effect for name, effect in effects.items() if name != "site=one")
    assert worst > 2
    assert effects["site=one"] == pytest.approx(worst)


def test_what_clusters_add_follows_from_how_alike_their_rows_are_in_features_and_target():
    rng = np.random.default_rng(7)
    village, weights = np.repeat(np.arange(40), 15), rng.integers(1, 5, 600)
    alike = rng.normal(size=(40, 2))[village] + rng.normal(size=(600, 2)) > 0
    lot = rng.random(600) < 0.4
    table = pd.DataFrame({"y": alike[:, 0], "x": alike[:, 1], "lot": lot}).astype(int)
    table = table.assign(same=village % 2, village=village, w=weights)
    cohort = build_cohorts(table, "y", sample_weight="w", design={"cluster": "village"}).at(0)

    means = table.groupby("village")["y"].mean()
    between = 15 * means.var()
    within = 15 * (means * (1 - means)).sum() / (600 - 40)
    correlation = (between - within) / (between + 14 * within)

    def added(feature):
        x = table[feature] - np.average(table[feature], weights=weights)
        sums = (weights * x).groupby(village).sum()
        return correlation * ((sums**2).sum() / ((weights * x) ** 2).sum() - 1.0)

    together = (table.groupby("village")["w"].sum() ** 2).sum() / (weights**2).sum() - 1.0
    expected = [*(added(feature) for feature in ("x", "lot", "same")), correlation * together]
    for found in cohort.joint_effects:
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    of_x, of_lot, of_same, most = expected
    assert most > 2
    assert of_same == pytest.approx(most, rel=0.1)
    assert 0.5 < of_x < most
    assert abs(of_lot) < 0.2


def test_what_clusters_add_is_right_on_the_mean_where_they_are_few():
    rng, found = np.random.default_rng(8), []
    school = np.repeat(np.arange(6), 12)
    for _ in range(200):
        columns = {"x": school % 2, "school": school, "y": rng.integers(2, size=72)}
        cohort = build_cohorts(pd.DataFrame(columns), "y", design={"cluster": "school"}).at(0)
        found.append(cohort.joint_effects[0])
    assert np.abs(np.mean(found, axis=0)).max() < 0.15


def test_subgroups_that_are_all_single_clusters_are_refused():
    with pytest.raises(MisfeatError, match="Every subgroup is a single cluster of 'site'"):
        build_cohorts(clustered(), "y", groups="site", design={"cluster": "site"})
