"""Answers for other programs: an Excel workbook, CSV files, and Markdown for papers."""

from misfeat.show.export.export import export_answers
from misfeat.show.export.markdown import markdown_table

__all__ = ["export_answers", "markdown_table"]
