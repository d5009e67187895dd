"""Two runs side by side: which answers differ by more than their uncertainty.

What is compared is in docs/answers/changes.md. The variance of a difference of shares is

    v = spread / n + spread' / n' + chance + chance'

with what `information.mutual_info` says of either run. A run of few rows whose set explains
nothing by chance would seem sure of it, so v is at least what it is with the spread of both runs
together. Chance is a chi-square, whose tails are heavy: the difference has those of a Student
distribution with the same fourth moment, of 4 + 6 v² / (12 chance² / freedom + 12 chance'² /
freedom') degrees of freedom.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from misfeat.answers.selection_base import FitResult, check_size, frame_of
from misfeat.answers.set_contrasts import Estimated, difference
from misfeat.answers.top_sets import best_sets
from misfeat.exceptions import MisfeatError, check_count
from misfeat.information.measures import adjusted_correlation
from misfeat.information.mutual_info import SampledShare, sampled_share
from misfeat.messages import Message, Setting, listed
from misfeat.number_formatting import (
    count_words,
    joined,
    p_words,
    percent,
    percent_between,
    percent_decimals,
)

Runs = tuple[FitResult, FitResult]
USUAL_CONFIDENCE = 0.9  # where neither run has one
RECORDED, PREDICTED = "recorded", "predicted"
NEARLY_NORMAL = 1e9  # degrees of freedom of a Student distribution that is as good as normal
ALONE, BEST_OF_BOTH = "alone", "best set of both runs"
BEST_OF_FIRST, BEST_OF_SECOND = "best set of the first run", "best set of the second run"
MOST_SETS = 3  # of a subgroup that a sentence names
MOST_NAMED = 10  # names in a note


@dataclass(frozen=True)
class Change:
    """What one set explains in two runs.

    `asked` says why it is looked at: ``"alone"``, ``"best set of the first run"``, of the second,
    of both. Shares of the entropy are of the subgroup's own rows less chance; the interval and
    p-value of their difference, second less first, hold for all sets of the subgroup at once. A set
    `changed` where the interval lacks 0. Scores are in the measure's unit, NaN where classes of the
    target differ; the source is ``"predicted"`` where either run had to predict it.
    """

    subgroup: str
    features: tuple[str, ...]
    asked: str
    first: float
    first_low: float
    first_high: float
    second: float
    second_low: float
    second_high: float
    difference: float
    low: float
    high: float
    p_value: float
    changed: bool
    first_score: float
    second_score: float
    source: str


@dataclass(frozen=True)
class SubgroupChange:
    """What became of one subgroup.

    `sets` were compared, of which some `changed`. The p-value is the least of its sets, right for
    having looked at all of them, NaN where none was compared, and `adjusted` right for having
    looked at all subgroups (Holm). `told_apart` says whether the second run's best set explains
    more there than that of the first.
    """

    subgroup: str
    first_rows: int
    second_rows: int
    sets: int
    changed: int
    p_value: float
    adjusted: float
    first_best: tuple[str, ...]
    second_best: tuple[str, ...]
    told_apart: bool
    sentence: Message


@dataclass(frozen=True)
class Comparison:
    """Two runs, side by side.

    `size` is that of the best sets. `changes` has every set, subgroup by subgroup, changed ones
    first, and `subgroups` the subgroups of both runs. `notes` say what a reader should know:
    subgroups and features of one run only, features coded otherwise, other classes, …
    Frames come in the library `backend`, by default any installed one.
    """

    names: tuple[str, str]
    target: str
    unit: str
    size: int
    confidence: float
    changes: tuple[Change, ...]
    subgroups: tuple[SubgroupChange, ...]
    notes: tuple[Message, ...]
    backend: str | None

    @property
    def changed(self) -> tuple[Change, ...]:
        """The sets that changed by more than their uncertainty."""
        return tuple(one for one in self.changes if one.changed)

    def sentences(self) -> list[Message]:
        """One sentence for the whole, one for every subgroup, then what a reader should know."""
        return [self.summary(), *(one.sentence for one in self.subgroups), *self.notes]

    def summary(self) -> Message:
        """The answer in one sentence."""
        return summary_of(self.subgroups, self.changes)

    def to_frame(self) -> Any:
        """Every set that was compared, a line each; columns are the attributes of `Change`."""
        return frame_of(Change, self.changes, self.backend)

    def subgroups_to_frame(self) -> Any:
        """A line a subgroup; columns are the attributes of `SubgroupChange`."""
        return frame_of(SubgroupChange, self.subgroups, self.backend)


def compare_selections(
    first: FitResult,
    second: FitResult,
    *,
    size: int | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """Which answers of two runs differ by more than their uncertainty."""
    runs = first, second
    for name in ("measure", "estimate"):
        used = [getattr(run.set_scores, name).name for run in runs]
        if used[0] != used[1]:
            raise MisfeatError(
                f"The first run has {Setting(name, used[0])}, the second "
                f"{Setting(name, used[1])}; their scores cannot be compared.",
                remedy="Fit one of them again as the other.",
            )
    targets = first.cohorts.target, second.cohorts.target
    if targets[0] != targets[1]:
        raise MisfeatError(
            f"The first run is about {targets[0]!r}, the second about {targets[1]!r}, which is "
            "another question, not a change; look at the answers of each by itself."
        )
    size = min(first.size, second.size) if size is None else size
    check_count(size, "size")
    features = tuple(name for name in first.feature_names if name in second.feature_names)
    if not features:
        raise MisfeatError(
            f"The runs have no feature in common: the first has {listed(first.feature_names)}, "
            f"the second {listed(second.feature_names)}.",
            remedy="Compare runs of tables that share columns.",
        )
    check_size(size, features, first.cohorts)
    of_first, of_second = (run.cohorts.names for run in runs)
    common = tuple(name for name in of_second if name in of_first)
    if not common:
        raise MisfeatError(
            f"The runs have no subgroup in common: the first has {listed(of_first)}, the second "
            f"{listed(of_second)}.",
            remedy=f"Fit both with the same {Setting('groups')}.",
        )
    given = [run.confidence for run in runs if run.confidence is not None]
    confidence = max(given, default=USUAL_CONFIDENCE)
    compared = [_subgroup_change(runs, name, features, size, confidence) for name in common]
    p_values = np.array([one.p_value for one, _ in compared])
    n_tested = int(np.isfinite(p_values).sum())
    order = np.argsort(p_values)[:n_tested]  # Holm's p-values, right for all subgroups at once
    adjusted = np.maximum.accumulate(p_values[order] * (n_tested - np.arange(n_tested)))
    p_values[order] = np.minimum(adjusted, 1.0)
    subgroups = []
    for (one, changes), p in zip(compared, p_values.tolist(), strict=True):
        among = n_tested if p > 1.0 - confidence else None
        sentence = subgroup_in_words(one, changes, among)
        subgroups.append(replace(one, adjusted=p, sentence=sentence))
    return Comparison(
        names=names,
        target=targets[0],
        unit=first.set_scores.measure.unit,
        size=size,
        confidence=confidence,
        changes=tuple(change for _, changes in compared for change in changes),
        subgroups=tuple(subgroups),
        notes=tuple(notes_on(runs, common, size, confidence)),
        backend=first.options.backend,
    )


def _subgroup_change(
    runs: Runs, subgroup: str, features: Sequence[str], size: int, confidence: float
) -> tuple[SubgroupChange, list[Change]]:
    """What became of a subgroup, and of every set that was looked at, changed ones first."""
    sets: dict[tuple[str, ...], str] = {(name,): ALONE for name in features}
    best: list[tuple[str, ...]] = []
    for run, why in zip(runs, (BEST_OF_FIRST, BEST_OF_SECOND), strict=True):
        ranked = best_sets(run, size, 1, subgroup)
        members = ranked[0].features if ranked else ()  # where the target has a single value
        best.append(members)
        common = tuple(name for name in features if name in members)
        if len(common) == len(members) > 1:
            sets[common] = BEST_OF_BOTH if common in sets else why
    first, second = best
    both = bool(first and second)
    changes = [
        _change(runs, subgroup, one, why, len(sets), confidence)
        for one, why in (sets.items() if both else ())
    ]
    changes.sort(key=lambda one: (not one.changed, -abs(one.difference)))
    told_apart = False
    if both and set(first) != set(second) and set(first) <= set(runs[1].feature_names):
        told_apart = not difference(runs[1], subgroup, second, first).may_be_nothing
    change = SubgroupChange(
        subgroup=subgroup,
        first_rows=runs[0].cohorts[subgroup].size,
        second_rows=runs[1].cohorts[subgroup].size,
        sets=len(changes),
        changed=sum(one.changed for one in changes),
        p_value=min((one.p_value for one in changes), default=np.nan),
        adjusted=np.nan,
        first_best=first,
        second_best=second,
        told_apart=told_apart,
        sentence=Message(""),
    )
    return change, changes


def _change(
    runs: Runs, subgroup: str, features: tuple[str, ...], why: str, among: int, confidence: float
) -> Change:
    """What a set explains in both runs; intervals hold for `among` sets at once."""
    first, second = shares = [explained_share(run, subgroup, features) for run in runs]
    scores = [np.nan, np.nan]
    if same_classes(runs):
        wholes = [run.set_scores.measure.whole[run.cohorts.position(subgroup)] for run in runs]
        scores = [one.share * float(whole) for one, whole in zip(shares, wholes, strict=True)]
    (value, low, high), p_value = difference_of(first, second, confidence, among)
    return Change(
        subgroup=subgroup,
        features=features,
        asked=why,
        **first.interval(confidence).named("first"),
        **second.interval(confidence).named("second"),
        difference=value,
        low=low,
        high=high,
        p_value=min(p_value * among, 1.0),
        changed=low > 0 or high < 0,
        first_score=scores[0],
        second_score=scores[1],
        source=PREDICTED if PREDICTED in (first.source, second.source) else RECORDED,
    )


@dataclass(frozen=True)
class ExplainedShare:
    """The share of the target's entropy that a set explains in a subgroup of one run, at least 0.

    `deviation` is the standard deviation of its error, and `sampled` how that of own rows varies.
    """

    share: float
    sampled: SampledShare | None
    deviation: float
    source: str

    def interval(self, confidence: float) -> Estimated:
        """The share with its bounds, within 0 and 1."""
        freedom = _freedom(() if self.sampled is None else (self.sampled,), self.deviation**2)
        reach = float(stdtrit(freedom, (1.0 + confidence) / 2.0)) * self.deviation
        low, high = max(self.share - reach, 0.0), min(self.share + reach, 1.0)
        return Estimated(self.share, min(low, self.share), max(high, self.share))


def difference_of(
    first: ExplainedShare, second: ExplainedShare, confidence: float = 0.9, among: int = 1
) -> tuple[Estimated, float]:
    """By how much a set explains more in the second run than in the first, and the p-value of that.

    Bounds hold for `among` differences at once (Bonferroni).
    """
    sampled = [one.sampled for one in (first, second) if one.sampled is not None]
    variance = first.deviation**2 + second.deviation**2
    if len(sampled) == 2:  # the variance, were both runs of one population
        rows = [one.n_rows for one in sampled]
        spread = (sampled[0].spread * rows[0] + sampled[1].spread * rows[1]) / (rows[0] + rows[1])
        chance = sampled[0].chance, sampled[1].chance
        variance = max(variance, spread / rows[0] + spread / rows[1] + chance[0] + chance[1])
    value, deviation = second.share - first.share, float(np.sqrt(variance))
    freedom, sure = _freedom(sampled, variance), 1.0 - (1.0 - confidence) / among
    reach = float(stdtrit(freedom, (1.0 + sure) / 2.0)) * deviation
    p_value = float(2.0 * stdtr(freedom, -abs(value) / deviation)) if deviation > 0 else 1.0
    return Estimated(value, value - reach, value + reach), p_value


def _freedom(sampled: Sequence[SampledShare], variance: float) -> float:
    """Degrees of freedom of the Student distribution whose fourth moment an error has."""
    fourth = sum(12.0 * one.chance**2 / max(one.freedom, 1.0) for one in sampled)
    return 4.0 + min(6.0 * variance**2 / fourth, NEARLY_NORMAL) if fourth > 0 else NEARLY_NORMAL


def explained_share(run: FitResult, subgroup: str, features: Sequence[str]) -> ExplainedShare:
    """The share that a set explains in a subgroup: by its own rows, else as the run shows it."""
    members = sorted(run.feature_names.index(name) for name in features)
    cohort = run.cohorts.position(subgroup)
    if not run.missing[cohort, members].any():
        sampled = _sampled(run, cohort, members)
        if sampled is not None:
            deviation = float(np.sqrt(sampled.spread / sampled.n_rows + sampled.chance))
            return ExplainedShare(max(sampled.share, 0.0), sampled, deviation, RECORDED)
    scores, whole = run.set_scores.scored(np.array([members])), run.set_scores.measure.whole[cohort]
    score, low, high = (
        float(part[cohort, 0]) / float(whole) for part in (scores.score, scores.low, scores.high)
    )
    wide = max(high - score, score - low)
    if run.confidence is not None:
        wide /= float(ndtri((1.0 + run.confidence) / 2.0))
    predicted = bool(scores.predicted[cohort, 0])
    if not predicted and not run.set_scores.estimate.above_chance:
        estimate = Setting("estimate", run.set_scores.estimate.name)
        raise MisfeatError(
            f"A run with {estimate} knows nothing of what chance would score in so few rows, so "
            "nobody knows how sure its scores are.",
            remedy=f"Fit it again with {Setting('estimate', 'population')}.",
        )
    return ExplainedShare(score, None, wide, PREDICTED if predicted else RECORDED)


def _sampled(run: FitResult, cohort: int, members: list[int]) -> SampledShare | None:
    """The share of the rows, less chance, and how it varies."""
    measure, size = run.set_scores.measure, len(members)
    if measure.rows is not None:
        return sampled_share(measure.rows.with_cells().at(cohort), members)
    if measure.sums is None or measure.sums.rows[cohort] <= size + 1:
        return None
    n_rows, products = int(measure.sums.rows[cohort]), measure.sums.products[cohort]
    share = float(adjusted_correlation(products, np.array([members]), n_rows)[0])
    left = (1.0 - max(share, 0.0)) ** 2
    spread, chance = left * 4.0 * max(share, 0.0), left * 2.0 * size / n_rows**2
    return SampledShare(share, float(n_rows), spread, chance, float(size))


def summary_of(subgroups: Sequence[SubgroupChange], changes: Sequence[Change]) -> Message:
    """One sentence for all subgroups: in how many nothing changed, and the clearest change."""
    compared = [one for one in subgroups if one.sets]
    changed = sorted((one for one in compared if one.changed), key=lambda one: one.p_value)
    left = len(compared) - len(changed)
    if not compared:
        return Message("No subgroup could be compared.")
    if len(compared) == 1:
        return compared[0].sentence
    if not changed:
        return Message(f"There is no evidence of a change in any of {len(compared)} subgroups.")
    clearest = changed[0].subgroup
    own = [one for one in changes if one.changed and one.subgroup == clearest]
    before = f"There is no evidence of a change in {left} of {len(compared)} subgroups; in "
    more = f", the clearest of {count_words(len(changed), 'such subgroup')}"
    return Message(
        f"{before if left else 'In '}{{where}}, {{what}}{more if len(changed) > 1 else ''}.",
        where=clearest,
        what=changes_in_words(own),
    )


def subgroup_in_words(
    one: SubgroupChange, changes: Sequence[Change], among: int | None = None
) -> Message:
    """What became of one subgroup; chance may do as much in one `among` so many subgroups."""
    if not one.sets:
        both = not one.first_best and not one.second_best
        which = "both runs" if both else f"the {'second' if one.first_best else 'first'} run"
        return Message(
            f"In {{subgroup}}, the target has a single value in {which}.", subgroup=one.subgroup
        )
    changed = [change for change in changes if change.changed]
    doubt = f", which chance may do in one of {among} subgroups" if changed and among else ""
    nothing = Message(f"there is no evidence of a change ({p_words(one.p_value)})")
    before, now = joined(one.first_best), joined(one.second_best)
    most = "explain most" if len(one.second_best) > 1 else "explains most"
    best = f"{{now}} {most}, before it was {{before}}"
    if set(one.first_best) == set(one.second_best):
        best = f"{{now}} {most} in both runs"
    elif not one.told_apart:
        best += ", but there is no evidence that either explains more"
    return Message(
        f"In {{subgroup}}, {{what}}{doubt}; {best}.",
        subgroup=one.subgroup,
        what=changes_in_words(changed) if changed else nothing,
        before=before,
        now=now,
    )


def changes_in_words(changed: Sequence[Change]) -> Message:
    """What changed in one subgroup, the clearest first; single features rather than larger sets."""
    alone = [one for one in changed if one.asked == ALONE]
    clearest = sorted(alone or changed, key=lambda one: (one.p_value, -abs(one.difference)))
    parts = []
    for number, one in enumerate(clearest[:MOST_SETS]):
        of = "" if number else " of the uncertainty"
        predicted = " (predicted)" if one.source == PREDICTED else ""
        explain = "explain" if len(one.features) > 1 else "explains"
        part = Message(
            f"{{names}}{predicted} {explain} {{second}}{of} instead of {{first}}",
            names=joined(one.features),
            first=Message(share_in_words(one.first, one.first_low, one.first_high)),
            second=Message(share_in_words(one.second, one.second_low, one.second_high)),
        )
        parts.append(part)
    left = len(clearest) - len(parts)
    if left:
        more = count_words(left, "more feature" if alone else "more set")
        parts.append(Message(f"{more} changed"))
    return joined(parts)


def share_in_words(share: float, low: float, high: float) -> str:
    """A share with its interval."""
    between = f" ({percent_between(low, high)})" if low < high else ""
    return percent(share, low, high) + between


def points_in_words(difference: float, low: float, high: float) -> str:
    """A difference of shares in points of per cent, with digits enough to see it is not 0."""
    digits = percent_decimals(low, high)
    nearest = min(abs(low), abs(high)) if low > 0 or high < 0 else 0.0
    while nearest and digits < 4 and not round(100 * nearest, digits):
        digits += 1
    value, least, most = (f"{100 * number:+.{digits}f}" for number in (difference, low, high))
    return f"{value} ({least} to {most})"


def same_classes(runs: Runs) -> bool:
    """Whether two runs are about the same classes of the target, so that scores compare."""
    first, second = (run.cohorts for run in runs)
    same = first.is_number == second.is_number and first.classes == second.classes
    same &= first.horizons == second.horizons
    return same or runs[0].set_scores.measure.name == "r2"


def notes_on(runs: Runs, common: Sequence[str], size: int, confidence: float) -> Iterator[Message]:
    """What a reader should know: what only one run has, and where the runs are not alike."""
    first, second = runs
    renamed = "; they are not compared. A feature that was renamed counts as two."
    for kind, (own, others), then in (
        ("Subgroups", [run.cohorts.names for run in runs], "."),
        ("Features", [run.feature_names for run in runs], renamed),
    ):
        for which, names, known in (("first", own, others), ("second", others, own)):
            only = [name for name in names if name not in known]
            if only:
                template = f"{kind} of the {which} run only: {{names}}{then}"
                yield Message(template, names=joined(only, most=MOST_NAMED))
    if not same_classes(runs):
        yield _note_on_target(first, second)
    yield from _notes_on_coding(first, second)
    if first.size != second.size:
        yield Message(
            f"The best sets of the runs have {first.size} and {second.size} features; those of "
            f"{size} are compared."
        )
    each = (("first", first), ("second", second))
    withheld = [which for which, run in each if run.set_scores.rows_withheld]
    if withheld:
        yield Message(
            "The {which} run keeps no rows: its shares are those it shows, and what changed in one "
            "subgroup alone is harder to see.",
            which=joined(withheld),
        )
    else:
        yield Message(
            "Shares are of each subgroup's own rows, less what chance alone would score; they may "
            "differ from those in the tables of the runs."
        )
    if len(common) > 1:
        by_chance = max(round((1 - confidence) * len(common)), 1)
        yield Message(
            f"Where nothing changed, on average at most {by_chance} of {len(common)} subgroups "
            f"{'seems' if by_chance == 1 else 'seem'} to differ by chance."
        )


def _note_on_target(first: FitResult, second: FitResult) -> Message:
    one, other = first.cohorts, second.cohorts
    sentence = (
        "The target {target} has other classes in the second run: {second} instead of {first}."
    )
    if one.is_number != other.is_number:
        sentence = (
            "The target {target} is taken as a number in one run, and in classes in the other; fit "
            "both with the same {kind}."
        )
    elif one.horizons or other.horizons:
        sentence = "The event is looked at by other horizons in the second run; give both the same."
    elif one.is_number:
        sentence = "The target {target} is a number that each run cuts at ranks of its own values."
    return Message(
        f"{sentence} Shares of the uncertainty are compared.",
        target=one.target,
        kind=Setting("target"),
        first=joined(one.classes, most=MOST_NAMED),
        second=joined(other.classes, most=MOST_NAMED),
    )


def _notes_on_coding(first: FitResult, second: FitResult) -> Iterator[Message]:
    """Features of the same name whose values mean something else."""
    if first.set_scores.measure.name == "r2":
        return  # reads the numbers themselves
    audits = {audit.column: audit for audit in first.cohorts.columns}
    recoded = []
    for now in second.cohorts.columns:
        before, name = audits.get(now.column), now.column
        if before is None or name not in first.feature_names or name not in second.feature_names:
            continue
        if before.treatment != now.treatment:
            about = {"name": name, "now": now.treatment, "before": before.treatment}
            recoded.append(Message("{name} ({now}, not {before})", **about))
        elif (before.edges, before.categories) != (now.edges, now.categories):
            recoded.append(Message("{name}", name=name))
    if recoded:
        yield Message(
            "Coded otherwise in the second run: {features}. What changed there may be the coding; "
            "give both runs the same cut points to rule it out.",
            features=joined(recoded, most=MOST_NAMED),
        )
