"""What the report shows: everything it asks a selection, as plain values that JSON can hold."""

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import accumulate, combinations, product
from math import comb, nan
from statistics import NormalDist
from typing import Any

import numpy as np
from markupsafe import Markup

from misfeat.answers.feature_contributions import feature_values, shapley_values
from misfeat.answers.number_of_features import Enough
from misfeat.answers.recommendation import MODEL_COLUMNS, NO_EVIDENCE, SubgroupAnswer
from misfeat.answers.recording_gains import feature_worths
from misfeat.answers.selection_base import set_members, subgroup_rows
from misfeat.answers.set_cells import cell_counts, event_free_curves, explanations
from misfeat.answers.stability import Stability, stability_of
from misfeat.answers.top_sets import ScoredSet, alternative_sets, best_sets
from misfeat.answers.validation import validation_of
from misfeat.completion import CompletedScores
from misfeat.messages import Message, Spelling
from misfeat.runtime.progress import progress_shown
from misfeat.selection import Selection
from misfeat.show.answer_with_map import FirstScreen, first_screen
from misfeat.show.html_output import as_html
from misfeat.show.report.page import Cells, Report
from misfeat.version import __version__

FORMAT = 3  # raised whenever a program that reads the JSON would have to change
COLUMN_NOTES = ("column", "role", "treatment", "categories", "missing", "taken_for", "example")
MOST_LARGER = 30_000  # sets of one feature more, over all subgroups, that the explorer holds
MOST_VALUED = 60_000  # sets, over all subgroups, up to which features are valued in all of them
MOST_EXPLAINED = 200  # subgroups, the largest, whose answers are explained
MOST_SCORES = 150_000  # scores that the page holds at most, over all cohorts: about 2.5 MB of it
MOST_TABLES = 1_200  # sets, over all subgroups, whose cells the page holds beside its answers
# The arrays of scores that the page holds, and as what numbers.
PACKED = {"score": "<f4", "low": "<f4", "high": "<f4", "predicted": "u1", "support": "u1"}
MOST_CLASSES = 12  # a target with more classes has too large tables


def make_report(
    selection: Selection,
    title: str | None = None,
    *,
    size: int | None = None,
    k: int | None = None,
    costs: Mapping[str, float] | None = None,
    validate: bool = True,
    spell: Spelling = str,
) -> Report:
    """Ask a selection everything that the report shows."""
    # `spell` says how parameters are spelled in advice: in Python's words by default.
    size = selection.size if size is None else size
    k = selection.k if k is None else k
    cohorts, features = selection.cohorts, selection.feature_names
    measure, confidence = selection.set_scores.measure, selection.confidence
    with progress_shown(selection.verbose > 0):
        screen = first_screen(selection, size, costs)
        scores, sizes = _scores_held(selection, size)
        predicted = any(completed.predicted.any() for completed in scores.values())
        trust = _trust(selection, predicted, size, k, validate)
        stability = stability_of(selection, size, k) if screen.effort.resampled else None
        weights = np.add.reduceat(cohorts.weights, cohorts.offsets[:-1])
        largest = np.argsort(-weights, kind="stable")[:MOST_EXPLAINED]
        explained = {cohorts.names[number] for number in largest}
        subgroups = _subgroups(selection, screen, size, k, explained, stability)
        told = [one.features if one.subgroup in explained else () for one in screen.subgroups]
        cells = cells_that_fit(selection, told)
        worths = feature_worths(selection, size=size, costs=costs)
        worths = sorted(worths, key=lambda one: -one.gain_per_cost)
    left_out = _left_out(selection, screen)
    of_rows = dict(zip(cohorts.features, cohorts.recorded_shares().T, strict=True))
    shares = np.array([of_rows.get(name, np.ones(len(cohorts))) for name in features]).T
    contents: dict[str, Any] = _plain(
        {
            "format": FORMAT,
            "misfeat": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "title": f"What explains {cohorts.target} best" if title is None else str(title),
            "target": {"column": cohorts.target, "classes": list(cohorts.with_cells().classes)},
            "estimate": selection.set_scores.estimate.name,
            "measure": measure.name,
            "unit": measure.unit,
            "size": screen.size,
            "k": k,
            "permutations": screen.effort.permutations,
            "confidence": confidence,
            "settings": dict(selection.options.settings),
            "features": list(features),
            "answer": screen.sentence,
            "cautions": [_attributes(one, "severity", "kind", "words") for one in screen.cautions],
            "collecting": list(screen.recording),
            "plan": [vars(step) for step in screen.plan],
            "left_out": left_out,
            "subgroups": subgroups,
            "map": vars(screen.map),
            "worth_collecting": [vars(one) for one in worths],
            # The share of a subgroup's rows that hold each feature, where it was ever recorded.
            "recorded": np.where(selection.missing, nan, shares),
            "trust": trust,
            # Cohort after cohort, sets by their rank.
            "lattice": {
                "levels": [
                    {"size": m} | {name: _packed(scores[m], name) for name in PACKED} for m in sizes
                ]
            },
            "levels": [list(values) for values in cohorts.categories],
            # How many deviations an interval reaches to either side.
            "z": None if confidence is None else NormalDist().inv_cdf((1 + confidence) / 2),
            "in_python": spell is str,
            "columns": [_attributes(audit, *COLUMN_NOTES) for audit in cohorts.columns],
            "notes": list(cohorts.notes),
        },
        spell,
    )
    return Report(contents, _sentences(screen, left_out, spell), cells)


def _scores_held(selection: Selection, size: int) -> tuple[dict[int, CompletedScores], list[int]]:
    """Scores of the sizes that are asked about, and the sizes of which the page holds all."""
    # Of sets of one feature more than `size` the explorer holds all where they are few.
    n_features = len(selection.feature_names)
    n_sets = [comb(n_features, m) * len(selection.cohorts) for m in range(1, size + 2)]
    if size == n_features or n_sets[-1] > MOST_LARGER:
        del n_sets[-1]
    totals = enumerate(accumulate(n_sets), start=1)
    sizes = [m for m, total in totals if total <= MOST_SCORES]
    held = {1, size, *sizes}
    if selection.set_scores.rows_withheld:
        held.discard(selection.size + 1)  # no rows are kept to score it
    return {m: selection.completed(m) for m in sorted(held)}, [m for m in sizes if m in held]


def _sentences(
    screen: FirstScreen, left_out: Sequence[Message], spell: Spelling
) -> dict[str, Markup | list[Markup]]:
    """What the page says in words, marked up."""
    return {
        "whole": as_html(screen.sentence, spell),
        "answers": [as_html(one.words, spell) for one in screen.subgroups],
        "models": [as_html(one.model_words or Message(""), spell) for one in screen.subgroups],
        "collecting": [as_html(one, spell) for one in screen.recording],
        "overturning": [as_html(one.words, spell, "part") for one in screen.overturning],
        "cautions": [as_html(one.words, spell, "part") for one in screen.other_cautions],
        "left_out": [as_html(one, spell) for one in left_out],
    }


def _trust(
    selection: Selection, predicted: bool, size: int, k: int, validate: bool
) -> dict[str, Any]:
    """How far answers can be trusted, from leaving parts of the table out."""
    unchecked = ""
    if not predicted and not selection.set_scores.measure.above_chance:
        unchecked = "Every subgroup recorded every feature: nothing was predicted."
    elif selection.set_scores.rows_withheld:
        unchecked = "This was not checked: no rows are at hand that could be left out."
    elif not validate:
        unchecked = "This was not checked: the report was made without validation."
    if unchecked:
        return {"sentence": unchecked, "rows": []}
    rows = [dict(vars(one)) for one in validation_of(selection, size, k)]
    for row in rows:
        row["subgroup"] = selection.cohorts.names[row.pop("cohort")]
    return {"sentence": selection.validation or "", "rows": rows}


def _subgroups(
    selection: Selection,
    screen: FirstScreen,
    size: int,
    k: int,
    explained: set[str],
    stability: Stability | None,
) -> list[dict[str, Any]]:
    """What the page of every subgroup shows, in the table's order."""
    measure = selection.set_scores.measure
    best: dict[str, list[ScoredSet]] = {name: [] for name in selection.cohorts.names}
    for scored in best_sets(selection, size, k):
        best[scored.subgroup].append(scored)
    values: dict[str, list[Any]] = {name: [] for name in best}
    if selection.completed(size).score.size <= MOST_VALUED:
        for value in feature_values(selection, size=size):
            values[value.subgroup].append(value)
    chosen = {
        one.subgroup: one.features or (best[one.subgroup][0].features if best[one.subgroup] else ())
        for one in screen.subgroups
        if one.subgroup in explained
    }
    sets = [one for one in chosen.items() if 0 < len(one[1]) <= measure.largest_table]
    why = {one.subgroup: one for one in explanations(selection, sets)} if sets else {}
    subgroups = []
    rows = zip(subgroup_rows(selection.cohorts), screen.subgroups, strict=True)
    for number, (row, answer) in enumerate(rows):
        name = row["subgroup"]
        members = chosen.get(name, ())
        chances = _chance(selection, best[name])
        alternatives = alternative_sets(selection, name, members, k) if members else []
        parts = shapley_values(selection, name, members) if members else {}
        missing = zip(selection.feature_names, selection.missing[number], strict=True)
        page: dict[str, Any] = {
            **{key: row[key] for key in ("subgroup", "rows", "target_entropy")},
            "whole": measure.whole[number],
            "missing": [feature for feature, lacking in missing if lacking],
            **_attributes(answer, "verdict", "sentence", "words", "reason", "model_sentence"),
            "models": [_attributes(one, *MODEL_COLUMNS) for one in answer.models],
            "answer": _attributes(answer, "features", "share", "low", "high", "p_value"),
            "best_sets": [
                vars(scored) | {"chance": chance}
                for scored, chance in zip(best[name], chances, strict=True)
            ],
            "enough": _sizes(screen.enough.get(name), answer),
            "features": [
                vars(value) | {"part_of_answer": parts.get(value.feature)} for value in values[name]
            ],
            "why": None,
            "alternatives": [vars(one) for one in alternatives],
            "stability": stability and _resamples(stability, name),
            "curves": None,
        }
        if name in why:
            cells = [asdict(cell) | {"contribution": cell.contribution} for cell in why[name].cells]
            page["why"] = _attributes(why[name], "features", "predicted")
            page["why"] |= {"sentences": why[name].sentences(), "cells": cells}
            if selection.cohorts.horizons and not why[name].predicted:
                times, curves = event_free_curves(selection, why[name])
                page["curves"] = {"times": times, "lines": [one._asdict() for one in curves]}
        subgroups.append(page)
    return subgroups


def _sizes(enough: Enough | None, answer: SubgroupAnswer) -> dict[str, Any] | None:
    """The best set of every size up to the one that is enough, and the next."""
    if enough is None:
        return None
    return {
        "size": enough.size,
        "answer": 0 if answer.verdict == NO_EVIDENCE else len(answer.features),
        "reason": answer.reason,
        **_attributes(enough, "settled", "level", "permutations"),
        # Beyond the next size nothing was tested.
        "steps": [vars(step) for step in enough.steps[: enough.size + 1]],
    }


def _resamples(stability: Stability, subgroup: str) -> dict[str, Any] | None:
    """How often resamples of a subgroup's rows chose its sets and features."""
    found = next((one for one in stability.subgroups if one.subgroup == subgroup), None)
    if found is None:
        return None
    return {
        "resamples": stability.resamples,
        **_attributes(found, "index", "low", "high"),
        "sets": [vars(one) for one in stability.sets if one.subgroup == subgroup],
        "features": {
            one.feature: _attributes(one, "in_best", "in_top_k")
            for one in stability.features
            if one.subgroup == subgroup
        },
    }


def _chance(selection: Selection, best: Sequence[ScoredSet]) -> list[float]:
    """What chance alone would give sets in the rows at hand; NaN where that is not known."""
    measure = selection.set_scores.measure
    if not best or not measure.above_chance:
        return [nan] * len(best)
    subsets = [set_members(selection, one.features) for one in best]
    cohort = selection.cohorts.position(best[0].subgroup)
    above = selection.remembered(
        ("above chance", cohort, tuple(map(tuple, subsets))),
        lambda: measure.of_subsets(cohort, np.array(subsets), selection.set_scores.n_jobs).tolist(),
    )
    observed = [nan if one.observed is None else one.observed for one in best]
    return [max(plug_in - real, 0.0) for plug_in, real in zip(observed, above, strict=True)]


def _left_out(selection: Selection, screen: FirstScreen) -> list[Message]:
    """What was not asked, since it takes long, and how to ask it."""
    effort = screen.effort
    if selection.set_scores.rows_withheld:
        return [Message("No rows are kept, so that nothing was tested against chance.")]
    skipped = []
    if effort.tested < screen.size:
        what = "none was tested against chance"
        if effort.tested:
            what = f"the test of all takes those of up to {effort.tested}"
        skipped.append((f"There are so many sets that {what}", "significance"))
    if not effort.resampled:
        skipped.append(("Stability was not looked at for so many rows or sets", "stability"))
    if len(selection.cohorts) > MOST_EXPLAINED:
        what = f"Only the {MOST_EXPLAINED} largest subgroups have their answers explained"
        skipped.append((what, "why"))
    if selection.completed(screen.size).score.size > MOST_VALUED:
        skipped.append(("What each feature adds was not worked out for so many sets", "features"))
    return [
        Message(f"{what}; `selection.{question}()` or `misfeat ask DIR {question}` does it.")
        for what, question in skipped
    ]


def _packed(scores: CompletedScores, name: str) -> str:
    return base64.b64encode(getattr(scores, name).astype(PACKED[name]).tobytes()).decode("ascii")


def cells_that_fit(selection: Selection, answers: Sequence[Sequence[str]]) -> Cells:
    """Rows by cell and class of all answers, and of single features and pairs where they fit."""
    most, n_features = selection.set_scores.measure.largest_table, len(selection.feature_names)
    if not most or len(selection.cohorts.classes) > MOST_CLASSES:
        return {}
    wanted = [
        (cohort, tuple(set_members(selection, answer)))
        for cohort, answer in enumerate(answers)
        if 0 < len(answer) <= most
    ]
    cohorts, tables = range(len(selection.cohorts)), 0
    for size in (1, 2):
        tables += comb(n_features, size) * len(cohorts)
        if tables <= MOST_TABLES:
            wanted += product(cohorts, combinations(range(n_features), size))
    return cell_counts(selection, wanted)


def _attributes(one: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(one, name) for name in names}


def _plain(value: Any, spell: Spelling) -> Any:
    """The same with Python's own numbers and lists, and None for what is not finite."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {_plain(str(key), spell): _plain(part, spell) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, spell) for part in value]
    if isinstance(value, Message):
        value = value.told(spell)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")  # halves of characters
    return None if isinstance(value, float) and not math.isfinite(value) else value
