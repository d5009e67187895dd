"""Answers as lines of JSON, for programs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from misfeat.selection.ranking import subgroup_rows
from misfeat.show.first_screen import first_screen
from misfeat.show.terminal import worth_rows
from misfeat.visible import visible_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from misfeat.selection.selection import Selection
    from misfeat.show.first_screen import FirstScreen

    Rows = Sequence[Mapping[str, Any]]

ANSWER_COLUMNS = ("subgroup", "rows", "verdict", "features", "share", "low", "high", "p_value")


def json_lines(
    selection: Selection,
    worths: Rows | None = None,
    screen: FirstScreen | None = None,
    spell: Callable[[str], str] = str,
) -> Iterator[str]:
    """The answer as lines of JSON, each with its ``"kind"``.

    One line a subgroup (``"subgroup"``), one a feature set (``"set"``), one a feature that some
    subgroup would gain by recording (``"worth"``), what was left out because the time was up
    (``"unfinished"``), what `validate` found (``"validation"``), and the sentences: one for the
    whole table, whose ``"subgroup"`` is null, and one a subgroup (``"answer"``).

    `worths` and `screen` are asked for where they are not at hand already.
    """
    for line in subgroup_rows(selection.cohorts):
        yield as_json("subgroup", line)
    for best in selection.best_sets():
        yield as_json("set", asdict(best))
    for worth in worth_rows(selection) if worths is None else worths:
        yield as_json("worth", worth)
    left_out = selection.unfinished
    if left_out.parts:
        told = {"minutes": left_out.minutes, "missing": list(left_out.parts.values())}
        yield as_json("unfinished", {**told, "text": spell(left_out.sentence)})
    if selection.validation is not None:
        yield as_json("validation", {"text": selection.validation})
    yield from _answers(first_screen(selection) if screen is None else screen, spell)


def _answers(screen: FirstScreen, spell: Callable[[str], str]) -> Iterator[str]:
    yield as_json("answer", {"subgroup": None, "sentence": spell(screen.whole)})
    for one in screen.subgroups:
        held = {name: getattr(one, name) for name in ANSWER_COLUMNS}
        yield as_json("answer", {**held, "sentence": spell(one.sentence)})


def as_json(kind: str, line: Mapping[str, Any], name: str = "kind") -> str:
    """A line of an answer as JSON, with its kind; what is not a number is null."""
    plain = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in line.items()
    }
    return visible_json(json.dumps({name: kind, **plain}, ensure_ascii=False))
