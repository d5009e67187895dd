"""What scripts read of the contents, as much as fits: names once, sets as numbers, few digits."""

from __future__ import annotations

import base64
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Any

from misfeat.answers.why import cell_counts
from misfeat.completion.model import SUPPORT
from misfeat.show.report.words import support_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.answers.why import CellCounts
    from misfeat.completion import CompletedScores
    from misfeat.selection import Selection

    Cells = dict[tuple[int, tuple[int, ...]], CellCounts]
    Numbers = Callable[[Sequence[str]], list[int]]

DIGITS = 6
"""Significant digits of numbers that are drawn or shown."""
MOST_SUBGROUPS_IN_FULL = 100
"""With more subgroups, their pages hold fewer lines each."""
FEW = 5
MOST_SCORES = 150_000
"""Scores that the page holds at most, over all cohorts: about 2.5 MB of it."""
MOST_LARGER = 30_000
"""Scores of sets with one feature more that are estimated only to be looked at."""
MOST_TABLES = 1_200
"""Sets, over all subgroups, whose cells the page holds besides those of its answers."""
MOST_CLASSES = 12
"""A target with more classes has too large tables."""


def packed(
    contents: Mapping[str, Any],
    cells: Cells,
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


def _cells(cells: Cells) -> dict[str, Any]:
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


def sizes_that_fit(n_cohorts: int, n_features: int, size: int) -> list[int]:
    """The sizes of sets that the explorer holds: from 1 up, as long as there is room.

    One more than `size`, that of the report, is held too, so that a set can be seen to grow, where
    that is worth the time.

    Examples
    --------
    >>> sizes_that_fit(20, 30, 3)
    [1, 2, 3]
    >>> sizes_that_fit(4, 8, 3)
    [1, 2, 3, 4]
    """
    held: list[int] = []
    room = MOST_SCORES
    larger = size < n_features and comb(n_features, size + 1) * n_cohorts <= MOST_LARGER
    for one in range(1, size + 1 + larger):
        room -= comb(n_features, one) * n_cohorts
        if room < 0:
            break
        held.append(one)
    return held


def packed_lattice(by_size: Mapping[int, CompletedScores], sizes: Sequence[int]) -> dict[str, Any]:
    """Scores, bounds and what they rest on, by size: cohort after cohort, sets by their rank.

    Arrays are Base64 text, of 32-bit floats where they are not of single bytes.
    """
    kinds = {"score": "<f4", "low": "<f4", "high": "<f4", "predicted": "u1", "support": "u1"}
    return {
        "levels": [
            {"size": size}
            | {name: _base64(getattr(by_size[size], name), kind) for name, kind in kinds.items()}
            for size in sizes
            if size in by_size
        ]
    }


def _base64(array: NDArray[Any], kind: str) -> str:
    return base64.b64encode(array.astype(kind).tobytes()).decode("ascii")


def cells_that_fit(selection: Selection, answers: Sequence[Sequence[str]]) -> Cells:
    """Rows by cell and class of all single features and all pairs, as long as there is room.

    Those of `answers`, the set that answers for every subgroup, are always held where they may be.
    """
    measure = selection.set_scores.measure
    counted = measure.rows is not None or measure.tables is not None
    if not counted or len(selection.cohorts.classes) > MOST_CLASSES:
        return {}
    number = {name: at for at, name in enumerate(selection.feature_names)}

    def members(features: Sequence[str]) -> tuple[int, ...]:
        return tuple(sorted(number[name] for name in features))

    most = len(number) if measure.tables is None else measure.tables.largest
    wanted = [
        (cohort, members(answer))
        for cohort, answer in enumerate(answers)
        if 0 < len(answer) <= most
    ]
    cohorts = range(len(selection.cohorts))
    room = MOST_TABLES
    for size in (1, 2):
        room -= comb(len(number), size) * len(cohorts)
        if room < 0:
            break
        wanted += product(cohorts, combinations(range(len(number)), size))
    return cell_counts(selection, wanted)
