"""How far the answers for one table can be trusted: parts of it left out, answered, and compared.

Features that subgroups did record are hidden as patchily as the table is, and predicted as if they
were missing. The truth of a sample is the score of its rows. For the population, rows are left out,
too, since the best-looking sets of few rows are partly chance; a score of these rows is mostly
noise, so the truth of a set is a distribution: what all rows and all recorded features lead one to
expect, with the deviation that this has. Rows left out say two things about it:

- how much sampling costs. What doubling the rows brings to the sets that look best is about what
  is left to be gained: losses fall with the number of rows, between one over it and over its root.
- whether deviations are right. Of the squared distance between the score above chance of one half
  and the estimate from the other, a part is noise of the former; the squared distance between both
  halves' scores is twice that. The rest over the squared deviation is 1 where deviations are right.
  It was below 1 for half of the rows where it was nearer 1 for all of them, so that its root is
  what squared deviations are multiplied by.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import cycle, islice
from math import comb
from statistics import NormalDist
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from misfeat.answers.selection_base import FitResult, checked_k, level_size
from misfeat.cohorts.cohort_data import SOME_ROWS, Cohorts
from misfeat.cohorts.feature_removal import hide_features, product_sums_without, without_features
from misfeat.cohorts.resampled_rows import reweighted, rows_drawn
from misfeat.completion.completer_data import CompletedScores, ExactScores, Known
from misfeat.completion.conformal_intervals import hidden_in_turns
from misfeat.estimation.score_estimate import POPULATION, Estimate
from misfeat.exceptions import check_count
from misfeat.information.measures import information_of
from misfeat.lattice.levels import level, rank
from misfeat.number_formatting import count_words
from misfeat.runtime.array_types import Flags, Floats, Integers
from misfeat.runtime.progress import Progress, long_work, unreported
from misfeat.runtime.threads import mapped

WHAT = "Validating on parts of the table left out"
JUDGED = 0.9  # the confidence of the intervals that the truth's deviation is read from
TOO_NARROW = 0.05  # intervals that hold the truth by more than this too seldom are too narrow
LEAST_RATIO, MOST_RATIO = 0.1, 3.0  # credible squared errors over squared deviations
ROUNDING = 1e-9  # bounds hold what is outside by no more, in the unit of scores
FEWEST_ROWS = 4  # a cohort with fewer cannot be halved
MOST_JUDGED = 60_000  # sets, over all cohorts, up to which all of them are answered again
BEST_SHARE = 0.5  # of the features to judge are those of the best-looking sets


@dataclass(frozen=True)
class Trust:
    """How far the answers for one cohort can be trusted, as `Selection.validate` explains it."""

    cohort: int
    hidden: int
    captured: float
    coverage: float
    error: float


class Truth(NamedTuple):
    """What is known of the true scores of all sets of one size, by cohort."""

    score: Floats  # expected
    deviation: Floats  # the standard deviation of the truth around it
    tested: Flags  # the sets that a cohort's own rows say something about
    ceiling: Floats  # no score can exceed it
    kept: Floats  # the share of the best sets' score left to sets chosen from so few rows


def validation_of(
    selection: FitResult, size: int | None = None, k: int | None = None, rounds: int = 4
) -> list[Trust]:
    """How far answers can be trusted, one record a subgroup (`Selection.validate`)."""
    size, k = level_size(selection, size), checked_k(selection, k)
    check_count(rounds, "rounds")
    scores, seed = selection.set_scores, selection.options.seed
    n_features, measure = len(selection.feature_names), scores.measure
    scores.check_rows()
    rng = np.random.default_rng(0 if seed is None else seed)
    completed = selection.completed(size)
    kept = features_to_judge(completed, n_features, rng)

    def validation() -> list[Trust]:
        with long_work(selection.verbose > 0) as progress:
            known, shown = scores.known(size, progress, counted=size), None
            if kept is not None:
                known = with_features(known, kept)
            if known.cohorts is not None and known.cohorts.some_rows is not known.cohorts:
                known = rescored(known, known.cohorts.some_rows)
            elif kept is None:
                shown = selection.completed(size)
            return trust(known, scores.estimate, size, k, rounds, seed, progress, shown)

    records = selection.remembered(("validation", size, k, rounds), validation)
    selection.validation = in_words(
        records,
        min(k, len(completed.subsets)),
        selection.confidence,
        predicted=bool(completed.predicted.any()),
        rows_left_out=can_be_halved(measure.rows) if measure.above_chance else None,
        judged=None if kept is None else (len(kept), n_features),
        part=measure.rows is not None and measure.rows.some_rows is not measure.rows,
    )
    return records


def trust(
    known: Known,
    estimate: Estimate,
    size: int,
    k: int,
    rounds: int,
    seed: int | None = None,
    progress: Progress = unreported,
    shown: CompletedScores | None = None,
) -> list[Trust]:
    """Leave features and rows out, answer, and compare; `shown` is what is answered with all."""
    rng = np.random.default_rng(0 if seed is None else seed)
    known = replace(known, progress=None)
    lacking = np.array([np.isnan(scores).any() for scores in known.exact.by_size[size]])
    n_steps = rounds + 3
    n_jobs = known.n_jobs if estimate.lists else None  # completers are not for several threads

    def report(done: int) -> None:
        progress(WHAT, done, n_steps)

    def of_half(weights: Integers) -> tuple[ExactScores, CompletedScores]:
        half = rescored(known, reweighted(cast("Cohorts", known.cohorts), weights))
        return half.exact, judge.complete(half, size)

    def without_features(mask: Flags) -> CompletedScores:
        own: Estimate = deepcopy(estimate)
        return own.complete(with_hidden(known, mask), size)

    report(0)
    done = 0
    answers: list[tuple[CompletedScores, Flags]] = []  # with what was hidden
    if known.exact.above_chance:
        shown = estimate.complete(known, size) if shown is None else shown
        report(1)
        judge = replace(estimate, name=POPULATION, confidence=JUDGED)
        judged = shown if judge == estimate else judge.complete(known, size)
        drawn_halves = half_weights(known.cohorts, rng)
        halves = mapped(of_half, drawn_halves, lambda n: report(1 + n), n_jobs)
        truth = truth_of_population(known.exact, judged, k, halves)
        done = 3
        if halves:  # else an answer would be compared with itself
            answers.append((shown, np.zeros_like(known.exact.missing)))
    else:
        truth = truth_of_sample(known.exact, size)
    drawn = patchy_rounds(known.exact.missing, lacking, rounds, rng)
    masks = [mask for mask in drawn if mask.any()]
    completed = mapped(without_features, masks, lambda n: report(done + n), n_jobs)
    answers += zip(completed, masks, strict=True)
    compared: dict[int, list[Trust]] = {}
    for scores, mask in answers:
        cohorts = mask.any(axis=1) if mask.any() else ~lacking
        for cohort in np.flatnonzero(cohorts & truth.tested.any(axis=1)).tolist():
            figures = figures_of(truth, scores, cohort, k, int(mask[cohort].sum()))
            compared.setdefault(cohort, []).append(figures)
    report(n_steps)
    return [
        Trust(
            cohort,
            sum(one.hidden for one in own),
            *np.mean([(one.captured, one.coverage, one.error) for one in own], axis=0).tolist(),
        )
        for cohort, own in sorted(compared.items())
    ]


def captured_at(k: int, truth: Floats, guess: Floats) -> float:
    """The share of the true K best sets' score that the predicted K best hold."""
    best = truth[best_indices(k, truth)].sum()
    # Equal sets summed in another order may come out above by rounding.
    return min(float(truth[best_indices(k, guess)].sum() / best), 1.0) if best > 0 else 1.0


def best_indices(k: int, scores: Floats) -> NDArray[np.intp]:
    """Indices of the K best, best first, the first of equal ones first."""
    return np.argsort(-scores, kind="stable")[:k]


def truth_of_sample(exact: ExactScores, size: int) -> Truth:
    """The scores of the rows as they are."""
    scores, kept = exact.by_size[size], np.ones(len(exact.by_size[size]))
    return Truth(scores, np.zeros_like(scores), ~np.isnan(scores), exact.ceiling, kept)


def truth_of_population(
    exact: ExactScores,
    judged: CompletedScores,
    k: int,
    left_out: Sequence[tuple[ExactScores, CompletedScores]] = (),
) -> Truth:
    """What all rows lead one to expect; `left_out` are scores and estimates of either half."""
    tested = ~np.isnan(exact.by_size[judged.subsets.shape[1]])
    deviation, kept = deviation_of(judged), np.ones(len(tested))
    if left_out:
        deviation = deviation * ratio_of_errors(left_out) ** 0.25
        for i, best in enumerate(judged.score):
            kept[i] = np.mean([captured_at(k, best, half.score[i]) for _, half in left_out])
    return Truth(judged.score, deviation, tested, exact.ceiling, kept)


def deviation_of(completed: CompletedScores) -> Floats:
    """The standard deviations that intervals were made from; one side may have been cut."""
    reach = np.maximum(completed.high - completed.score, completed.score - completed.low)
    return np.asarray(reach / NormalDist().inv_cdf((1.0 + JUDGED) / 2.0))


def ratio_of_errors(halves: Sequence[tuple[ExactScores, CompletedScores]]) -> float:
    """The squared errors of estimates over their squared deviations, by halves of the rows."""
    (first, of_first), (second, of_second) = halves
    size = of_first.subsets.shape[1]
    x, y = first.by_size[size], second.by_size[size]
    squares = (y - of_first.score) ** 2 + (x - of_second.score) ** 2 - (x - y) ** 2
    scale = deviation_of(of_first) ** 2 + deviation_of(of_second) ** 2
    both = ~np.isnan(x) & ~np.isnan(y)
    ratio = squares[both].sum() / max(scale[both].sum(), np.finfo(float).tiny)
    return float(np.clip(ratio, LEAST_RATIO, MOST_RATIO))


def figures_of(
    truth: Truth, completed: CompletedScores, cohort: int, k: int, n_hidden: int = 0
) -> Trust:
    """Compare what was answered for a cohort, with features hidden from it or not."""
    # Only sets that the cohort's own rows say something about are compared. They are fewer than all
    # sets, so fewer of them count as best: the same share. Coverage of exact scores is 1.
    tested = truth.tested[cohort]
    score, low, high, predicted = (
        getattr(completed, name)[cohort, tested] for name in ("score", "low", "high", "predicted")
    )
    true, deviation = truth.score[cohort, tested], truth.deviation[cohort, tested]
    k = max(1, round(k * tested.mean()))
    uncertain = predicted | (high > low)
    inside = chance_inside(low, high, true, deviation, truth.ceiling[cohort])[uncertain]
    squares = ((score - true) ** 2 + deviation**2)[uncertain]
    return Trust(
        cohort,
        n_hidden,
        captured=captured_at(k, true, score) * float(truth.kept[cohort]),
        coverage=float(inside.mean()) if uncertain.any() else 1.0,
        error=float(np.sqrt(squares.mean())) if uncertain.any() else 0.0,
    )


def chance_inside(
    low: Floats, high: Floats, mean: Floats, deviation: Floats, ceiling: float
) -> Floats:
    """How likely a score lies between two bounds; none is below 0 or above the ceiling."""
    from scipy.special import ndtr

    spread = np.maximum(deviation, np.finfo(float).tiny)
    below = np.where(low <= 0, 0.0, ndtr((low - ROUNDING - mean) / spread))
    above = np.where(high >= ceiling, 0.0, ndtr((mean - high - ROUNDING) / spread))
    return np.asarray(1.0 - below - above)


def in_words(
    records: Sequence[Trust],
    k: int,
    confidence: float | None,
    *,
    predicted: bool = True,
    rows_left_out: bool | None = None,
    judged: tuple[int, int] | None = None,
    part: bool = False,
) -> str:
    """In words; `judged` says of how many features, of all, sets were tried."""
    if not records and not predicted:
        if rows_left_out is None:
            return "Every score is that of the rows themselves: nothing was predicted."
        return "Nothing could be left out, features or rows: answers cannot be checked."
    if not records:
        return (
            "No feature could be hidden, since none was recorded by two subgroups: predictions "
            "cannot be checked."
        )
    hidden = sum(one.hidden for one in records)
    parts = [f"{count_words(hidden, 'feature')} hidden on purpose"] if hidden else []
    parts += ["half of the rows left out"] if rows_left_out else []
    start = f"Self-test with {' and '.join(parts)}: the" if parts else "The"
    captured = np.mean([one.captured for one in records])
    coverage = np.mean([one.coverage for one in records])
    kind = "certain bounds" if confidence is None else f"{100 * confidence:.0f} % intervals"
    best = "the truly best set" if k == 1 else f"the {k} truly best sets"
    look = "set ranked first explains" if k == 1 else f"{k} sets ranked first explain"
    sentence = (
        f"{start} {look} about {captured * 100:.0f} % as much as {best}, and {kind} contain "
        f"the true value in {coverage * 100:.0f} % of the cases"
    )
    too_narrow = confidence is not None and coverage < confidence - TOO_NARROW
    sentence += ": they are somewhat too narrow here." if too_narrow else "."
    if rows_left_out is False:
        sentence += " No rows could be left out, so this does not include what sampling costs."
    if judged is not None:
        some, every = judged
        sentence += f" Of so many sets, those of {some} of the {every} features were tried."
    if part:
        sentence += f" Of larger subgroups, {SOME_ROWS:,} rows were tried, drawn at random."
    return sentence


def features_to_judge(
    shown: CompletedScores, n_features: int, rng: np.random.Generator, most: int = MOST_JUDGED
) -> Integers | None:
    """Features whose sets are few enough, half of them of the best sets; None: all features."""
    (n_cohorts, _), size = shown.score.shape, shown.subsets.shape[1]
    n_kept = n_features
    while n_kept > size + 1 and comb(n_kept, size) * n_cohorts > most:
        n_kept -= 1
    if n_kept == n_features:
        return None
    best = shown.score.max(axis=1, keepdims=True)
    relative = (shown.score / np.where(best > 0, best, 1.0)).max(axis=0)
    of_feature = np.zeros(n_features)
    for members in shown.subsets.T:
        np.maximum.at(of_feature, members, relative)
    order = np.argsort(-of_feature, kind="stable")
    n_best = round(BEST_SHARE * n_kept)
    drawn = rng.choice(order[n_best:], n_kept - n_best, replace=False)
    return np.sort(np.concatenate([order[:n_best], drawn]))


def with_features(known: Known, kept: Integers) -> Known:
    """What would be known if the table had some of its features only, given in ascending order."""
    exact, cohorts, sums = known.exact, known.cohorts, known.sums
    left_out = np.setdiff1d(np.arange(exact.missing.shape[1]), kept)
    by_size = [exact.by_size[0]]
    for size, scores in enumerate(exact.by_size[1:], start=1):
        by_size.append(scores[:, rank(kept[level(len(kept), size)])])
    if cohorts is not None:
        cohorts = without_features(cohorts, [cohorts.features[f] for f in left_out])
    if sums is not None:
        sums = product_sums_without(sums, [sums.features[f] for f in left_out])
    return replace(
        known,
        exact=replace(exact, by_size=tuple(by_size), missing=exact.missing[:, kept]),
        cohorts=cohorts,
        sums=sums,
        grids=tuple(with_features(grid, kept) for grid in known.grids),
    )


def patchy_rounds(
    missing: Flags, lacking: Flags, rounds: int, rng: np.random.Generator
) -> Iterator[Flags]:
    """Features to hide, a mask of shape (n_cohorts, n_features) a round."""
    # Of the features that a cohort recorded as large a share is hidden as it lacks of all, at least
    # one. Cohorts take turns, as few a round as let every one have a turn, and the others stay as
    # patchy as they are: what is hidden meets the same donors as what is missing. Nothing is hidden
    # from cohorts that `lacking`, of shape (n_cohorts,), does not mark.
    turns = rng.permutation(np.flatnonzero(lacking))
    order, at_once = cycle(turns), -(-len(turns) // rounds)
    in_turns = (islice(order, at_once) for _ in range(rounds))
    return hidden_in_turns(missing, missing.mean(axis=1), in_turns, rng)


def with_hidden(known: Known, mask: Flags) -> Known:
    """What would be known without some features; they are gone from the rows, too."""
    rows = None if known.cohorts is None else hide_features(known.cohorts, mask)
    grids = tuple(with_hidden(grid, mask) for grid in known.grids)
    return replace(known, exact=known.exact.hidden(mask), cohorts=rows, progress=None, grids=grids)


def half_weights(rows: Cohorts | None, rng: np.random.Generator) -> tuple[Integers, ...]:
    """The weights of either half of the rows, drawn at random; none where there are too few."""
    if rows is None or not can_be_halved(rows):
        return ()
    drawn = np.concatenate([rows_drawn(c.weights, c.size // 2, rng) for c in rows])
    return drawn, rows.weights - drawn


def can_be_halved(rows: Cohorts | None) -> bool:
    """Whether there are rows, enough of them in every cohort."""
    return rows is not None and min(cohort.size for cohort in rows) >= FEWEST_ROWS


def rescored(known: Known, rows: Cohorts) -> Known:
    """The same sets, scored in other rows: above chance, and counted from rows."""
    measure = information_of(rows, above_chance=known.exact.above_chance)
    reach = len(known.exact.by_size) - 1
    by_cohort = [measure.of_levels(i, 0, reach, known.n_jobs) for i in range(len(rows))]
    by_size = tuple(
        np.where(np.isnan(before), np.nan, np.array(scores))
        for before, scores in zip(known.exact.by_size, zip(*by_cohort, strict=True), strict=True)
    )
    exact = replace(known.exact, by_size=by_size, ceiling=measure.ceiling)
    grids = tuple(map(rescored, known.grids, rows.by_grid())) if known.grids else ()
    return replace(known, exact=exact, cohorts=rows, progress=None, grids=grids)
