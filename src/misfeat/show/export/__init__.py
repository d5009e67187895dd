"""Answers for other programs: an Excel workbook, CSV and Parquet files, Markdown for papers."""

from misfeat.show.export.export import export_answers

__all__ = ["export_answers"]
