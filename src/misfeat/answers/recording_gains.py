"""By how much recording features would raise the best score of a subgroup, and how sure that is.

Let B be the best set of what a subgroup recorded, and S the best set once some more features W are
recorded. The gain is the score of S less that of B. Its deviation comes from what each of the two
sets explains beyond the features that they share, since the common part errs alike in both.

Gains that were predicted in tables with features hidden and then shown (benchmarks/plan) lie a
little below the difference of estimates, for S is the best of many, and most are nearer to it than
the deviation says. `Gain` is a mixture of two normal distributions; intervals are of one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from misfeat.answers.selection_base import (
    FitResult,
    checked_size,
    explainable_subgroups,
    feature_index,
    shown_scores,
)
from misfeat.answers.set_contrasts import SHARED_ERROR
from misfeat.completion.completer_data import SINGLES, SUPPORT, CompletedScores
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.runtime.array_types import Floats, Indices

Bundle = frozenset[int]
"""Features to be recorded together, by number."""
NOTHING: Bundle = frozenset()

MOST_TOGETHER = 3
"""Features that are considered at once: more than three rarely explain something only together."""
MOST_CONSIDERED = 8
"""Unrecorded features of a subgroup whose joint gains are worked out; the rest promise less."""
OPTIMISM = 0.22  # deviations by which the best of many sets is estimated too high
MIXTURE = ((0.85, 0.42), (0.15, 1.5))
"""Shares of gains, and how far they lie from the estimate, in deviations."""
SHARES = np.linspace(0.01, 0.99, 50)  # of the subgroups, in which a feature informs
STRENGTHS = np.geomspace(0.002, 1.0, 16)  # of the entropy, what it explains there
PRIOR, LIKE_OTHERS = 8.0, 10.0  # subgroups that inform, and that do so of a feature as of all
VARIES, LITTLE = 0.2, 0.1  # of the expected root of a score, its deviations, if it informs or not
CLEAR, DOUBT = 0.85, 0.05  # what is called clear informs in so many subgroups, but for some doubt
SET_APART = (0.5, 0.0, 1.0)  # times these in a subgroup that differs from all others: who knows
DIFFER = 2.0  # how much wider clear gains must be, where subgroups are known to differ
_NORMAL = NormalDist()
SMALLEST_SCALE = 0.001  # of the highest possible score: gains are drawn on no finer scale


class Gain(NamedTuple):
    """The distribution of a rise of the best score; `deviation` is NaN where none is known."""

    difference: float
    deviation: float
    most: float = np.inf  # what is left to be explained
    informs: float = 1.0  # how likely its features inform here at all; with little doubt
    surely: float = 1.0
    differ: float = 0.0  # how much of the deviation is known, not doubted: subgroups differ

    @property
    def center(self) -> float:
        """Where the distribution has its middle."""
        shifted = self.difference - OPTIMISM * self.deviation
        return shifted if self.is_distributed else max(0.0, self.difference)

    @property
    def is_distributed(self) -> bool:
        """Whether more is known than one number."""
        return self.deviation > 0

    @property
    def expected(self) -> float:
        """The expected rise, E[max(0, D)]: a feature that does not help is left out of the set."""
        if not self.is_distributed:
            return self.center
        rise = 0.0
        for share, width in MIXTURE:  # E[max(0, X)] of a normal X
            deviation = width * self.deviation
            z = self.center / deviation
            rise += share * (deviation * (_NORMAL.pdf(z) + z * _NORMAL.cdf(z)))
        return min(rise, self.most)

    def exceeds(self, least: float, wider: float = 0.0) -> float:
        """How likely the rise is more than some number of at least 0, if its features inform."""
        if not self.is_distributed:
            return float("nan") if np.isnan(self.deviation) else float(self.difference > least)
        ahead = (self.center - least) / self.deviation
        return sum(share * _NORMAL.cdf(ahead / (width + wider)) for share, width in MIXTURE)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Bounds of the rise, neither below 0."""
        if not self.is_distributed:
            return self.center, self.center
        # Of the mixture they would be too narrow where subgroups differ in how strong effects are.
        reach = _NORMAL.inv_cdf((1.0 + confidence) / 2.0) * self.deviation
        low, high = np.clip([self.center - reach, self.center + reach], 0.0, self.most).tolist()
        return low, high


class RecordingGains:
    """The gains of one subgroup from features that it never recorded.

    With `together`, joint gains are worked out, of the features that promise most; else those of
    all features, one by one.
    """

    def __init__(
        self, selection: FitResult, subgroup: str, size: int | None = None, together: bool = False
    ) -> None:
        self._selection, self.subgroup = selection, subgroup
        self._cohort = selection.cohorts.position(subgroup)
        self._missing = selection.missing[self._cohort]
        self._informs = selection.remembered(("informs",), self._informing_shares)
        scores = shown_scores(selection, size)
        lacking = np.flatnonzero(self._missing)
        self.considered = self._most_promising(scores, lacking) if together else lacking.tolist()
        if together and selection.set_scores.is_searched(scores.subsets.shape[1]):
            scores = self._with_exchanged(scores)
        numbers = range(len(self.considered))
        codes = [1 << i for i in numbers] if together else [i + 1 for i in numbers]
        self._code = dict(zip(self.considered, codes, strict=True))
        self._subsets, self._support = scores.subsets, scores.support[self._cohort]
        self._score = scores.score[self._cohort]
        self._low, self._high = scores.low[self._cohort], scores.high[self._cohort]
        self._best = self._best_by_part(together)
        # A subgroup that recorded fewer features than a set holds has all of these.
        own = np.flatnonzero(~self._missing)
        self._all, self._of_all = NOTHING, 0.0
        if 0 < len(own) < self._subsets.shape[1] and self._lists:
            self._all = frozenset(own.tolist())
            self._of_all = float(selection.set_scores.scored(own[None]).score[self._cohort, 0])

    def _most_promising(self, scores: CompletedScores, lacking: Indices) -> list[int]:
        """The unrecorded features that are in the best sets, whatever else these lack."""
        best = np.zeros(len(self._missing))
        for column in scores.subsets.T:
            np.maximum.at(best, column, scores.score[self._cohort])
        order = np.argsort(-best[lacking], kind="stable")
        return sorted(map(int, lacking[order[:MOST_CONSIDERED]]))

    def _with_exchanged(self, scores: CompletedScores) -> CompletedScores:
        """Where sets were searched for: also the best recorded set with bundles put into it."""
        recorded = np.flatnonzero(~self._missing[scores.subsets].any(axis=1))
        if not len(recorded):
            return scores
        own = scores.subsets[recorded[np.argmax(scores.score[self._cohort, recorded])]]
        included = self._selection.set_scores.include
        free = [feature for feature in own.tolist() if feature not in included]
        more = [
            sorted({*own.tolist()} - {*out} | {*bundle})
            for bundle in bundles(self.considered)
            for out in combinations(free, len(bundle))
        ]
        subsets = np.unique(np.concatenate([scores.subsets, more]), axis=0) if more else None
        return scores if subsets is None else self._selection.set_scores.scored(subsets)

    def _best_by_part(self, together: bool) -> Indices:
        """The best set by the code of the features that it needs recorded; -1 where none does."""
        codes = np.zeros(len(self._missing), dtype=np.int64)
        codes[self.considered] = list(self._code.values())
        needs = self._missing[self._subsets]
        possible = ~(needs & (codes[self._subsets] == 0)).any(axis=1)
        if not together:
            possible &= needs.sum(axis=1) <= 1
        chosen = np.flatnonzero(possible)
        best = np.full(1 + sum(self._code.values()), -1)
        ascending = chosen[np.argsort(self._score[chosen], kind="stable")]
        best[codes[self._subsets[ascending]].sum(axis=1)] = ascending  # the highest comes last
        return best

    def best_set(self, recorded: Bundle, needed: Bundle = NOTHING) -> int | None:
        """The best set, were a bundle recorded, of those that hold some feature of `needed`."""
        every = NOTHING, *bundles(sorted(recorded), len(recorded))
        parts = [part for part in every if not needed or part & needed]
        sets = [int(self._best[sum(self._code[f] for f in part)]) for part in parts]
        return max((s for s in sets if s >= 0), key=self.score, default=None)

    def features(self, index: int) -> tuple[int, ...]:
        """The features of a set."""
        return tuple(self._subsets[index].tolist())

    def score(self, index: int | None) -> float:
        """The score of a set; where there is none, that of all recorded features."""
        return self._of_all if index is None else float(self._score[index])

    def interval(self, index: int) -> tuple[float, float]:
        """The interval of the score of a set."""
        return float(self._low[index]), float(self._high[index])

    def support(self, index: int) -> int:
        """What the score of a set rests on."""
        return int(self._support[index])

    def gains(self, recorded: Bundle, added: Sequence[Bundle]) -> dict[Bundle, tuple[Gain, int]]:
        """Gains from recording bundles on top of another, and the sets that would then be best."""
        # Bundles of which no set can hold a feature are left out.
        before = self.best_set(recorded)
        after = {bundle: self.best_set(recorded | bundle, needed=bundle) for bundle in added}
        there = {bundle: index for bundle, index in after.items() if index is not None}
        deviations = self._deviations(before, list(there.values()))
        ahead = [self.score(index) - self.score(before) for index in there.values()]
        most = float(self._selection.set_scores.measure.whole[self._cohort]) - self.score(before)
        shares, scores = self._informs, self._selection.set_scores
        if self._lists and not scores.listed().models[0].effects.like[self._cohort]:
            shares = shares * np.array(SET_APART)[:, None]
        sure = [shares[:, list(bundle)].min(axis=1).tolist() for bundle in there]
        return {
            bundle: (Gain(rise, deviation, max(most, rise), *informs), index)
            for (bundle, index), rise, deviation, informs in zip(
                there.items(), ahead, deviations, sure, strict=True
            )
        }

    @property
    def _lists(self) -> bool:
        """Whether sets can be scored one by one: of rows, of counts of a site, or of sums."""
        scores = self._selection.set_scores
        return scores.estimate.lists and not (
            scores.rows_withheld and scores.measure.tables is None
        )

    def _informing_shares(self) -> Floats:
        """In what share of subgroups features inform, and at least; whether subgroups differ."""
        # Roots of 2n times scores of d columns are normal around √(2nx + d - 1), x > 0 if a feature
        # informs, of any size. Shares are beta-distributed around that of all (empirical Bayes).
        scores, each = self._selection.set_scores, np.arange(len(self._missing))[:, None]
        own, rows = scores.scored(each).score, self._selection.cohorts.effective_sizes()
        fitted, differ = np.ones(own.shape), 1.0
        if self._lists:
            model = scores.listed().models[0]
            known, effects = model.evidence(each), model.effects
            own, rows, fitted = known.own, known.rows / known.unit, known.fitted
            spread, most = effects.spread[effects.like], effects.largest_spread[effects.like]
            differ = float(np.sqrt(spread / np.maximum(most, 1e-12))[0])
        free, twice = np.maximum(fitted - 1.0, 0.0), 2.0 * rows[:, None]
        root = np.sqrt(np.maximum(twice * np.nan_to_num(own) + free + 1.0, 0.0))
        explained = twice * scores.measure.whole[:, None] * STRENGTHS[:, None, None]
        centers = np.sqrt(explained + free), np.sqrt(free)
        variances = (1.0 + off**2 * explained for off in (VARIES, LITTLE))
        informs, fails = (
            np.logaddexp(*(-((root - side) ** 2) / (2.0 * v) for side in (c, -c))) - np.log(v) / 2.0
            for c, v in zip(centers, variances, strict=True)
        )
        ratio = np.where(self._selection.missing, 0.0, np.clip(informs - fails, -50.0, 300.0))
        odds = [np.logaddexp(np.log(p) + ratio, np.log1p(-p)).sum(axis=1) for p in SHARES]
        odds = [np.logaddexp.reduce([*one, *np.zeros_like(one)]) for one in odds]
        likely = np.exp(odds - np.max(odds, axis=0))
        alike = LIKE_OTHERS * SHARES[:, None]
        prior = SHARES ** (alike - 1.0) * (1.0 - SHARES) ** (LIKE_OTHERS - alike - 1.0)
        prior /= prior.sum(axis=1, keepdims=True)
        fits = prior @ likely  # of every share of all features, that of each
        weight = np.log(fits).sum(axis=1) + PRIOR * np.log(SHARES)
        posterior = likely * (prior.T @ (np.exp(weight - weight.max())[:, None] / fits))
        posterior /= posterior.sum(axis=0)
        least = SHARES[(posterior.cumsum(axis=0) < DOUBT).sum(axis=0)]
        return np.array([SHARES @ posterior, least, np.full(len(least), differ)])

    def _deviations(self, before: int | None, after: Sequence[int]) -> list[float]:
        confidence = self._selection.confidence
        if confidence is None:
            return [float("nan")] * len(after)
        if not self._lists:
            sure = _NORMAL.inv_cdf((1.0 + confidence) / 2.0)
            half = np.maximum(self._score - self._low, self._high - self._score) / sure
            of_own, of_sets = 0.0 if before is None else half[before], half[list(after)]
            shared = SHARED_ERROR * of_sets * of_own
            return list(np.sqrt(np.maximum(of_sets**2 + of_own**2 - 2 * shared, 0.0)))
        own = self._all if before is None else frozenset(self.features(before))
        sets = [frozenset(self.features(index)) for index in after]
        pairs = [(whole & own, whole) for whole in sets] + [(whole & own, own) for whole in sets]
        variances = self._variances_of_gain(pairs)
        joint = [variances[whole & own, whole] + variances[whole & own, own] for whole in sets]
        return list(np.sqrt(joint))

    def _variances_of_gain(
        self, pairs: Sequence[tuple[Bundle, Bundle]]
    ) -> dict[tuple[Bundle, Bundle], float]:
        """Of what whole sets explain beyond a part of each, all of one size at once."""
        listed = self._selection.set_scores.listed()
        found = dict.fromkeys(pairs, 0.0)
        for size in {(len(part), len(whole)) for part, whole in found if part != whole}:
            asked = [pair for pair in found if tuple(map(len, pair)) == size]
            parts, wholes = (np.array([sorted(p[i]) for p in asked]) for i in (0, 1))
            deviation = listed.deviation_of_gain(parts, wholes) if size[0] else listed.of(wholes)[1]
            found |= dict(zip(asked, (deviation[self._cohort] ** 2).tolist(), strict=True))
        return found

    def bounds(self, gain: Gain, before: int | None, after: int) -> tuple[float, float]:
        """The interval of a gain; bounds that are certain where scores have such."""
        if self._selection.confidence is not None:
            return gain.interval(self._selection.confidence)
        least = self.score(before)
        return max(0.0, self._low[after] - least), max(0.0, self._high[after] - least)

    def joined(self, before: int | None, feature: int) -> float:
        """The least that a feature adds to all but one feature of a set; NaN without a set."""
        if before is None:
            return float("nan")
        own, scored = self._subsets[before], self._selection.set_scores.scored
        parts = [np.delete(own, index) for index in range(len(own))]
        added = scored(np.array([np.sort(np.append(part, feature)) for part in parts])).score
        if len(own) > 1:
            added = added - scored(np.array(parts)).score
        return max(0.0, float(added[self._cohort].min()))

    def variation(self, before: int | None, after: int) -> tuple[float, float]:
        """How a gain that is counted from n rows varies: a / n + b / n²; NaN where not known."""
        if not self._lists:
            return float("nan"), float("nan")
        model, cohort = self._selection.set_scores.listed().models[0], self._cohort
        own = self._all if before is None else frozenset(self.features(before))
        whole = frozenset(self.features(after))
        by_rows = by_squares = 0.0
        for larger in (whole, own):
            if larger == whole & own:
                continue
            evidence = model.evidence(np.array([sorted(larger)]), [cohort])
            score, fitted = model.means(np.array([sorted(larger)]), cohort), evidence.fitted
            if whole & own:
                common = np.array([sorted(whole & own)])
                score = score - model.means(common, cohort)
                fitted = fitted - model.evidence(common, [cohort]).fitted
            by_rows += float(evidence.row_variance(np.maximum(score, 0.0)[None, :])[0, 0])
            by_squares += float(evidence.unit**2 * np.maximum(fitted, 0.0)[0, 0] / 2.0)
        return by_rows, by_squares

    def unsettled(self, index: int) -> tuple[tuple[str, ...], str]:
        """Two features of a set that nobody recorded together, and who should record both."""
        if self.support(index) != SINGLES:
            return (), ""
        return unsettled_pair(self._selection, self.features(index))


def bundles(features: Sequence[int], most: int = MOST_TOGETHER) -> Iterator[Bundle]:
    """One, two and more of some features, three at most unless asked otherwise."""
    for size in range(1, min(most, len(features)) + 1):
        yield from map(frozenset, combinations(features, size))


def unsettled_pair(selection: FitResult, members: Sequence[int]) -> tuple[tuple[str, ...], str]:
    """The first pair that no subgroup recorded together, and the subgroup nearest to doing so."""
    recorded, names = ~selection.missing, selection.feature_names
    rows = np.array([cohort.size for cohort in selection.cohorts])
    for a, b in combinations(members, 2):
        one, other = recorded[:, a], recorded[:, b]
        if not (one & other).any():
            nearest = np.lexsort((rows, one.astype(int) + other.astype(int)))[-1]
            return (names[a], names[b]), selection.cohorts.names[nearest]
    return (), ""


@dataclass(frozen=True)
class Worth:
    """What recording one feature would be worth to one subgroup.

    Its attributes are the columns that `Selection.worth_collecting` explains. Probabilities are NaN
    where intervals are certain bounds. `joined` is the least that the feature adds to all but one
    of the features of the best recorded set, NaN where there is no such set.
    """

    subgroup: str
    feature: str
    gain: float
    low: float
    high: float
    probability: float
    probability_of_a_tenth: float
    clear: bool
    rank: int
    before: float
    best_set: tuple[str, ...]
    joined: float
    support: str
    unsettled: tuple[str, ...] = ()
    settled_by: str = ""
    cost: float = 1.0
    gain_per_cost: float = float("nan")


def feature_worths(
    selection: FitResult,
    subgroup: str | None = None,
    size: int | None = None,
    costs: Mapping[str, Any] | None = None,
) -> list[Worth]:
    """What unrecorded features would be worth, best first (`Selection.worth_collecting`)."""
    prices, size = Costs(selection, costs), checked_size(selection, size)
    subgroups = explainable_subgroups(selection, subgroup)

    def worths_of_subgroups() -> list[Worth]:
        confidence, names = selection.confidence, selection.feature_names
        records: list[Worth] = []
        for name in subgroups:
            gains = RecordingGains(selection, name, size)
            own = gains.best_set(NOTHING)
            before = gains.score(own)
            worths: list[Worth] = []
            offers = gains.gains(NOTHING, [frozenset([feature]) for feature in gains.considered])
            for (feature,), (gain, index) in offers.items():
                pair, where = gains.unsettled(index)
                low, high = gains.bounds(gain, own, index)
                rises, cost = gain.informs * gain.exceeds(0.0), prices.of(name, feature)
                clear = low > 0
                if confidence is not None:  # also if features inform in some only, or differ
                    likely = gain.exceeds(0.0, DIFFER * gain.differ)
                    clear = gain.surely >= CLEAR and likely >= confidence
                worths.append(
                    Worth(
                        subgroup=name,
                        feature=names[feature],
                        gain=gain.expected,
                        low=min(low, gain.expected),
                        high=max(high, gain.expected),
                        probability=rises,
                        probability_of_a_tenth=gain.informs * gain.exceeds(0.1 * before),
                        clear=bool(clear),
                        rank=0,
                        before=before,
                        best_set=tuple(names[f] for f in gains.features(index)),
                        joined=gains.joined(own, feature),
                        support=SUPPORT[gains.support(index)],
                        unsettled=pair,
                        settled_by=where,
                        cost=cost,
                        gain_per_cost=gain.expected / cost,
                    )
                )
            worths.sort(key=lambda worth: -worth.gain_per_cost)
            records += [replace(worth, rank=rank) for rank, worth in enumerate(worths, start=1)]
        return records

    return selection.remembered(("worth", subgroup, size, prices.key), worths_of_subgroups)


class Costs:
    """What recording features costs, by feature, or by feature and subgroup."""

    def __init__(self, selection: FitResult, costs: Mapping[str, Any] | None) -> None:
        if costs is not None and not isinstance(costs, Mapping):
            raise MisfeatError(
                f"{Setting('costs', costs)}; it must map features to what recording them costs, "
                "such as {'mri': 400}, or to costs by subgroup."
            )
        self._costs: dict[str, Any] = {}
        for name, given in (costs or {}).items():
            feature_index(selection, name, "a feature with a cost")
            own = self._costs[name] = {}
            for place, cost in (given if isinstance(given, Mapping) else {"*": given}).items():
                key = place if place == "*" else selection.cohorts.full_name(place)
                own[key] = checked_cost(name, cost)
        self._selection = selection

    @property
    def key(self) -> tuple[Any, ...]:
        """What answers that depend on costs are kept by."""
        return tuple((name, *sorted(own.items())) for name, own in sorted(self._costs.items()))

    def of(self, subgroup: str, feature: int) -> float:
        """The cost of one feature in one subgroup."""
        given = self._costs.get(self._selection.feature_names[feature], {})
        return float(given.get(subgroup, given.get("*", 1.0)))

    def of_bundle(self, subgroup: str, bundle: Iterable[int]) -> float:
        """The cost of several features in one subgroup."""
        return sum(self.of(subgroup, feature) for feature in bundle)

    def usual(self) -> float:
        """The mean cost of all features that some subgroup did not record."""
        names, missing = self._selection.cohorts.names, np.argwhere(self._selection.missing)
        return float(np.mean([self.of(names[c], f) for c, f in missing])) if len(missing) else 1.0


def checked_cost(feature: str, cost: object) -> float:
    """What recording a feature costs; raises where that is not positive and finite."""
    number = isinstance(cost, int | float | np.number) and not isinstance(cost, bool)
    if not number or not 0 < cost < np.inf:  # type: ignore[operator]
        setting = Setting("costs", cost, column=feature)
        raise MisfeatError(f"{setting}; it must be above 0, and finite.")
    return float(cost)  # type: ignore[arg-type]
