"""What a selection shows of itself in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from misfeat.selection.ranking import subgroup_rows

if TYPE_CHECKING:
    from misfeat.cohorts import Cohorts

MOST_SHOWN = 20
"""Subgroups in the table; more are counted."""


def subgroups_as_html(cohorts: Cohorts) -> str:
    """A table of the subgroups, and what each never recorded; every name is shown as text."""
    rows = subgroup_rows(cohorts)
    lines = "".join(
        f"<tr><td>{escape(row['subgroup'])}</td><td style='text-align:right'>{row['rows']:,}</td>"
        f"<td>{escape(', '.join(row['missing']) or '–')}</td></tr>"
        for row in rows[:MOST_SHOWN]
    )
    more = len(rows) - MOST_SHOWN
    if more > 0:
        lines += f"<tr><td colspan='3'>and {more} more</td></tr>"
    head = "<tr><th>subgroup</th><th>rows</th><th>never recorded</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{lines}</tbody></table>"
