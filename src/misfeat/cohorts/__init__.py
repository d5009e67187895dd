"""Cohorts: any table, cut into subgroups, coded and collapsed to weighted rows."""

from misfeat.cohorts.build import build_cohorts
from misfeat.cohorts.model import Cohort, Cohorts, ColumnReport
from misfeat.cohorts.moments import Moments, build_moments

__all__ = ["Cohort", "Cohorts", "ColumnReport", "Moments", "build_cohorts", "build_moments"]
