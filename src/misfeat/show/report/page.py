"""From the contents of the report to its page: templates, style, scripts and what they may do."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from misfeat.completion.model import SUPPORT
from misfeat.selection.collecting import SMALLEST_SCALE, WORTH_SAYING
from misfeat.show.report.shades import shade_of
from misfeat.show.report.words import column_words, estimate_words, rises, support_words
from misfeat.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = ("tables.js", "subgroups.js", "lattice.js", "explorer.js")
STYLES = ("report.css",)


def page(contents: dict[str, Any]) -> str:
    """The whole page; every name from the table is text in it, whatever it holds."""
    style, script = _joined(STYLES), _joined(SCRIPTS)
    html: str = (
        _templates()
        .get_template("report.html")
        .render(
            report=contents,
            style=style,
            script=script,
            policy=_policy(style, script),
            data=_as_script_data(_for_the_explorer(contents)),
            rises=rises(contents),
            worth_saying=WORTH_SAYING,
            number_of={row["subgroup"]: i for i, row in enumerate(contents["subgroups"])},
            highest_single=_highest_single(contents),
            smallest_scale=SMALLEST_SCALE * max(row["ceiling"] for row in contents["subgroups"]),
            beyond_budget=_beyond_budget(contents),
        )
    )
    return html


def _policy(style: str, script: str) -> str:
    """A Content-Security-Policy under which this style and this script work, and nothing else."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _for_the_explorer(contents: dict[str, Any]) -> dict[str, Any]:
    """The part of the contents that scripts read."""
    held = {name: contents[name] for name in ("size", "unit", "features", "subgroups", "lattice")}
    words = {
        source: [support_words(one, predicted=source == "predicted") for one in SUPPORT]
        for source in ("recorded", "predicted")
    }
    return {**held, "support": words}


def _beyond_budget(contents: dict[str, Any]) -> bool:
    """Whether a set is shown that could have been computed, but was predicted."""
    return any(one["source"] == "predicted" and not one["missing"] for one in contents["top_sets"])


def _highest_single(contents: dict[str, Any]) -> float:
    """The most that any single feature tells, as a share of what there is to tell in its cohort."""
    rows = zip(contents["single_scores"], contents["subgroups"], strict=True)
    return max(
        (cell["score"] / row["ceiling"] for cells, row in rows if row["ceiling"] for cell in cells),
        default=0.0,
    )


def _as_script_data(held: dict[str, Any]) -> str:
    """JSON that cannot end the element that holds it."""
    return json.dumps(held, allow_nan=False).replace("<", "\\u003c").replace("&", "\\u0026")


@cache
def _joined(names: tuple[str, ...]) -> str:
    folder = files("misfeat.show.report") / "static"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _shown(value: Any) -> Any:
    """What a variable of a template is on the page: characters that would turn text are shown."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "\n".join(map(visible, value.split("\n")))


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("misfeat.show.report"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "score": lambda value: "–" if value is None else f"{value:.4f}",
        "percent": lambda value: "–" if value is None else f"{100 * value:.0f}\N{NO-BREAK SPACE}%",
        "count": lambda value: f"{value:,}",
        "shade": shade_of,
        "support": support_words,
        "estimate": estimate_words,
        "columns": column_words,
    }
    return templates
