"""Scores of sets in many resamples of the rows, side by side.

A resample has other counts of the same coded rows: its covariances are other sums of the same
products. Whatever follows from these, completing, calibration and pooling, is worked out for all
resamples at once, with one more dimension. Interactions are looked for in each; columns of those
that a resample did not show are 0 in it, which leaves its scores as they are.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from misfeat.completion.completer_data import Known
from misfeat.estimation.covariance_scores import InformationScale
from misfeat.estimation.covariance_sources import CodedRowSource
from misfeat.estimation.interaction_search import find_terms
from misfeat.estimation.moments import Moments, Term
from misfeat.estimation.population_model import PopulationModel
from misfeat.estimation.score_estimate import closed, intervals_of, raised
from misfeat.lattice.levels import rank
from misfeat.runtime.array_types import Floats, Indices

NOTABLE = 0.02  # share of a score by which counted ones correct it
MOST_NUMBERS = 2**18  # of covariances that are held in memory at once


class Sample(NamedTuple):
    """What a model of one resample is made of."""

    moments: Moments
    shares: Floats  # (n_cohorts, n_classes)
    dimensions: Floats  # (n_cohorts,): columns of the target that vary in each subgroup
    counted: list[Floats]  # scores of all sets, by size from 1
    occupied: list[Floats]  # cells of these that have rows, by size, where scores are corrected
    ceiling: Floats  # (n_cohorts,): what no score can exceed


def sample_of(known: Known, like: CodedRowSource, corrected: int) -> Sample:
    """What the rows of a resample say, in the columns of the table that it is from."""
    source = CodedRowSource(known.rows_for("auto"), like)
    moments = find_terms(source, source.moments())
    counted = source.calibration(known.exact.by_size[1:])
    occupied = source.occupied_up_to(corrected)
    ceiling = known.exact.ceiling
    return Sample(moments, source.shares(), source.scales()[1], counted, occupied, ceiling)


def sizes_corrected(models: Sequence[PopulationModel], size: int) -> int:
    """Up to which size, at most the given one, counted scores correct notably; 0 for none."""
    by_size = [one for model in models for one in enumerate(model.corrections[:size], start=1)]
    sizes = [m for m, one in by_size if np.abs(one.factor - 1.0).max(initial=0.0) > NOTABLE]
    return max(sizes, default=0)


def scores_of_samples(
    samples: Sequence[Sample], subsets: Indices, like: PopulationModel, *, whole: bool
) -> Floats:
    """Scores of sets of one size, (n_samples, n_cohorts, n_sets)."""
    # `whole`: they are raised to those of all parts, as where all sets of their size are scored.
    # Where counted scores correct notably, resamples have their own; else those of all rows serve.
    found = np.empty((len(samples), len(samples[0].ceiling), len(subsets)))
    alike: dict[bytes, list[int]] = {}  # which features determine others differs
    for number, sample in enumerate(samples):
        alike.setdefault(sample.moments.determined.tobytes(), []).append(number)
    for members in alike.values():
        some = [samples[number] for number in members]
        _, shares, dimensions, counted, occupied, ceilings = zip(*some, strict=True)
        scales, ceiling = list(map(InformationScale, np.stack(shares, axis=1))), np.stack(ceilings)
        moments = _stacked([sample.moments for sample in some])
        ones = np.ones(moments.rows.shape)
        model = PopulationModel(moments, scales, np.stack(dimensions), ones)
        by_size = [np.stack(scores) for scores in zip(*counted, strict=True)]
        model = model.calibrated(by_size)
        if any(occupied):
            cells = [np.stack(own) for own in zip(*occupied, strict=True)]
            model = model.set_apart().corrected(by_size, cells)
            rest = like.corrections[len(cells) :]
            model = replace(model, corrections=(*model.corrections, *rest))
        else:
            model = replace(model, corrections=like.corrections).set_apart()
        sizes = range(1, subsets.shape[1] + 1 if whole else 2)
        levels = [intervals_of(model.level(size, variances=False), None, ceiling) for size in sizes]
        if whole:
            score = closed(levels, model.moments.n_features)[-1].score[..., rank(subsets)]
        else:
            own = intervals_of(model.posterior(subsets, variances=False), None, ceiling)
            score = raised(own, levels[0], subsets).score
        found[members] = np.minimum(np.nan_to_num(score), ceiling[..., None])
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
