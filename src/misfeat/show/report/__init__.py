"""The report: one self-contained HTML page of what a fitted selector found."""

from misfeat.show.report.report import Report

__all__ = ["Report"]
