"""Scores of sets in many resamples of the rows, side by side.

A resample has other counts of the same coded rows: its covariances are other sums of the same
products. Whatever follows from these, completing, calibration and pooling, is worked out for all
resamples at once, with one more dimension. Interactions are looked for in each; columns of those
that a resample did not show are 0 in it, which leaves its scores as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from misfeat.cohorts.cohort_data import Cohorts
from misfeat.completion.completer_data import Known
from misfeat.estimation.covariance_sources import CodedRowSource, source_of
from misfeat.estimation.interaction_search import find_terms
from misfeat.estimation.moments import Moments, Term
from misfeat.estimation.population_scores import PopulationModel
from misfeat.estimation.score_estimator import closed, intervals_of, raised
from misfeat.estimation.score_scales import InformationScale
from misfeat.estimation.score_store import SetScores
from misfeat.information.measures import information_of
from misfeat.lattice.levels import rank
from misfeat.runtime.array_types import Floats, Indices
from misfeat.runtime.threads import mapped

MOST_NUMBERS = 2**18  # of covariances that are held in memory at once
MOST_TOGETHER = 8  # resamples that are stacked: each gets the columns of all others
Item = TypeVar("Item")


class Sample(NamedTuple):
    """What a model of one resample is made of."""

    moments: Moments
    shares: Floats  # (n_cohorts, n_classes)
    dimensions: Floats  # (n_cohorts,): columns of the target that vary in each subgroup
    counted: list[Floats]  # scores of features and of pairs
    ceiling: Floats  # (n_cohorts,): what no score can exceed


def sample_of(known: Known, like: CodedRowSource) -> Sample:
    """What the rows of a resample say, in the columns of the table that it is from."""
    source = CodedRowSource(known.rows_for("auto"), like)
    moments = find_terms(source, source.moments())
    counted = source.calibration(known.exact.by_size[1:3])
    return Sample(moments, source.shares(), source.scales()[1], counted, known.exact.ceiling)


def scores_in_resamples(
    scores: SetScores,
    resamples: Sequence[Item],
    rows_of: Callable[[Item], tuple[Cohorts, int]],
    levels: Sequence[Indices],
    report: Callable[[int], None],
) -> list[list[Floats]]:
    """Scores of listed sets, one size after the other, in every resample: (n_cohorts, n_sets).

    `rows_of` gives the rows of a resample and a seed; several resamples are scored at a time.
    """

    def scored_anew(resample: Item) -> SetScores:
        rows, seed = rows_of(resample)
        measure = information_of(rows, above_chance=scores.measure.above_chance)
        own = scores.of_other_rows(measure, seed)
        own.estimate = replace(own.estimate, confidence=None)  # nobody reads bounds
        return own

    if not scores.can_list:

        def one_by_one(resample: Item) -> list[Floats]:
            own = scored_anew(resample)
            return [own.scored(subsets).score for subsets in levels]

        return mapped(one_by_one, resamples, report)
    known, models = scores.listed().known, scores.listed().models
    tables: list[Any] = [grid.prepared(source_of) for grid in known.grids or (known,)]
    whole = [not scores.is_searched(subsets.shape[1]) for subsets in levels]
    numbers = max(model.moments.own.size for model in models)
    together = max(1, min(MOST_TOGETHER, MOST_NUMBERS // max(1, numbers)))

    def side_by_side(some: Sequence[Item]) -> list[list[Floats]]:
        of_rows = (scored_anew(resample).known(1) for resample in some)
        made = [[*map(sample_of, own.grids or (own,), tables)] for own in of_rows]
        grids = zip(zip(*made, strict=True), models, strict=True)
        of_grids = [scores_of_samples(grid, levels, like, whole) for grid, like in grids]
        means = [np.mean(of_level, axis=0) for of_level in zip(*of_grids, strict=True)]
        return [list(of_sample) for of_sample in zip(*means, strict=True)]

    parts = [resamples[first : first + together] for first in range(0, len(resamples), together)]
    found = mapped(side_by_side, parts, lambda begun: report(begun * together))
    return [own for part in found for own in part]


def scores_of_samples(
    samples: Sequence[Sample],
    levels: Sequence[Indices],
    like: PopulationModel,
    whole: Sequence[bool],
) -> list[Floats]:
    """Scores of sets of one size after the other, (n_samples, n_cohorts, n_sets)."""
    # `whole`: they are raised to those of all parts, as where all sets of their size are scored.
    # What counted scores of all rows correct is corrected in every resample.
    found = [np.empty((len(samples), len(samples[0].ceiling), len(sets))) for sets in levels]
    largest = max([1, *(sets.shape[1] for sets, all_ in zip(levels, whole, strict=True) if all_)])
    alike: dict[bytes, list[int]] = {}  # which features determine others differs
    for number, sample in enumerate(samples):
        alike.setdefault(sample.moments.determined.tobytes(), []).append(number)
    for members in alike.values():
        some = [samples[number] for number in members]
        _, shares, dimensions, counted, ceilings = zip(*some, strict=True)
        scales, ceiling = list(map(InformationScale, np.stack(shares, axis=1))), np.stack(ceilings)
        moments = _stacked([sample.moments for sample in some])
        ones = np.ones(moments.rows.shape)
        model = PopulationModel(moments, scales, np.stack(dimensions), ones)
        model = model.calibrated([np.stack(scores) for scores in zip(*counted, strict=True)])
        model = replace(model, corrections=like.corrections).set_apart()
        posteriors = [model.level(size, variances=False) for size in range(1, largest + 1)]
        intervals = [intervals_of(posterior, None, ceiling) for posterior in posteriors]
        raised_levels = closed(intervals, model.moments.n_features)
        for of_level, subsets, all_sets in zip(found, levels, whole, strict=True):
            if all_sets:
                score = raised_levels[subsets.shape[1] - 1].score[..., rank(subsets)]
            else:
                own = intervals_of(model.posterior(subsets, variances=False), None, ceiling)
                score = raised(own, intervals[0], subsets).score
            of_level[members] = np.minimum(np.nan_to_num(score), ceiling[..., None])
    return found


def _stacked(samples: Sequence[Moments]) -> Moments:
    """Moments of all resamples, with columns for the interactions that any of them shows."""
    first, widths = samples[0], dict[tuple[int, ...], int]()
    for term in (term for sample in samples for term in sample.terms):
        widths[term.features] = max(term.effects.shape[1], widths.get(term.features, 0))
    ends = np.cumsum([first.widths.sum(), *widths.values()])
    width = int(ends[-1]) + first.n_targets
    plain, *parts, target = np.split(np.arange(width), ends)
    columns = dict(zip(widths, parts, strict=True))
    own = np.zeros((len(samples), len(first.recorded), width, width))
    for found, sample in zip(own, samples, strict=True):
        shown = [columns[term.features][: term.effects.shape[1]] for term in sample.terms]
        place = np.concatenate([plain, *shown, target])
        found[:, place[:, None], place] = sample.own
    nothing = np.zeros((0, first.n_targets))
    return Moments(
        own,
        np.stack([sample.rows for sample in samples]),
        first.recorded,
        (*first.columns[: first.n_features], *columns.values()),
        first.n_targets,
        tuple(Term(features, np.zeros((0, n)), nothing) for features, n in widths.items()),
    )
