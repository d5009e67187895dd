"""The part of the contents that scripts read: names once, sets as numbers, few digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.completion.model import SUPPORT
from misfeat.show.report.words import support_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from misfeat.selection.cell_counts import CellCounts

    Numbers = Callable[[Sequence[str]], list[int]]

DIGITS = 6
"""Significant digits of numbers that are drawn or shown."""
MOST_SUBGROUPS_IN_FULL = 100
"""With more subgroups, their pages hold fewer lines each."""
FEW = 5


def packed(
    contents: Mapping[str, Any],
    cells: Mapping[tuple[int, tuple[int, ...]], CellCounts],
) -> dict[str, Any]:
    """What scripts read."""
    number = {name: at for at, name in enumerate(contents["features"])}
    subgroups = contents["subgroups"]
    short = len(subgroups) > MOST_SUBGROUPS_IN_FULL
    worths: dict[str, list[Any]] = {row["subgroup"]: [] for row in subgroups}
    for worth in contents["worth_collecting"]:
        worths[worth["subgroup"]].append(worth)
    held: dict[str, Any] = {
        name: contents[name]
        for name in ("size", "k", "unit", "measure", "confidence", "features", "lattice")
    }
    held |= {
        "target": contents["target"]["column"],
        "classes": contents["target"]["classes"],
        "support": {
            source: [support_words(one, predicted=source == "predicted") for one in SUPPORT]
            for source in ("recorded", "predicted")
        },
        "subgroups": [
            _subgroup(row, number, worths[row["subgroup"]], FEW if short else None)
            for row in subgroups
        ],
        "cells": _cells(cells),
        "levels": contents["levels"],
        "z": contents["z"],
        "pooled": contents["estimate"] == "population" and len(subgroups) > 1,
        "in_python": contents["in_python"],
    }
    rounded: dict[str, Any] = _rounded(held)
    return rounded


def _subgroup(
    row: Mapping[str, Any],
    number: Mapping[str, int],
    worths: Sequence[Mapping[str, Any]],
    most: int | None,
) -> dict[str, Any]:
    def numbers(names: Sequence[str]) -> list[int]:
        return sorted(number[name] for name in names)

    return {
        "name": row["subgroup"],
        "rows": row["rows"],
        "whole": row["whole"],
        "missing": numbers(row["missing"]),
        "verdict": row["verdict"],
        "answer": numbers(row["answer"]["features"]),
        "sets": [_best_set(one, numbers) for one in row["best_sets"][:most]],
        "enough": _enough(row["enough"], numbers),
        "values": [_value(one, number) for one in row["features"][:most]],
        "why": _why(row["why"], number),
        "alternatives": [_alternative(one, numbers) for one in row["alternatives"][:most]],
        "stability": _stability(row["stability"], numbers, most),
        "worth": [_worth(one, number, numbers) for one in worths[:most]],
    }


def _scored(held: Mapping[str, Any], numbers: Numbers) -> dict[str, Any]:
    """A set with its score and interval."""
    return {
        "set": numbers(held["features"]),
        "score": held["score"],
        "low": held["low"],
        "high": held["high"],
    }


def _best_set(one: Mapping[str, Any], numbers: Numbers) -> dict[str, Any]:
    return _scored(one, numbers) | {
        "observed": one["observed"],
        "chance": one["chance"],
        "p": one["p_value"],
        "predicted": one["source"] == "predicted",
        "support": SUPPORT.index(one["support"]),
    }


def _enough(held: Mapping[str, Any] | None, numbers: Numbers) -> dict[str, Any] | None:
    if held is None:
        return None
    steps = [_scored(step, numbers) | {"p": step["p_value"]} for step in held["steps"]]
    return {name: held[name] for name in ("size", "answer", "settled")} | {"steps": steps}


def _value(one: Mapping[str, Any], number: Mapping[str, int]) -> dict[str, Any]:
    return {
        "feature": number[one["feature"]],
        "alone": [one["alone"], one["alone_low"], one["alone_high"]],
        "adds": [one["adds"], one["adds_low"], one["adds_high"]],
        "part": one["part_of_answer"],
        "in_best": one["in_best"],
        "predicted": one["source"] == "predicted",
    }


def _alternative(one: Mapping[str, Any], numbers: Numbers) -> dict[str, Any]:
    return _scored(one, numbers) | {
        "difference": [one["difference"], one["difference_low"], one["difference_high"]],
        "taken": numbers(one["taken"]),
        "given": numbers(one["given_up"]),
        "predicted": one["source"] == "predicted",
    }


def _worth(one: Mapping[str, Any], number: Mapping[str, int], numbers: Numbers) -> dict[str, Any]:
    return {
        "feature": number[one["feature"]],
        "gain": [one["gain"], one["low"], one["high"]],
        "probability": one["probability"],
        "clear": one["clear"],
        "before": one["before"],
        "set": numbers(one["best_set"]),
    }


def _why(why: Mapping[str, Any] | None, number: Mapping[str, int]) -> dict[str, Any] | None:
    if why is None:
        return None
    return {
        "set": [number[name] for name in why["features"]],
        "predicted": why["predicted"],
        "sentences": why["sentences"],
    }


def _stability(held: Mapping[str, Any] | None, numbers: Numbers, most: int | None) -> Any:
    if held is None:
        return None
    return {
        "resamples": held["resamples"],
        "index": [held["index"], held["low"], held["high"]],
        "sets": [
            {
                "set": numbers(one["features"]),
                "frequency": one["frequency"],
                "ranks": [one["rank_low"], one["rank_median"], one["rank_high"]],
            }
            for one in held["sets"][:most]
        ],
    }


def _cells(cells: Mapping[tuple[int, tuple[int, ...]], CellCounts]) -> dict[str, Any]:
    """Tables by subgroup and set: a line a cell, the numbers of its labels, then its rows."""
    labels: dict[str, int] = {}
    tables: dict[str, Any] = {}
    for (cohort, members), found in cells.items():
        lines = [
            [labels.setdefault(value, len(labels)) for value in values] + row.tolist()
            for values, row in zip(found.values, found.in_rows, strict=True)
        ]
        tables[f"{cohort}:{','.join(map(str, members))}"] = lines
    return {"labels": list(labels), "tables": tables}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(held) for held in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(f"{value:.{DIGITS}g}")
    return value
