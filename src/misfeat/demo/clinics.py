"""Four generated clinics that do not take the same tests: tables of pictures and benchmarks."""

from __future__ import annotations

from functools import partial

from misfeat.datasets import GeneratedCohorts, make_cohorts

_drawn = partial(
    make_cohorts,
    n_cohorts=4,
    n_rows=3000,
    n_features=8,
    feature_names=("glucose", "ecg", "weight", "smoking", "pressure", "lipids", "kidney", "sleep"),
    cohort_names=("North", "East", "South", "West"),
    group="clinic",
    hide=0.3,
)


def demo_data() -> GeneratedCohorts:
    """Draw the table of the pictures in the documentation."""
    return _drawn(target="ill", random_state=2)


def clinics() -> GeneratedCohorts:
    """Draw clinics whose patients resemble each other."""
    return _drawn(similarity=300, target="illness", random_state=0)
