"""Tables to learn, test and measure with: generated ones, the paper's example, and real files."""

from misfeat.datasets.dataset import Dataset, heart_csv, load_heart, load_readmission
from misfeat.datasets.files import (
    load_adult,
    load_attrition,
    load_diabetes130,
    load_loan,
    load_mobile,
    load_nhanes,
)
from misfeat.datasets.population import GeneratedCohorts, make_cohorts, make_formula

__all__ = [
    "Dataset",
    "GeneratedCohorts",
    "heart_csv",
    "load_adult",
    "load_attrition",
    "load_diabetes130",
    "load_heart",
    "load_loan",
    "load_mobile",
    "load_nhanes",
    "load_readmission",
    "make_cohorts",
    "make_formula",
]
