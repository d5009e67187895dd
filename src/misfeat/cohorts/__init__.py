"""Cohorts: any table, cut into subgroups, coded and collapsed to weighted rows."""

from misfeat.cohorts.cohort_building import build_cohorts
from misfeat.cohorts.cohort_data import Cohort, Cohorts, ColumnAudit
from misfeat.cohorts.column_coding import Coding

__all__ = ["Coding", "Cohort", "Cohorts", "ColumnAudit", "build_cohorts"]
