"""What holds of every answer, whatever was asked of whatever table."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.alternatives import alternative_sets
from misfeat.answers.collecting import feature_worths
from misfeat.answers.enough import enough_features
from misfeat.answers.features import feature_values
from misfeat.answers.interactions import pair_interactions
from misfeat.answers.significance import significance_tests
from misfeat.answers.stability import stability_of
from misfeat.answers.top import best_sets
from misfeat.answers.why import explanation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat import SubgroupSelector
    from misfeat.answers.top import ScoredSet

ALL = 10**6
"""More sets than any drawn table has."""
ROUNDING = 1e-9
"""Scores (nats) that were summed in another order may differ by so much."""


class BrokenPromiseError(AssertionError):
    """An answer that may not be."""


def hold(condition: bool, what: str, *about: object) -> None:
    """Raise unless a promise was kept."""
    if not condition:
        raise BrokenPromiseError(f"{what}: {', '.join(map(repr, about))}")


def sets_of(selector: SubgroupSelector, size: int | None = None) -> list[ScoredSet]:
    """Every set of a size, best first, also those that `best_sets` does not list."""
    from misfeat.answers.options import shown_scores
    from misfeat.answers.top import scored_sets

    found = selector.selection_
    names = found.cohorts.names
    return scored_sets(found.cohorts, found.set_scores, shown_scores(found, size), names, ALL)


def _with_classes(selector: SubgroupSelector) -> list[str]:
    """The subgroups in which there is something to tell."""
    return [one.name for one in selector.cohorts_ if len(np.unique(one.target)) > 1]


def check_listed(selector: SubgroupSelector, size: int | None = None) -> None:
    """What is listed is among all sets, in their order; nothing where nothing can be told."""
    scores = {(one.subgroup, one.features): one.score for one in sets_of(selector, size)}
    listed = best_sets(selector.selection_, size=size, k=ALL)
    for one in listed:
        hold(scores[one.subgroup, one.features] == one.score, "one score", one)
    for name in selector.cohorts_.names:
        ranks = [one.rank for one in listed if one.subgroup == name]
        hold(ranks == sorted(set(ranks)) and ranks[:1] in ([], [1]), "ranks in order", name, ranks)
        one_class = len(np.unique(selector.cohorts_[name].target)) == 1
        hold(one_class != bool(ranks) or not scores, "sets where there are classes", name)


def check_sets(selector: SubgroupSelector, size: int | None = None) -> list[ScoredSet]:
    """Scores are finite, within what there is to tell, and within their intervals."""
    measure, names = selector.selection_.set_scores.measure, selector.cohorts_.names
    most = dict(zip(names, measure.ceiling.tolist(), strict=True))
    sets = sets_of(selector, size)
    for one in sets:
        highest = most[one.subgroup]
        hold(all(map(math.isfinite, (one.score, one.low, one.high, one.share))), "finite", one)
        hold(0 <= one.score <= highest, "0 <= score <= entropy", one, highest)
        hold(0 <= one.low <= one.score <= one.high <= highest, "low <= score <= high", one, highest)
        if one.observed is not None:
            hold(0 <= one.observed <= highest, "0 <= observed <= entropy", one, highest)
    for better, worse in pairwise(sets):
        ranked = better.subgroup != worse.subgroup or better.score >= worse.score - ROUNDING
        hold(ranked, "best first", better, worse)
    return sets


def check_closure(selector: SubgroupSelector, size: int) -> None:
    """No set of a size scores below a part of it."""
    book = selector.selection_.set_scores
    if not book.estimate.above_chance and not book.measure.closed:
        return
    smaller = {(one.subgroup, one.features): one.score for one in _all_sets(selector, size - 1)}
    for one in _all_sets(selector, size):
        for left_out in one.features:
            part = tuple(name for name in one.features if name != left_out)
            below = smaller[one.subgroup, part]
            hold(one.score >= below - ROUNDING, "closure", one, part, below)


def _all_sets(selector: SubgroupSelector, size: int) -> list[Any]:
    """Every set, also where only those that hold some feature are shown."""
    from misfeat.answers.top import scored_sets

    found = selector.selection_
    return scored_sets(found.cohorts, found.set_scores, found.completed(size), found.cohorts.names)


def check_worths(selector: SubgroupSelector, **asked: Any) -> list[Any]:
    """Gains are finite and within their intervals, probabilities are some."""
    worths: list[Any] = feature_worths(selector.selection_, **asked)
    for one in worths:
        hold(all(map(math.isfinite, (one.gain, one.low, one.high, one.before))), "finite", one)
        hold(0 <= one.low <= one.gain <= one.high, "low <= gain <= high", one)
        for chance in (one.probability, one.probability_of_a_tenth):
            hold(chance is None or 0 <= chance <= 1, "a probability", one)
    return worths


def check_significance(selector: SubgroupSelector, size: int | None, level: Any) -> None:
    """P-values are some, the adjusted ones no smaller; recorded sets have one, others none."""
    found = significance_tests(selector.selection_, size, permutations=19, level=level)
    hold(len(found.subgroups) == len(selector.cohorts_), "every subgroup", found.subgroups)
    for one in found.subgroups:
        told = one.sets > 0
        hold(told != math.isnan(one.p_value), "a p-value where there are sets", one)
        hold(not told or 0 < one.p_value <= one.adjusted <= 1, "p-values", one)
    again = significance_tests(selector.selection_, size, permutations=19, level=level)
    hold(again is found, "asked again, the same")
    for one in best_sets(selector.selection_, size=size, k=ALL):
        missing = one.p_value is None
        hold(missing == bool(one.missing) or not missing, "a p-value of a recorded set", one)
        hold(missing or 0 < one.p_value <= 1, "a p-value", one)  # type: ignore[operator]


def check_enough(selector: SubgroupSelector, size: int | None) -> None:
    """Sizes follow each other, scores do not fall, and every subgroup has a sentence."""
    for one in enough_features(selector.selection_, size=size, permutations=19):
        sizes = [step.size for step in one.steps]
        hold(sizes == list(range(1, len(sizes) + 1)), "every size", one)
        hold(one.size in (0, *sizes) and bool(one.sentence), "one of the sizes", one)
        hold(all(step.low <= step.score <= step.high for step in one.steps), "intervals", one)


def check_stability(selector: SubgroupSelector, resamples: int) -> None:
    """Frequencies are shares, and quartiles of ranks are in order."""
    found = stability_of(selector.selection_, resamples=resamples)
    for one in found.sets:
        hold(0 <= one.frequency <= 1, "a share", one)
        hold(1 <= one.rank_low <= one.rank_median <= one.rank_high, "quartiles of ranks", one)
    hold(all(map(bool, found.sentences())), "in a sentence")


def check_why(selector: SubgroupSelector, one: ScoredSet) -> None:
    """Shares of a cell add up to 1, and what cells add to the score of the rows."""
    found = explanation(selector.selection_, one.subgroup, one.features)
    for cell in found.cells:
        hold(abs(sum(share.share for share in cell.shares) - 1) <= ROUNDING, "shares", cell)
    if one.observed is not None and found.cells:
        total = sum(cell.contribution for cell in found.cells)
        hold(abs(total - one.observed) <= ROUNDING, "contributions add up", one, total)


def check_features(selector: SubgroupSelector, size: int | None) -> list[Any]:
    """Every feature of every subgroup has intervals; shares of the best set add up to its score."""
    values: list[Any] = feature_values(selector.selection_, size=size)
    told = _with_classes(selector)
    hold(
        len(values) == len(told) * len(selector.selection_.feature_names),
        "every feature of every subgroup with classes",
    )
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
    return values


def check_alternatives(selector: SubgroupSelector, one: ScoredSet, k: int | None) -> list[Any]:
    """Alternatives have the size of a set, differ from it, and may score the same."""
    found: list[Any] = alternative_sets(selector.selection_, one.subgroup, one.features, k)
    for other in found:
        swapped = (set(one.features) - set(other.given_up)) | set(other.taken)
        hold(set(other.features) == swapped != set(one.features), "the swap leads there", other)
        hold(abs(other.difference - (other.score - one.score)) <= ROUNDING, "difference", other)
        low, high = other.difference_low, other.difference_high
        hold(low <= ROUNDING and high >= -ROUNDING, "may be nothing", other)
    swaps = [other.swaps for other in found]
    hold(swaps == sorted(swaps), "fewest swaps first", swaps)
    return found


def check_interactions(selector: SubgroupSelector) -> list[Any]:
    """Every pair of every subgroup with classes once, what is said of it as its interval says."""
    pairs: list[Any] = pair_interactions(selector.selection_)
    n_features = len(selector.selection_.feature_names)
    hold(len(pairs) == len(_with_classes(selector)) * math.comb(n_features, 2), "every pair")
    for one in pairs:
        hold(one.low <= one.interaction <= one.high, "low <= interaction <= high", one)
        hold(abs(one.together - one.alone - one.interaction) <= ROUNDING, "interaction", one)
        said = "synergy" if one.low > 0 else "redundancy" if one.high < 0 else "unclear"
        hold(one.kind == said, "as its interval says", one)
    return pairs


def check_distinct(selector: SubgroupSelector, size: int | None, k: int | None) -> None:
    """Distinct sets are some of all, at their ranks, the best one first."""
    shown = best_sets(selector.selection_, size=size, k=k, distinct=True)
    every = {(one.subgroup, one.rank): one for one in sets_of(selector, size)}
    for one in shown:
        own = replace(one, p_value=None)
        hold(every[one.subgroup, one.rank] == own, "the set of that rank", one)
    firsts = [one for one in shown if one.rank == 1]
    told = _with_classes(selector)
    hold(len(firsts) == len(told), "the best of every subgroup with classes", firsts)


def check_subgroups(selector: SubgroupSelector) -> None:
    """Entropies are none below 0, and no row is counted twice."""
    for cohort in selector.cohorts_:
        hold(cohort.size > 0, "a subgroup has rows", cohort.name)
    whole = selector.selection_.set_scores.measure.whole
    hold(bool(np.isfinite(whole).all() and (whole >= 0).all()), "entropy >= 0", whole.tolist())


def check_same(first: Sequence[ScoredSet], second: Sequence[ScoredSet], what: str) -> None:
    """Two answers are the same to the last bit."""
    for one, other in zip(first, second, strict=False):
        hold(one == other, what, one, other)
    hold(len(first) == len(second), what, len(first), len(second))


def check_alike(first: Sequence[ScoredSet], second: Sequence[ScoredSet], what: str) -> None:
    """Two answers are the same but for rounding and the order of columns."""
    others = {(one.subgroup, frozenset(one.features)): one for one in second}
    hold(len(first) == len(second), what, len(first), len(second))
    for one in first:
        other = others[one.subgroup, frozenset(one.features)]
        pairs = ((getattr(one, n), getattr(other, n)) for n in ("score", "low", "high"))
        close = all(abs(a - b) <= ROUNDING for a, b in pairs)
        hold(close and one.source == other.source, what, one, other)


def check_observed(first: Sequence[ScoredSet], second: Sequence[ScoredSet]) -> None:
    """What the rows score is the same but for rounding, in any order of columns."""
    others = {(one.subgroup, frozenset(one.features)): one for one in second}
    hold(len(first) == len(second), "every set", len(first), len(second))
    for one in first:
        other = others[one.subgroup, frozenset(one.features)]
        hold(one.source == other.source, "one source", one, other)
        hold((one.observed is None) == (other.observed is None), "observed in both", one, other)
        if one.observed is not None and other.observed is not None:
            hold(abs(one.observed - other.observed) <= ROUNDING, "observed", one, other)
