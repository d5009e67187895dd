"""The report: one self-contained HTML page of what a fitted selector found."""

from misfeat.show.report.data import make_report
from misfeat.show.report.page import Report

__all__ = ["Report", "make_report"]
