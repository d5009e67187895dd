"""What a selection and a fitted selector show of themselves in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from markupsafe import Markup

from misfeat.answers.top import subgroup_rows
from misfeat.show.first_screen import first_screen
from misfeat.show.pages import as_html
from misfeat.visible import visible
from misfeat.words.numbers import percent, percent_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from misfeat.cohorts import Cohorts
    from misfeat.exceptions import Message
    from misfeat.selection import Selection
    from misfeat.show.first_screen.first_screen import FeatureMap

MOST_SHOWN = 20
"""Subgroups in a list or table; more are counted."""
MOST_FEATURES = 20
"""Features in the map: those that tell most."""

# Colours that show on light and dark pages alike; the frame around them is the reader's own.
STYLE = Markup("""
<style>
.misfeat-screen .whole { font-size: 1.15em; margin: .5em 0; }
.misfeat-screen .overturns { border: 2px solid #b35900; border-radius: .4em; padding: .4em .8em; }
.misfeat-screen table { border-collapse: collapse; margin: .5em 0; }
.misfeat-screen td, .misfeat-screen th { text-align: center; padding: .2em .4em; }
.misfeat-screen th[scope=row] { text-align: left; }
.misfeat-screen td.never { outline: 2px dashed #b35900; outline-offset: -2px; font-style: italic; }
.misfeat-screen td.faded { opacity: .55; }
.misfeat-screen .about { opacity: .75; font-size: .9em; }
</style>
""")


def first_screen_as_html(selection: Selection) -> str:
    """The answer in sentences, what each feature tells, and what may overturn it."""
    screen = first_screen(selection)
    parts = [STYLE]
    if screen.overturning:
        said = _listed([one.words for one in screen.overturning])
        heading = Markup("<strong>This may overturn the answer</strong>")
        parts.append(Markup('<div class="overturns">{}{}</div>').format(heading, said))
    parts.append(Markup('<p class="whole">{}</p>').format(as_html(screen.whole)))
    if len(screen.subgroups) > 1:
        ordered = [screen.subgroups[number] for number in screen.map.subgroups]
        parts.append(_listed([one.sentence for one in ordered]))
    parts.append(_map(screen.map, selection.cohorts.names, selection.feature_names))
    parts.append(_listed(screen.collecting))
    if screen.other_cautions:
        parts.append(_listed([one.words for one in screen.other_cautions]))
    hint = "Tables: selection.show(tables=True). One page with everything: selection.report()."
    parts.append(Markup('<p class="about">{}</p>').format(hint))
    return Markup('<div class="misfeat-screen">{}</div>').format(Markup("").join(parts))


def _listed(sentences: Sequence[Message]) -> Markup:
    items = [Markup("<li>{}</li>").format(as_html(one)) for one in sentences[:MOST_SHOWN]]
    more = len(sentences) - MOST_SHOWN
    if more > 0:
        items.append(Markup("<li>and {} more</li>").format(more))
    return Markup("<ul>{}</ul>").format(Markup("").join(items))


def _map(found: FeatureMap, names: Sequence[str], features: Sequence[str]) -> Markup:
    shown = found.features[:MOST_FEATURES]
    top = max(float(found.share.max(initial=0.0)), 1e-9)
    heads = (Markup("<th>{}</th>").format(visible(features[f])) for f in shown)
    head = _row(Markup("<th></th>"), heads)
    lines = []
    for number in found.subgroups[:MOST_SHOWN]:
        name = Markup('<th scope="row">{}</th>').format(visible(names[number]))
        lines.append(_row(name, (_cell(found, number, f, top) for f in shown)))
    caption = Markup(
        "<caption>What each feature tells by itself, in per cent of what there is to tell; pale: "
        "no more than chance; dashed: never recorded there, predicted</caption>"
    )
    body = Markup("").join(lines)
    return Markup("<table>{}<thead>{}</thead><tbody>{}</tbody></table>").format(caption, head, body)


def _row(first: Markup, cells: Iterable[Markup]) -> Markup:
    return Markup("<tr>{}{}</tr>").format(first, Markup("").join(cells))


def _cell(found: FeatureMap, subgroup: int, feature: int, top: float) -> Markup:
    at = subgroup, feature
    share, low, high = (float(held[at]) for held in (found.share, found.low, found.high))
    kinds = ["never"] * bool(found.predicted[at]) + ["faded"] * bool(found.faded[at])
    depth = 0.0 if found.faded[at] else 0.85 * share / top
    return Markup(
        '<td class="{}" style="background: rgba(60, 140, 220, {})" title="{} ({})">{}</td>'
    ).format(
        " ".join(kinds),
        f"{depth:.2f}",
        percent(share, low, high),
        percent_between(low, high),
        f"{100 * share:.0f}",
    )


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
