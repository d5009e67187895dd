"""Cohorts: any table, cut into subgroups, coded and collapsed to weighted rows."""

from misfeat.cohorts.build import build_cohorts
from misfeat.cohorts.model import Cohort, Cohorts, ColumnReport

__all__ = ["Cohort", "Cohorts", "ColumnReport", "build_cohorts"]
