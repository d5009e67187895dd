"""The report: one self-contained HTML page of what a fitted selector found."""

from misfeat.report.findings import Findings
from misfeat.report.report import Report

__all__ = ["Findings", "Report"]
