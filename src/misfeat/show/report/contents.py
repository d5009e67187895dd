"""From findings to the contents of the report: plain values that JSON can hold, by section."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from misfeat.answers.top import subgroup_rows
from misfeat.exceptions import Message
from misfeat.show.report.packing import packed_lattice, sizes_that_fit

if TYPE_CHECKING:
    from misfeat.exceptions import Spelling
    from misfeat.show.report.gather import Findings, SubgroupFindings

FORMAT = 3
"""Raised whenever a program that reads the JSON would have to change."""
OF_COLUMNS = ("column", "role", "treatment", "categories", "missing", "taken_for", "example")
"""What is told of every column of the table."""


def contents(findings: Findings, title: str | None = None, spell: Spelling = str) -> dict[str, Any]:
    """Everything the report shows.

    Strings, numbers, lists and dicts; None stands for what is not known.
    """
    from misfeat.version import __version__

    cohorts, screen = findings.cohorts, findings.screen
    found = {
        "format": FORMAT,
        "misfeat": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "title": f"What tells most about {cohorts.target}" if title is None else str(title),
        "target": {"column": cohorts.target, "classes": list(cohorts.classes)},
        **_held(findings, "estimate", "measure", "unit", "size", "k", "confidence"),
        "settings": dict(findings.settings),
        "features": list(findings.features),
        "answer": screen.whole,
        "cautions": [_held(one, "severity", "kind", "words") for one in screen.cautions],
        "collecting": list(screen.collecting),
        "left_out": findings.left_out,
        "subgroups": _subgroups(findings),
        "map": _map(findings),
        "worth_collecting": _worth_collecting(findings),
        "recorded": _recorded(findings),
        "trust": _trust(findings),
        "lattice": packed_lattice(
            findings.scores, sizes_that_fit(len(cohorts), len(findings.features), findings.size)
        ),
        "levels": [list(values) for values in cohorts.categories],
        "z": _z(findings.confidence),
        "in_python": spell is str,
        "columns": [_held(report, *OF_COLUMNS) for report in cohorts.columns],
        "notes": list(cohorts.notes),
    }
    plain: dict[str, Any] = _plain(found, spell)
    return plain


def _subgroups(findings: Findings) -> list[dict[str, Any]]:
    rows = subgroup_rows(findings.cohorts)
    parts = zip(rows, findings.screen.subgroups, findings.subgroups, strict=True)
    return [
        {
            "subgroup": row["subgroup"],
            "rows": row["rows"],
            "target_entropy": row["target_entropy"],
            "whole": findings.whole[number],
            "missing": _names(findings, findings.missing[number]),
            "verdict": answer.verdict,
            "sentence": answer.sentence,
            "words": answer.words,
            "answer": _held(answer, "features", "share", "low", "high", "p_value"),
            "best_sets": [
                asdict(best) | {"chance": chance}
                for best, chance in zip(own.best, own.chance, strict=True)
            ],
            "enough": _enough(own),
            "features": [
                asdict(value) | {"part_of_answer": own.parts.get(value.feature)}
                for value in own.features
            ],
            "why": _why(own),
            "alternatives": [asdict(one) | {"words": one.words} for one in own.alternatives],
            "stability": _stability(findings, row["subgroup"]),
        }
        for number, (row, answer, own) in enumerate(parts)
    ]


def _z(confidence: float | None) -> float | None:
    """How many deviations an interval reaches to either side."""
    return None if confidence is None else float(ndtri((1 + confidence) / 2))


def _enough(own: SubgroupFindings) -> dict[str, Any] | None:
    if own.enough is None:
        return None
    found = own.enough
    return {
        "size": found.size,
        "answer": 0 if found.best is None else found.best.size,
        **_held(found, "settled", "level"),
        # Beyond the next size nothing was tested.
        "steps": [asdict(step) for step in found.steps[: found.size + 1]],
    }


def _why(own: SubgroupFindings) -> dict[str, Any] | None:
    found = own.explanation
    if found is None:
        return None
    return {
        "features": found.features,
        "predicted": found.predicted,
        "sentences": found.sentences(),
        "cells": [asdict(cell) | {"contribution": cell.contribution} for cell in found.cells],
    }


def _stability(findings: Findings, subgroup: str) -> dict[str, Any] | None:
    held = findings.stability
    if held is None:
        return None
    own = next((one for one in held.subgroups if one.subgroup == subgroup), None)
    if own is None:
        return None
    return {
        "resamples": held.resamples,
        **_held(own, "index", "low", "high"),
        "sets": [asdict(one) for one in held.sets if one.subgroup == subgroup],
        "features": {
            one.feature: _held(one, "in_best", "in_top_k")
            for one in held.features
            if one.subgroup == subgroup
        },
    }


def _names(findings: Findings, chosen: Any) -> list[str]:
    return [name for name, one in zip(findings.features, chosen, strict=True) if one]


def _map(findings: Findings) -> dict[str, Any]:
    """What every single feature tells, and the order in which that is shown."""
    held = findings.screen.map
    arrays = _held(held, "share", "low", "high", "predicted", "faded")
    return _held(held, "subgroups", "features") | {
        name: values.tolist() for name, values in arrays.items()
    }


def _worth_collecting(findings: Findings) -> list[dict[str, Any]]:
    """What is worth most first, over all cohorts."""
    ordered = sorted(findings.worths, key=lambda worth: -worth.gain_per_cost)
    return [asdict(worth) | {"gain_per_cost": worth.gain_per_cost} for worth in ordered]


def _recorded(findings: Findings) -> list[list[float | None]]:
    """The share of a subgroup's rows that hold each feature; None where it was never recorded."""
    cohorts = findings.cohorts
    shares = dict(zip(cohorts.features, cohorts.recorded_shares().T, strict=True))
    return [
        [
            None if absent else float(shares[name][number]) if name in shares else 1.0
            for name, absent in zip(findings.features, findings.missing[number], strict=True)
        ]
        for number in range(len(cohorts))
    ]


def _trust(findings: Findings) -> dict[str, Any]:
    rows = [
        {**asdict(one), "subgroup": findings.cohorts.names[one.cohort]}
        for one in findings.trust or ()
    ]
    for row in rows:
        del row["cohort"]
    return {"sentence": findings.trust_in_words, "rows": rows}


def _held(one: Any, *names: str) -> dict[str, Any]:
    """Some attributes of a thing by name."""
    return {name: getattr(one, name) for name in names}


def _plain(value: Any, spell: Spelling) -> Any:
    """The same with Python's own numbers, lists for tuples, and None for what is not finite."""
    if isinstance(value, dict):
        return {_plain(str(key), spell): _plain(held, spell) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held, spell) for held in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Message):
        value = value.told(spell)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")  # halves of characters
    return None if isinstance(value, float) and not math.isfinite(value) else value
