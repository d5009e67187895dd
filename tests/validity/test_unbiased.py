"""Above chance means above chance: where nothing tells anything, scores are 0 on the mean."""

import numpy as np
import pytest

from misfeat.cohorts import build_cohorts
from misfeat.information.measures import MutualInformation, SquaredCorrelation
from tests.cohorts.tables import build_product_sums

pytestmark = [
    pytest.mark.validity,
    pytest.mark.filterwarnings("ignore:The target .* has a single value"),  # it tells 0, rightly
]

N_TABLES = 1_000
WITHIN = 3.0
"""Standard errors that a mean may be off."""
CLASSES = {"even": (0.5, 0.5), "rare": (0.95, 0.05), "three": (0.6, 0.3, 0.1)}


def check_mean_is_zero(scores: np.ndarray) -> None:
    error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    off = np.abs(scores.mean(axis=0)) / error
    assert (off < WITHIN).all(), off


def scores_of_both_sizes(measure) -> list[float]:
    """Of one set of each size: sets of one table are not independent of each other."""
    single, pair = measure.of_levels(0, 1, 2, 1)
    return [float(single[0]), float(pair[0])]


@pytest.mark.parametrize("n_values", [2, 5, 12])
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("n_rows", [30, 300])
def test_information_of_what_tells_nothing_is_zero_on_the_mean(n_values, classes, n_rows):
    rng = np.random.default_rng([n_values, n_rows, len(classes)])
    shares = CLASSES[classes]
    found = []
    while len(found) < N_TABLES:
        y = rng.choice(len(shares), n_rows, p=shares)
        table = {name: rng.integers(0, n_values, n_rows) for name in ("a", "b")}
        cohorts = build_cohorts({**{n: v.astype(str) for n, v in table.items()}, "y": y}, "y")
        found.append(scores_of_both_sizes(MutualInformation(cohorts, above_chance=True)))
    check_mean_is_zero(np.array(found))


@pytest.mark.parametrize("n_rows", [10, 100])
def test_adjusted_correlation_of_what_tells_nothing_is_zero_on_the_mean(n_rows):
    rng = np.random.default_rng(n_rows)
    found = []
    for _ in range(N_TABLES):
        table = {name: rng.normal(size=n_rows) for name in ("a", "b", "y")}
        sums = build_product_sums(table, "y")
        found.append(scores_of_both_sizes(SquaredCorrelation(sums, above_chance=True)))
    check_mean_is_zero(np.array(found))


def test_scores_as_they_are_would_fail_this():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(100):
        table = {name: rng.integers(0, 5, 30).astype(str) for name in ("a", "b", "y")}
        found.append(scores_of_both_sizes(MutualInformation(build_cohorts(table, "y"))))
    with pytest.raises(AssertionError):
        check_mean_is_zero(np.array(found))
