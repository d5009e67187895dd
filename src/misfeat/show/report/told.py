"""The sentences of the report as HTML, names isolated and parameters in the reader's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.show.markup import as_html

if TYPE_CHECKING:
    from misfeat.exceptions import Spelling
    from misfeat.show.report.findings import Findings


def told(findings: Findings, spell: Spelling = str) -> dict[str, Any]:
    """Sentences by where they stand."""
    screen = findings.screen
    return {
        "whole": as_html(screen.whole, spell),
        "answers": [as_html(one.words, spell) for one in screen.subgroups],
        "collecting": [as_html(one, spell) for one in screen.collecting],
        "overturning": [as_html(one.words, spell, "part") for one in screen.overturning],
        "cautions": [as_html(one.words, spell, "part") for one in screen.other_cautions],
        "left_out": [as_html(one, spell) for one in findings.left_out],
    }
