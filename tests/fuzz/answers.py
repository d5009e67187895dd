"""Every question that a selection answers, and what holds of its answer whatever the table."""

from __future__ import annotations

import io
import json
import math
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st
from openpyxl import load_workbook

from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.feature_contributions import feature_values, pair_interactions
from misfeat.answers.number_of_features import enough_features
from misfeat.answers.recording_gains import feature_worths
from misfeat.answers.selection_base import level_size
from misfeat.answers.set_cells import explanation
from misfeat.answers.stability import stability_of
from misfeat.answers.subgroup_significance import significance_tests
from misfeat.answers.top_sets import alternative_sets, best_sets
from misfeat.answers.validation import validation_of
from misfeat.lattice.levels import ranks_below
from misfeat.show.answer_with_map import first_screen
from misfeat.show.question_output import json_lines
from misfeat.show.terminal import worth_lines
from tests.fuzz.libraries import in_library
from tests.fuzz.promises import (
    ALL,
    ROUNDING,
    BrokenPromiseError,
    check_same,
    check_sets,
    hold,
    sets_of,
)
from tests.fuzz.tables import TARGET

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.machine import Selecting

_sizes = st.sampled_from((None, None, None, None, 1, 1, 2, 2, 3, 0, 9, "2"))
_ks = st.sampled_from((None, None, None, 1, 2, 3, 9, 50, 1, 3, 0, -1, 2.5))
_costs = st.sampled_from((None, None, None, {}, {"a": 2.0}, {"a": -1}, {"nobody": 1}, 3))


def _with_classes(selector: Any) -> list[str]:
    """The subgroups in which there is something to tell."""
    return [one.name for one in selector.cohorts_ if len(np.unique(one.target)) > 1]


def top_k(machine: Selecting, selector: Any, draw: Any) -> None:
    """Asked twice, the same; records and frames have one score; all sets in their order."""
    names = (None, None, None, *selector.cohorts_.names, "nobody", 3)
    asked = {"size": draw(_sizes), "k": draw(_ks), "subgroup": draw(st.sampled_from(names))}
    frame = selector.top_k(**asked)
    hold(frame.equals(selector.top_k(**asked)), "asked again, the same")
    best = best_sets(selector.selection_, **asked)
    hold(frame["score"].tolist() == [one.score for one in best], "one score", asked)


def scores(machine: Selecting, selector: Any, draw: Any) -> None:
    """What is listed is among all sets, in their order; nothing where nothing can be told."""
    size = draw(_sizes)
    found = check_sets(selector, size)
    hold(len(selector.scores(size=size)) == len(found), "every set", size)
    by_set = {(one.subgroup, one.features): one.score for one in found}
    listed = best_sets(selector.selection_, size=size, k=ALL)
    for one in listed:
        hold(by_set[one.subgroup, one.features] == one.score, "one score", one)
    told = _with_classes(selector)
    for name in selector.cohorts_.names:
        ranks = [one.rank for one in listed if one.subgroup == name]
        hold(ranks == sorted(set(ranks)) and ranks[:1] in ([], [1]), "ranks in order", name, ranks)
        hold((name in told) == bool(ranks) or not by_set, "sets where there are classes", name)


def closure(machine: Selecting, selector: Any, draw: Any) -> None:
    """No set of a size scores below a part of it."""
    found, size = selector.selection_, draw(st.sampled_from((2, 2, 3)))
    if not found.set_scores.estimate.above_chance and not found.set_scores.measure.closed:
        return
    scores, larger = found.set_scores, found.completed(size)
    smaller, parts = found.completed(size - 1), ranks_below(larger.subsets)
    if scores.is_searched(size):  # no lower than a single feature
        smaller, parts = scores.scored(np.arange(len(found.feature_names))[:, None]), larger.subsets
    for part in parts.T:
        below = larger.score < smaller.score[:, part] - ROUNDING
        hold(not below.any(), "closure", np.argwhere(below).tolist())


def score_of(machine: Selecting, selector: Any, draw: Any) -> None:
    """One score, in whatever order features are named."""
    one = draw(st.sampled_from(machine.answers))
    score = selector.score_of(one.subgroup, list(draw(st.permutations(one.features))))
    hold(score == one.score, "one score", one, score)


def worth_collecting(machine: Selecting, selector: Any, draw: Any) -> None:
    """Gains are finite and within their intervals, probabilities are some."""
    asked = {"size": draw(_sizes), "costs": draw(_costs)}
    worths: list[Any] = feature_worths(selector.selection_, **asked)
    for one in worths:
        hold(all(map(math.isfinite, (one.gain, one.low, one.high, one.before))), "finite", one)
        hold(0 <= one.low <= one.gain <= one.high, "low <= gain <= high", one)
        for chance in (one.probability, one.probability_of_a_tenth):
            hold(chance is None or 0 <= chance <= 1, "a probability", one)
    hold(len(selector.worth_collecting(**asked)) == len(worths), "every worth", asked)


def features(machine: Selecting, selector: Any, draw: Any) -> None:
    """Every feature of every subgroup has intervals; shares of the best set add up to its score."""
    size = draw(_sizes)
    values: list[Any] = feature_values(selector.selection_, size=size)
    hold(len(selector.features(size=size)) == len(values), "every feature", size)
    n_features = len(selector.selection_.feature_names)
    hold(len(values) == len(_with_classes(selector)) * n_features, "subgroups with classes")
    size = level_size(selector.selection_, size)
    best = {one.subgroup: one for one in best_sets(selector.selection_, size=size, k=1)}
    shares = dict.fromkeys(best, 0.0)
    for one in values:
        for name in ("alone", "adds", "share_of_best", "mean_share"):
            value, low, high = (getattr(one, f"{name}{end}") for end in ("", "_low", "_high"))
            known = math.isfinite(value) or name == "adds"
            hold(known and not (low > value or value > high), "low <= value <= high", name, one)
        hold(0 <= one.in_best <= 1, "a share", one)
        shares[one.subgroup] += one.share_of_best
    for name, total in shares.items():
        hold(abs(total - best[name].score) <= ROUNDING, "shares add up", name, total, best[name])


def alternatives(machine: Selecting, selector: Any, draw: Any) -> None:
    """Alternatives have the size of a set, differ from it, and may score the same."""
    one, k = draw(st.sampled_from(machine.answers)), draw(_ks)
    found: list[Any] = alternative_sets(selector.selection_, one.subgroup, one.features, k)
    for other in found:
        swapped = (set(one.features) - set(other.given_up)) | set(other.taken)
        hold(set(other.features) == swapped != set(one.features), "the swap leads there", other)
        hold(abs(other.difference - (other.score - one.score)) <= ROUNDING, "difference", other)
        low, high = other.difference_low, other.difference_high
        hold(low <= ROUNDING and high >= -ROUNDING, "may be nothing", other)
    swaps = [other.swaps for other in found]
    hold(swaps == sorted(swaps), "fewest swaps first", swaps)
    frame = selector.alternatives(one.subgroup, one.features, k)
    hold(frame["words"].tolist() == [other.words for other in found], "every swap", one)


def interactions(machine: Selecting, selector: Any, draw: Any) -> None:
    """Every pair of every subgroup with classes once, what is said of it as its interval says."""
    pairs: list[Any] = pair_interactions(selector.selection_)
    n_pairs = math.comb(len(selector.selection_.feature_names), 2)
    hold(len(pairs) == len(_with_classes(selector)) * n_pairs, "every pair")
    hold(len(selector.interactions()) == len(pairs), "every pair")
    for one in pairs:
        hold(one.low <= one.interaction <= one.high, "low <= interaction <= high", one)
        hold(abs(one.together - one.alone - one.interaction) <= ROUNDING, "interaction", one)
        said = "synergy" if one.low > 0 else "redundancy" if one.high < 0 else "unclear"
        hold(one.kind == said, "as its interval says", one)


def distinct(machine: Selecting, selector: Any, draw: Any) -> None:
    """Distinct sets are some of all, at their ranks, the best one first."""
    size, k = draw(_sizes), draw(_ks)
    shown = best_sets(selector.selection_, size=size, k=k, distinct=True)
    every = {(one.subgroup, one.rank): one for one in sets_of(selector, size)}
    for one in shown:
        same = every[one.subgroup, one.rank]
        one = replace(one, p_value=None, observed=same.observed)  # which may differ by rounding
        hold(one == same, "the set of that rank", one)
    firsts = [one for one in shown if one.rank == 1]
    hold(len(firsts) == len(_with_classes(selector)), "the best of every subgroup", firsts)


def significance(machine: Selecting, selector: Any, draw: Any) -> None:
    """P-values are some, the adjusted ones no smaller; recorded sets have one, others none."""
    size, level = draw(_sizes), draw(st.sampled_from((0.05, 0.5, 0, "x")))
    found = significance_tests(selector.selection_, size, permutations=19, level=level)
    hold(len(found.subgroups) == len(selector.cohorts_), "every subgroup", found.subgroups)
    for one in found.subgroups:
        told = one.sets > 0
        hold(told != math.isnan(one.p_value), "a p-value where there are sets", one)
        hold(not told or 0 < one.p_value <= one.adjusted <= 1, "p-values", one)
    again = significance_tests(selector.selection_, size, permutations=19, level=level)
    hold(again is found, "asked again, the same")
    selector.significance(size, permutations=19, level=level)
    for one in best_sets(selector.selection_, size=size, k=ALL):
        missing = one.p_value is None
        hold(missing == bool(one.missing) or not missing, "a p-value of a recorded set", one)
        hold(missing or 0 < one.p_value <= 1, "a p-value", one)


def enough(machine: Selecting, selector: Any, draw: Any) -> None:
    """Sizes follow each other, scores are within intervals, every subgroup has a sentence."""
    for one in enough_features(
        selector.selection_, size=draw(st.sampled_from((None, 1, 2, 99))), permutations=19
    ):
        sizes = [step.size for step in one.steps]
        hold(sizes == list(range(1, len(sizes) + 1)), "every size", one)
        hold(one.size in (0, *sizes), "one of the sizes", one)
        hold(all(step.low <= step.score <= step.high for step in one.steps), "intervals", one)
    for answer in selector.answer():
        hold(bool(answer.sentence) and answer.sentence in str(answer), "a sentence", answer)
        hold(set(answer.features) <= set(selector.selection_.feature_names), "features", answer)
        models = answer.models
        hold(all(one.low <= one.value <= one.high <= 1 for one in models), "models", answer)


def stability(machine: Selecting, selector: Any, draw: Any) -> None:
    """Frequencies are shares, and quartiles of ranks are in order."""
    if machine.is_slow:
        return
    found = stability_of(selector.selection_, resamples=draw(st.sampled_from((2, 3))))
    for one in found.sets:
        hold(0 <= one.frequency <= 1, "a share", one)
        hold(1 <= one.rank_low <= one.rank_median <= one.rank_high, "quartiles of ranks", one)
    hold(all(map(bool, found.sentences())), "in a sentence")


def validate(machine: Selecting, selector: Any, draw: Any) -> None:
    """Figures are shares, and there is a sentence."""
    if machine.is_slow:
        return
    for one in validation_of(selector.selection_, rounds=1):
        shares = [s for s in (one.captured, one.coverage) if s is not None and s == s]
        hold(all(0 <= share <= 1 for share in shares), "a share", one)
    hold(bool(selector.validation_), "in a sentence")


def why(machine: Selecting, selector: Any, draw: Any) -> None:
    """Shares of a cell add up to 1, and what cells add to the score of the rows.

    The cells of a numeric target are those of its first grid, its score is the mean over grids.
    """
    one = draw(st.sampled_from(machine.answers))
    found = explanation(selector.selection_, one.subgroup, one.features)
    for cell in found.cells:
        hold(abs(sum(share.share for share in cell.shares) - 1) <= ROUNDING, "shares", cell)
    if one.observed is not None and found.cells and not selector.cohorts_.is_number:
        total = sum(cell.contribution for cell in found.cells)
        hold(abs(total - one.observed) <= ROUNDING, "contributions add up", one, total)


def again(machine: Selecting, selector: Any, draw: Any) -> None:
    """Asked later, the same."""
    check_same(machine.answers, sets_of(selector), "asked later, the same")


def transform(machine: Selecting, selector: Any, draw: Any) -> None:
    """The columns that are kept are those that are named."""
    library = draw(st.sampled_from(("mapping", "pandas")))
    kept = list(selector.transform(in_library(machine.drawn, library, machine.folder)))
    names = selector.get_feature_names_out().tolist()
    hold(kept == names, "the columns that it names", kept, names)


def shown(machine: Selecting, selector: Any, draw: Any) -> None:
    """Something is shown, in a terminal and in notebooks, and cautions say something."""
    with redirect_stdout(io.StringIO()):
        selector.show(size=draw(_sizes), k=draw(_ks))
    hold(all(one.words for one in list_cautions(selector.selection_)), "cautions say something")
    hold(len(selector.subgroups_) == len(selector.cohorts_), "every subgroup")
    hold(bool(repr(selector) and selector._repr_html_()), "shown in notebooks")


def as_json(machine: Selecting, selector: Any, draw: Any) -> None:
    """JSON without what JSON has not."""
    found = selector.selection_
    for line in json_lines(found, worth_lines(found), first_screen(found)):
        json.loads(line, parse_constant=_refuse)


def report(machine: Selecting, selector: Any, draw: Any) -> None:
    """A page, and its data."""
    page = selector.report(validate=False)
    json.loads(page.json(), parse_constant=_refuse)
    hold(TARGET in page.html(), "a page")


def export(machine: Selecting, selector: Any, draw: Any) -> None:
    """A sheet a question, and no formula."""
    asked = ["subgroups", "top", "worth", "why", "alternatives", "cautions", "columns"]
    selector.export(machine.folder / "answers.xlsx", asked)
    book = load_workbook(machine.folder / "answers.xlsx")
    hold(len(book.sheetnames) == len(asked) + 2, "a sheet a question")
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    hold(not [cell for cell in cells if cell.data_type in "fe"], "no formulas")


def _refuse(constant: str) -> None:
    raise BrokenPromiseError(f"JSON has no {constant}")


QUESTIONS: tuple[Callable[[Selecting, Any, Any], None], ...] = (
    *(top_k, scores, closure, score_of, worth_collecting, again, transform) * 3,
    *(features, alternatives, interactions, distinct, significance, enough, why) * 2,
    *(shown, as_json) * 2,
    *(report, export, validate, stability),
)
"""What one can ask; the slower, the rarer."""
