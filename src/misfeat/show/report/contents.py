"""From findings to the contents of the report: plain values that JSON can hold, by section."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.selection.ranking import subgroup_rows
from misfeat.show.report.lattice import packed_lattice

if TYPE_CHECKING:
    from misfeat.show.report.findings import Findings

FORMAT = 2
"""Raised whenever a program that reads the JSON would have to change."""


def contents(findings: Findings, title: str | None = None) -> dict[str, Any]:
    """Everything the report shows.

    Parameters
    ----------
    findings : Findings
        What was found.
    title : str, default=None
        The heading; made from the target's name where None.

    Returns
    -------
    dict
        Of strings, numbers, lists and dicts; None stands for what is not known.
    """
    from misfeat.version import __version__

    target = findings.cohorts.target
    found = {
        "format": FORMAT,
        "misfeat": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "title": f"What tells most about {target}" if title is None else str(title),
        "target": findings.target(),
        "estimate": findings.estimate,
        "measure": findings.measure,
        "unit": findings.unit,
        "size": findings.size,
        "k": findings.k,
        "confidence": findings.confidence,
        "settings": dict(findings.settings),
        "features": list(findings.features),
        "subgroups": _subgroups(findings),
        "worth_collecting": _worth_collecting(findings),
        "top_sets": [asdict(best) for best in findings.top],
        "recorded": _recorded(findings),
        "trust": _trust(findings),
        "cautions": list(findings.cautions),
        "single_scores": _single_scores(findings),
        "lattice": packed_lattice(findings),
        "columns": [_column(report) for report in findings.cohorts.columns],
        "notes": list(findings.cohorts.notes),
    }
    plain: dict[str, Any] = _plain(found)
    return plain


def _subgroups(findings: Findings) -> list[dict[str, Any]]:
    return [
        {
            "subgroup": row["subgroup"],
            "rows": row["rows"],
            "target_entropy": row["target_entropy"],
            "ceiling": findings.ceiling[cohort],
            "missing": _names(findings, findings.missing[cohort]),
        }
        for cohort, row in enumerate(subgroup_rows(findings.cohorts))
    ]


def _names(findings: Findings, chosen: Any) -> list[str]:
    return [name for name, one in zip(findings.features, chosen, strict=True) if one]


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


def _single_scores(findings: Findings) -> list[list[dict[str, Any]]]:
    """The score of every single feature in every cohort."""
    singles = findings.scores[1]
    return [
        [
            {
                "score": singles.score[cohort, feature],
                "low": singles.low[cohort, feature],
                "high": singles.high[cohort, feature],
                "predicted": bool(singles.predicted[cohort, feature]),
            }
            for feature in range(len(findings.features))
        ]
        for cohort in range(len(findings.cohorts))
    ]


def _column(report: Any) -> dict[str, Any]:
    return {
        "column": report.column,
        "role": report.role,
        "treatment": report.treatment,
        "categories": list(report.categories),
        "missing": report.missing,
    }


def _plain(value: Any) -> Any:
    """The same with Python's own numbers, lists for tuples, and None for what is not finite."""
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")  # halves of characters
    return None if isinstance(value, float) and not math.isfinite(value) else value
