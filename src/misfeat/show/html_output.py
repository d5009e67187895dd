"""HTML: messages and templates, pages with a policy and a file, and what a notebook shows."""

import base64
import hashlib
from functools import cache
from html import escape
from string import Formatter
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from misfeat.answers.selection_base import subgroup_rows
from misfeat.cohorts import Cohorts
from misfeat.messages import Message, Setting, Spelling, text_and_settings, visible
from misfeat.number_formatting import percent, percent_between
from misfeat.selection import Selection
from misfeat.show.answer_with_map import first_screen

MOST_SHOWN = 20  # subgroups in a notebook's list or table, and features in its map


def as_html(text: str, spell: Spelling = str, mark: str = "name") -> Markup:
    """A message as escaped text, names isolated in the class `mark`, parameters as code."""
    if not isinstance(text, Message):
        return _plain(text)
    if not text.about:
        found = text_and_settings(text.template)
        return Markup("").join(_plain(p) if isinstance(p, str) else _code(p, spell) for p in found)
    parts = []
    for literal, field, form, conversion in Formatter().parse(text.template):
        parts.append(_plain(literal))
        if field is None:
            continue
        value = text.about[field]
        shown = repr(value) if conversion == "r" else value
        if isinstance(value, Message):
            parts.append(as_html(value, spell, mark))
        elif isinstance(value, Setting):
            parts.append(_code(value, spell))
        elif isinstance(value, str):
            parts.append(Markup('<bdi class="{}">{}</bdi>').format(mark, visible(str(shown))))
        else:
            parts.append(_plain(format(shown, form or "")))
    return Markup("").join(parts)


def _code(setting: Setting, spell: Spelling) -> Markup:
    return Markup("<code>{}</code>").format(visible(spell(setting)))


def _plain(text: str) -> Markup:
    """Escaped text; a number stays with its unit and its name."""
    kept = visible(text)
    for words in (" %", "p = ", "p ≤ "):
        kept = kept.replace(words, words.replace(" ", "\N{NO-BREAK SPACE}"))
    return Markup.escape(kept)


def policy_for(style: str, script: str) -> str:
    """A Content-Security-Policy under which this style and script work, and nothing else."""

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")

    return (
        f"default-src 'none'; style-src 'sha256-{digest(style)}'; "
        f"script-src 'sha256-{digest(script)}'; base-uri 'none'; form-action 'none'"
    )


@cache
def templates_of(package: str) -> Environment:
    """The templates of a package, in which every value is text, whatever it holds."""

    def shown(value: Any) -> Any:
        """A variable on the page: characters that would turn text are shown."""
        if not isinstance(value, str) or hasattr(value, "__html__"):
            return value
        return "\n".join(map(visible, value.split("\n")))

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def framed(html: str, title: str, allowed: str = "") -> str:
    """A page as a sandboxed frame that another page or a notebook can hold."""
    return (
        f'<iframe title="{escape(visible(title))}" sandbox="{allowed}" '
        'style="width:100%;height:80vh;border:0;resize:vertical" '
        f'srcdoc="{escape(html)}"></iframe>'
    )


def first_screen_as_html(selection: Selection) -> str:
    """The answer in sentences, what each feature explains, and what may overturn it."""
    screen = first_screen(selection)
    shown, names = screen.map, selection.cohorts.names
    features = shown.features[:MOST_SHOWN]
    top = max(float(shown.share.max()), 1e-9)

    def cell(at: tuple[int, int]) -> dict[str, str]:
        share, low, high = (float(held[at]) for held in (shown.share, shown.low, shown.high))
        kinds = {"never": shown.predicted[at], "faded": shown.faded[at]}
        return {
            "kinds": " ".join(kind for kind, holds in kinds.items() if holds),
            "depth": f"{0.0 if shown.faded[at] else 0.85 * share / top:.2f}",
            "interval": f"{percent(share, low, high)} ({percent_between(low, high)})",
            "share": f"{100 * share:.0f}",
        }

    page = templates_of("misfeat.show").get_template("notebook.html")
    return page.render(
        most=MOST_SHOWN,
        overturning=[as_html(one.words) for one in screen.overturning],
        whole=as_html(screen.sentence),
        subgroups=[as_html(screen.subgroups[i].sentence) for i in shown.subgroups],
        features=[selection.feature_names[f] for f in features],
        rows=[(names[i], [cell((i, f)) for f in features]) for i in shown.subgroups[:MOST_SHOWN]],
        collecting=[as_html(one) for one in screen.recording],
        cautions=[as_html(one.words) for one in screen.other_cautions],
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
