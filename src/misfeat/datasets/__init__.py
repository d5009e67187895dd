"""Tables to learn, test and measure with: generated ones, the paper's example, and real ones."""

from misfeat.datasets.dataset import Dataset, heart_csv, load_heart, load_readmission
from misfeat.datasets.population import GeneratedCohorts, make_cohorts

__all__ = [
    "Dataset",
    "GeneratedCohorts",
    "heart_csv",
    "load_heart",
    "load_readmission",
    "make_cohorts",
]
