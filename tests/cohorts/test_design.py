"""Weighted shares, Kish's sizes and design effects, held against R's package survey.

benchmarks/weights/survey.R wrote the rows and the figures.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from misfeat import MisfeatError, MisfeatWarning
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.weights import mean_effect

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


@pytest.mark.parametrize(("target", "by"), TABLES)
def test_weights_alone_give_kishs_size(rows, figures, target, by):
    table = rows.drop(columns=["SDMVSTRA", "SDMVPSU"])
    cohorts = build_cohorts(
        table, target, groups=by, sample_weight="WTMEC2YR", coding=Coding(min_rows=1)
    )
    told = figures_of(figures, design="strata", target=target, by=by)
    for cohort in cohorts:
        own = told[told["value"] == cohort.name.removeprefix(f"{by}=")]
        assert cohort.effective == pytest.approx(own["kish"].iloc[0], rel=1e-9)


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


def test_subgroups_that_are_all_single_clusters_are_refused():
    with pytest.raises(MisfeatError, match="Every subgroup is a single cluster of 'site'"):
        build_cohorts(clustered(), "y", groups="site", design={"cluster": "site"})
