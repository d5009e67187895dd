"""What a selection and a fitted selector show of themselves in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from misfeat.answers.top import subgroup_rows
from misfeat.show.first_screen import first_screen
from misfeat.show.pages import as_html, templates_of
from misfeat.words import percent, percent_between

if TYPE_CHECKING:
    from misfeat.cohorts import Cohorts
    from misfeat.selection import Selection
    from misfeat.show.first_screen import FeatureMap

MOST_SHOWN = 20
"""Subgroups in a list or table, and features in the map; more are counted, or left out."""


def first_screen_as_html(selection: Selection) -> str:
    """The answer in sentences, what each feature tells, and what may overturn it."""
    screen = first_screen(selection)
    shown, names = screen.map, selection.cohorts.names
    features = shown.features[:MOST_SHOWN]
    return (
        templates_of("misfeat.show")
        .get_template("notebook.html")
        .render(
            most=MOST_SHOWN,
            overturning=[as_html(one.words) for one in screen.overturning],
            whole=as_html(screen.whole),
            subgroups=[as_html(screen.subgroups[i].sentence) for i in shown.subgroups],
            features=[selection.feature_names[f] for f in features],
            rows=[
                (names[i], [_cell(shown, i, f) for f in features])
                for i in shown.subgroups[:MOST_SHOWN]
            ],
            collecting=[as_html(one) for one in screen.collecting],
            cautions=[as_html(one.words) for one in screen.other_cautions],
        )
    )


def _cell(shown: FeatureMap, subgroup: int, feature: int) -> dict[str, str]:
    at = subgroup, feature
    share, low, high = (float(held[at]) for held in (shown.share, shown.low, shown.high))
    top = max(float(shown.share.max()), 1e-9)
    return {
        "kinds": " ".join(
            ["never"] * bool(shown.predicted[at]) + ["faded"] * bool(shown.faded[at])
        ),
        "depth": f"{0.0 if shown.faded[at] else 0.85 * share / top:.2f}",
        "interval": f"{percent(share, low, high)} ({percent_between(low, high)})",
        "share": f"{100 * share:.0f}",
    }


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
