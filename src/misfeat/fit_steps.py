"""The steps of fit, from a table to a selection."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from misfeat.answers.caution import SUSPECTS
from misfeat.answers.leaks import without_suspects
from misfeat.answers.number_of_features import MOST_OF_SHORTLIST, chosen_size
from misfeat.answers.selection_base import FitOptions, check_features, shown_scores
from misfeat.cohorts import Cohorts
from misfeat.cohorts.cohort_building import CohortRules, cohorts_of
from misfeat.cohorts.feature_blocks import check_blocks, joined_blocks
from misfeat.cohorts.feature_removal import check_names, product_sums_without, without_features
from misfeat.cohorts.product_sums import ProductSums, cohorts_and_product_sums
from misfeat.cohorts.subgroups import parse_groups
from misfeat.cohorts.weights import WeightRules
from misfeat.completion.registry import completer_of, confidence_of
from misfeat.estimation.score_estimate import SAMPLE, Estimate
from misfeat.estimation.set_scores import SetScores
from misfeat.estimation.shortlist import Shortlist, features_that_fit, shortlist
from misfeat.exceptions import MisfeatError, no_such_column, warn
from misfeat.information.measures import Measure, SquaredCorrelation, information_of
from misfeat.messages import Setting
from misfeat.nested_parameters import NestedParameters
from misfeat.reading.inputs import Table, open_outcome, with_groups, with_weights
from misfeat.runtime.progress import Progress
from misfeat.selection import Selection

Blocks = Mapping[str, tuple[str, ...]]
MOST_FEATURES = 150
"""Of a table with more features those are looked at more closely that explain something."""


def opened(
    question: NestedParameters, X: Any, y: Any, groups: Any, sample_weight: Any
) -> tuple[Table, str, CohortRules]:
    """The table, its target, and the rules by which it becomes cohorts, as `fit` was given them."""
    rules = CohortRules.parse(question.groups, question._nested("coding"))
    table, target, event = open_outcome(X, y, rules.codes, rules.ways)
    table, weight = with_weights(table, sample_weight)
    weights = WeightRules.parse(weight, question.weights, question.design)
    rules = replace(rules, weights=weights, event=event)
    if event is not None and question.measure == "r2":
        raise MisfeatError(
            f"A time to an event is no plain number, so that {Setting('measure', 'r2')} cannot "
            f"score it; use {Setting('measure', 'mutual_info')}."
        )
    if groups is None:
        return table, target, rules
    if question.groups is not None:
        raise MisfeatError(
            f"Subgroups were given twice: {Setting('groups', question.groups)} in the estimator, "
            "and groups passed to fit; leave one of them out."
        )
    table, name = with_groups(table, groups)
    return table, target, replace(rules, groups=parse_groups(name))


def selection_of(
    question: NestedParameters, table: Table, target: str, rules: CohortRules, progress: Progress
) -> Selection:
    """Everything that fit does with the table, target and rules that `opened` gave."""
    cohorts, sums, blocks = _features_of(question, table, target, rules, progress)
    of_sample = question.estimate == SAMPLE
    check_features(cohorts.features if sums is None else sums.features, cohorts)
    completer = completer_of(
        question.completer,
        confidence=question.confidence,
        device=question.device,
        random_state=question.random_state,
    )
    confidence = confidence_of(completer) if of_sample else question.confidence
    estimate = Estimate(question.estimate, completer, confidence)
    cohorts, listed = _shortlisted(question, estimate, cohorts, blocks, progress)
    measure: Measure
    if sums is None:
        measure = information_of(cohorts, above_chance=not of_sample)
    else:
        measure = SquaredCorrelation(sums, above_chance=not of_sample)
    n_features, size = len(measure.features), 1 if question.size == "auto" else int(question.size)
    if size > n_features:
        warn(
            f"{Setting('size', size)} is greater than n_features={n_features}; all features are "
            "taken."
        )
    scores = SetScores(
        measure,
        estimate,
        max_sets=question._nested("coding").max_sets,
        budget=question.budget,
        sampler=question.sampler,
        seed=question.random_state,
        n_jobs=None if question.n_jobs is None else int(question.n_jobs),
    )
    options = FitOptions(
        size=min(size, n_features),
        k=int(question.k),
        include=check_names(question.include, "include"),
        blocks=blocks,
        seed=question.random_state,
        backend=table.frame_backend,
        settings=question._changed(),
    )
    selection = Selection(cohorts, scores, options, verbose=int(question.verbose), shortlist=listed)
    if question.size == "auto":
        selection.options = replace(options, size=chosen_size(selection))
    shown_scores(selection, None)  # so that answers come at once
    return selection


def _features_of(
    question: NestedParameters, table: Table, target: str, rules: CohortRules, progress: Progress
) -> tuple[Cohorts, ProductSums | None, Blocks]:
    """The coded features, those to exclude left out and blocks joined; for R² sums of products."""
    excluded, blocks = check_names(question.exclude, "exclude"), check_blocks(question.blocks)
    suspects, sums = SUSPECTS in excluded and SUSPECTS not in table.names, None
    with closing(table):
        for name in excluded:
            if name not in table.names and not (suspects and name == SUSPECTS):
                raise no_such_column(name, table.names, "a feature to exclude", "exclude")
        if question.measure != "r2":
            cohorts = cohorts_of(table, target, rules, progress)
        elif blocks:
            needed = Setting("measure", "mutual_info")
            raise MisfeatError(f"{Setting('blocks')} needs {needed}; leave one of the two out.")
        else:
            seed = question.random_state
            cohorts, sums = cohorts_and_product_sums(table, target, rules, progress, seed)
    cohorts = without_features(cohorts, excluded)
    if suspects:
        cohorts, more = without_suspects(cohorts, check_names(question.include, "include"))
        excluded += more
    sums = sums and product_sums_without(sums, excluded)
    return joined_blocks(cohorts, blocks), sums, blocks


def _shortlisted(
    question: NestedParameters,
    estimate: Estimate,
    cohorts: Cohorts,
    blocks: Blocks,
    progress: Progress,
) -> tuple[Cohorts, Shortlist | None]:
    """The cohorts, of a wide table without features that explain nothing, and what was left out."""
    max_sets = question._nested("coding").max_sets
    if max_sets is None or question.measure != "mutual_info":
        return cohorts, None
    n_features = len(cohorts.features)
    size = min(MOST_OF_SHORTLIST if question.size == "auto" else int(question.size), n_features)
    most = MOST_FEATURES
    if not estimate.lists:  # all sets of the features that are kept are scored
        most = features_that_fit(n_features, size, len(cohorts), int(max_sets))
    if n_features <= most:
        return cohorts, None
    return shortlist(
        cohorts,
        max(most, size),
        above_chance=question.estimate != SAMPLE,
        include=check_names(question.include, "include"),
        blocks=blocks,
        seed=question.random_state,
        n_jobs=None if question.n_jobs is None else int(question.n_jobs),
        progress=progress,
    )
