"""Cohorts: any table, cut into subgroups, coded and collapsed to weighted rows."""

from misfeat.cohorts.build import build_cohorts
from misfeat.cohorts.coding import Coding
from misfeat.cohorts.model import Cohort, Cohorts, ColumnAudit
from misfeat.cohorts.product_sums import ProductSums, build_product_sums
from misfeat.reading.addresses import register_source

__all__ = [
    "Coding",
    "Cohort",
    "Cohorts",
    "ColumnAudit",
    "ProductSums",
    "build_cohorts",
    "build_product_sums",
    "register_source",
]
