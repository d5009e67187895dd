"""Tables to learn, test and measure with: generated ones and a real one."""

from misfeat.datasets.heart import Dataset, heart_csv, load_heart
from misfeat.datasets.population import GeneratedCohorts, make_cohorts

__all__ = ["Dataset", "GeneratedCohorts", "heart_csv", "load_heart", "make_cohorts"]
