"""How stable answers are: rows resampled, the whole answer made again, and compared.

A draw takes a third of the rows of every subgroup and puts none back, so that sets come out again
in draws about as often as in a fresh table (docs/answers/stability.md says why, and whose the index
is; benchmarks/answers/stability.py compares ways to draw). Scores that are not pooled over
subgroups have more chance in them the fewer rows there are: there it is half of the rows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from misfeat.answers.selection_base import FitResult, checked_k, explainable_subgroups, shown_scores
from misfeat.answers.top_sets import order_of_sets
from misfeat.cohorts.resampled_rows import subsample
from misfeat.completion import CompletedScores
from misfeat.estimation import resample_scores
from misfeat.estimation.covariance_sources import source_of
from misfeat.estimation.score_estimate import POPULATION
from misfeat.estimation.set_scores import SetScores
from misfeat.exceptions import MisfeatError, check_count
from misfeat.messages import Setting
from misfeat.runtime.array_types import Flags, Floats, Indices, Integers
from misfeat.runtime.progress import long_work
from misfeat.runtime.threads import mapped

RESAMPLES = 60  # a frequency is then known to about .06 (one standard error)
FEWEST_RESAMPLES = 2  # one draw alone says nothing of how much draws agree
SHARE = 1 / 3  # of the rows of every subgroup that a draw takes, where scores are pooled
SHARE_ALONE = 1 / 2  # the same where a subgroup's scores come from its own rows alone
MOST_TOGETHER = 8  # resamples that are stacked: each gets the columns of all others
WHAT = "Resampling rows to see how stable answers are"
OFTEN = 0.8  # what comes out again in such a share of the draws is called stable


@dataclass(frozen=True)
class StableSet:
    """How often one of the best sets of a subgroup comes out again (`Selection.stability`)."""

    subgroup: str
    rank: int
    features: tuple[str, ...]
    frequency: float
    rank_low: int
    rank_median: int
    rank_high: int


@dataclass(frozen=True)
class StableFeature:
    """How often a feature is in the best sets of a subgroup."""

    subgroup: str
    feature: str
    in_best: float
    in_top_k: float


@dataclass(frozen=True)
class StableSubgroup:
    """How much the best sets of all draws agree in one subgroup."""

    subgroup: str
    index: float
    low: float
    high: float


@dataclass(frozen=True)
class Stability:
    """How stable the best sets are over resamples of the rows."""

    size: int
    k: int
    resamples: int
    sets: tuple[StableSet, ...]
    features: tuple[StableFeature, ...]
    subgroups: tuple[StableSubgroup, ...]

    def sentences(self, subgroup: str | None = None) -> list[str]:
        """What it says, a sentence for every subgroup or for one."""
        sentences = []
        for name in (one.subgroup for one in self.subgroups if subgroup in (None, one.subgroup)):
            own = [one for one in self.sets if one.subgroup == name]
            best, often = own[0], sum(one.frequency >= OFTEN for one in own)
            again = "the best" if len(own) == 1 else f"among the {len(own)} best"
            sentence = (
                f"{name}: the best set, {', '.join(map(repr, best.features))}, is {again} "
                f"in {100 * best.frequency:.0f} % of {self.resamples} resamples"
            )
            if len(own) > 1:
                be = "is" if often == 1 else "are"
                sentence += f"; {often} of these {len(own)} {be} so in at least {100 * OFTEN:.0f} %"
            sentences.append(f"{sentence}.")
        return sentences


def stability_of(
    selection: FitResult, size: int | None = None, k: int | None = None, resamples: int = RESAMPLES
) -> Stability:
    """How often sets and features are among the best of resamples (`Selection.stability`)."""
    k = checked_k(selection, k)
    check_count(resamples, "resamples", FEWEST_RESAMPLES)
    scores = selection.set_scores
    scores.check_rows()
    if not scores.measure.largest_table:
        raise MisfeatError(
            f"Rows are resampled from counts of coded rows; {Setting('measure', 'r2')} keeps "
            "sums of products instead.",
            remedy=f"Use {Setting('measure', 'mutual_info')}, or fit on halves of the table and "
            "compare.",
        )
    shown = shown_scores(selection, size)

    def stability() -> Stability:
        seed = selection.options.seed
        share = SHARE if scores.estimate.name == POPULATION else SHARE_ALONE

        def drawn(seed: np.random.SeedSequence) -> SetScores:
            rng = np.random.default_rng(seed)
            rows = subsample(selection.cohorts, share, rng)
            return scores.rescored(rows, int(rng.integers(2**32)))

        seeds = np.random.SeedSequence(0 if seed is None else seed).spawn(resamples)
        with long_work(selection.verbose > 0) as progress:

            def report(done: int) -> None:
                progress(WHAT, done, resamples)

            if scores.estimate.lists:
                found = _side_by_side(scores, seeds, drawn, shown.subsets, report)
            else:
                found = mapped(lambda seed: drawn(seed).scored(shown.subsets).score, seeds, report)
            report(resamples)
        draws = resampled(shown, k, found, selection.completed(1).score)
        explainable = set(explainable_subgroups(selection, None))
        names = [name if name in explainable else None for name in selection.cohorts.names]
        return summary_of_draws(draws, shown.subsets, selection.feature_names, names)

    return selection.remembered(("stability", shown.subsets.shape[1], k, resamples), stability)


def _side_by_side(
    scores: SetScores,
    seeds: Sequence[np.random.SeedSequence],
    drawn: Callable[[np.random.SeedSequence], SetScores],
    subsets: Indices,
    report: Callable[[int], None],
) -> list[Floats]:
    """Scores of sets in every draw, several draws at a time."""
    known, whole = scores.listed().known, not scores.is_searched(subsets.shape[1])
    tables: list[Any] = [grid.prepared(source_of) for grid in known.grids or (known,)]
    models = scores.listed().models
    # Scores of features and pairs say how subgroups are pooled, those of larger sets nothing more.
    largest = max(subsets.shape[1], 2) if whole else 2
    corrected = resample_scores.sizes_corrected(models, largest)
    numbers = max(model.moments.own.size for model in models)
    together = max(1, min(MOST_TOGETHER, resample_scores.MOST_NUMBERS // max(1, numbers)))

    def scored(some: Sequence[np.random.SeedSequence]) -> Floats:
        known = (drawn(seed).known(1, counted=corrected) for seed in some)
        sampled = partial(resample_scores.sample_of, corrected=corrected)
        made = [[*map(sampled, own.grids or (own,), tables)] for own in known]
        grids = zip(zip(*made, strict=True), models, strict=True)
        scored_by = partial(resample_scores.scores_of_samples, subsets=subsets, whole=whole)
        of_grids = [scored_by(grid, like=like) for grid, like in grids]
        return np.asarray(np.mean(of_grids, axis=0))

    parts = [seeds[first : first + together] for first in range(0, len(seeds), together)]
    found = mapped(scored, parts, lambda begun: report(begun * together))
    return [own for part in found for own in part]


class Draws(NamedTuple):
    """What came out in every draw.

    The indices of the k best sets of each cohort with all rows, of shape (n_cohorts, k); those of
    every draw, and the ranks of the shown sets in it, of shape (n_draws, n_cohorts, k).
    """

    shown: Integers
    best: Integers
    ranks: Integers


def resampled(shown: CompletedScores, k: int, scores: Iterable[Floats], alone: Floats) -> Draws:
    """Where the sets that are best with all rows come out by the scores of every draw."""
    n_cohorts, n_sets = shown.score.shape
    k = min(k, n_sets)
    kept = np.array([order_of_sets(shown, i, alone)[:k] for i in range(n_cohorts)], dtype=np.int64)

    def draw(score: Floats) -> tuple[Integers, Integers]:
        best, ranks = np.empty_like(kept), np.empty_like(kept)
        rank_of = np.empty(n_sets, dtype=np.int64)
        for i, own in enumerate(kept):
            order = order_of_sets(replace(shown, score=score), i, alone)
            rank_of[order] = np.arange(1, n_sets + 1)
            best[i], ranks[i] = order[:k], rank_of[own]
        return best, ranks

    draws = [draw(score) for score in scores]
    best, ranks = (np.array(parts) for parts in zip(*draws, strict=True))
    return Draws(kept, best, ranks)


def summary_of_draws(
    draws: Draws, subsets: Indices, features: Sequence[str], names: Sequence[str | None]
) -> Stability:
    """What draws say about sets, features and subgroups; those named None are left out."""
    n_draws, _, k = draws.best.shape
    quartiles = np.percentile(draws.ranks, (25, 50, 75), axis=0, method="inverted_cdf").astype(int)
    frequency = (draws.ranks <= k).mean(axis=0)
    held = np.zeros((*draws.best.shape, len(features)), dtype=bool)
    np.put_along_axis(held, subsets[draws.best].astype(np.int64), values=True, axis=3)
    in_best: Flags = held[:, :, 0]
    in_top_k: Flags = np.logical_or.reduce(held, axis=2)
    sets, of_features, of_subgroups = [], [], []
    for i, name in enumerate(names):
        if name is None:
            continue
        for index, number in enumerate(draws.shown[i]):
            members = tuple(features[f] for f in subsets[number])
            low, median, high = (int(quartile) for quartile in quartiles[:, i, index])
            often = float(frequency[i, index])
            sets.append(StableSet(name, index + 1, members, often, low, median, high))
        shares = in_best[:, i].mean(axis=0).tolist(), in_top_k[:, i].mean(axis=0).tolist()
        of_features += [StableFeature(name, *one) for one in zip(features, *shares, strict=True)]
        of_subgroups.append(StableSubgroup(name, *stability_index(in_best[:, i])))
    size = subsets.shape[1]
    return Stability(size, k, n_draws, tuple(sets), tuple(of_features), tuple(of_subgroups))


def stability_index(selected: Flags, confidence: float = 0.95) -> tuple[float, float, float]:
    """How much two selections or more agree, of shape (n_selections, n_features), with an interval.

    With p[f] the share of M selections that hold feature f of d, and k the mean number of features
    of a selection, the index is 1 less the mean over features of M / (M - 1) p[f] (1 - p[f]) over
    k/d (1 - k/d), which is what random selections would give (Definition 4 of the paper). It is 1
    where all are the same, about 0 where they agree no more than by chance, and NaN where every
    selection holds all features, or none. The interval is the asymptotic one of the same paper.
    """
    held = np.asarray(selected, dtype=np.float64)
    n_selections, n_features = held.shape
    share, counts = held.mean(axis=0), held.sum(axis=1)
    mean = counts.mean()
    by_chance = mean / n_features * (1.0 - mean / n_features)
    if by_chance <= 0.0:
        return np.nan, np.nan, np.nan
    spread = n_selections / (n_selections - 1) * share * (1.0 - share)
    index = float(1.0 - spread.mean() / by_chance)
    # What each selection adds to the index.
    share_of_all, own = mean / n_features, counts / n_features
    together = held @ share / n_features - own * share_of_all
    ends = 2.0 * share_of_all * own - own - share_of_all + 1.0
    parts = (together + index / 2.0 * ends) / by_chance
    deviation = 2.0 / n_selections * float(np.sqrt(((parts - parts.mean()) ** 2).sum()))
    away = NormalDist().inv_cdf((1.0 + confidence) / 2.0) * deviation
    return index, index - away, min(index + away, 1.0)
