"""What may mislead in an answer: what a reader should know before showing it around."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from statistics import NormalDist, median
from typing import Any

import numpy as np

from misfeat.answers.caution import MOST_NAMED, SEVERITIES, Caution, together
from misfeat.answers.leaks import informative_gaps, leaks, missing_patterns
from misfeat.answers.recording_gains import unsettled_pair
from misfeat.answers.redundant_features import derived_numbers, duplicates
from misfeat.answers.selection_base import FitResult
from misfeat.answers.skip_patterns import missing_by_rule
from misfeat.answers.top_sets import ScoredSet, best_sets
from misfeat.cohorts import Cohorts
from misfeat.cohorts.column_coding import AS_IT_IS, OF_CODEBOOK
from misfeat.cohorts.column_profiles import DATE, FREE_TEXT, IDENTIFIER
from misfeat.cohorts.subgroups import sufficient_rows
from misfeat.cohorts.target_coding import CLASSES, NUMBER
from misfeat.cohorts.weights import weights_of
from misfeat.completion.completer_data import SINGLES, SUPPORT
from misfeat.estimation.pooling import FEW_COHORTS
from misfeat.estimation.score_estimate import POPULATION, SAMPLE
from misfeat.estimation.shortlist import Shortlist
from misfeat.messages import Message, Setting, listed
from misfeat.number_formatting import count_words, percent, percent_between
from misfeat.runtime.array_types import Floats
from misfeat.runtime.progress import long_work

LOOKING = "Looking for what may mislead"
LITTLE = 0.02  # a best set that explains a smaller share of the target explains next to nothing
WHOLE = 0.95  # a set that explains so much of the target nearly determines it
LEAST_CASES = 50  # rows of the rarer class below which the order of sets is easily chance
UNLIKE_LEVEL = 0.01  # how likely chance makes any small subgroup look unlike the others
ELSEWHERE_LEVEL = 0.05  # how likely it makes the few cases of one point elsewhere
ELSEWHERE = 0.1  # of the uncertainty: nearer to the estimate they do not
SMALL = 0.5  # a subgroup with fewer rows than this share of the mean borrows much strength
HEAVY = 0.1  # a row with this share of the weight of a class decides much by itself
LIKE_EVENTS = re.compile(
    r"(?i:(^|[ _.])(status|event|fustat|cens|censor(ed)?|dead|died|death|recur|recurrence|relapse|"
    r"fail|failed|failure|churn|churned)$)"
)
LIKE_TIMES = re.compile(
    r"(?i:(time|tenure|duration|days|months|survival|follow[ _.-]?up)$|^(time|survival|follow))"
)
RARE, ENOUGH_FOR_CLASS = 2, 100  # rows of a class, and of all classes
SCALE = 6  # whole numbers that are classes: so many may be counts, or a scale
MOSTLY = 0.5  # the share of the rows of a subgroup that lack a feature that is mostly missing
ENOUGH_ROWS = 30  # in a subgroup with fewer rows a feature may well have a single value


def list_cautions(selection: FitResult, size: int | None = None) -> list[Caution]:
    """What may mislead in the answers of a selection, worst first (`Selection.cautions`)."""
    best = best_sets(selection, size, k=1)
    cohorts, scores = selection.cohorts, selection.set_scores
    measure, estimate = scores.measure, scores.estimate.name
    with long_work(selection.verbose > 0) as progress:
        progress(LOOKING, 0, 1)
        cautions = [
            *left_out(selection.shortlist, cohorts),
            *_single_values(cohorts),
            *_mostly_missing(cohorts),
            *_combinations(cohorts, best, estimate == SAMPLE and measure.name == "mutual_info"),
            *_few_rows(cohorts),
            *_few_cases(cohorts),
            *_heavy_rows(cohorts),
            *_follow_up(cohorts),
            *_rare_classes(cohorts),
            *_few_subgroups(cohorts, estimate),
            *_unlike(selection),
            *_next_to_nothing(cohorts, best),
            *_recorded_apart(selection, best),
            *_joined_subgroups(cohorts),
            *_codes_for_missing(cohorts),
            *_odd_columns(cohorts),
            *_cut_target(cohorts, best, measure.name),
        ]
        if not scores.rows_withheld:
            telling = [*leaks(cohorts), *missing_patterns(cohorts)]
            suspects = {one.columns[0] for one in telling}
            cautions += telling
            cautions += _determined_by_sets(best, suspects)
            cautions += informative_gaps(cohorts, suspects)
            cautions += duplicates(cohorts)
            cautions += derived_numbers(cohorts)
            rules = missing_by_rule(cohorts)  # a column that gives the target away makes no rule
            cautions += [rule for rule in rules if rule.columns[-1] not in suspects]
        progress(LOOKING, 1, 1)
    return sorted(together(cautions), key=lambda one: SEVERITIES.index(one.severity))


def _single_values(cohorts: Cohorts) -> Iterator[Caution]:
    """Features with one value in a subgroup, and several elsewhere: a code for missing, perhaps."""
    values = np.array(
        [[len(np.unique(row[row >= 0])) for row in cohort.codes] for cohort in cohorts]
    )
    enough = np.array([cohort.size >= ENOUGH_ROWS for cohort in cohorts])
    # Of codes for missing more is said; an identifier has a single bin of many values.
    others = {a.column for a in cohorts.columns if a.suspects or a.looks_like == IDENTIFIER}
    single = (values == 1) & (values.max(axis=0) > 1) & ~cohorts.missing & enough[:, None]
    for feature in np.flatnonzero(single.any(axis=0)):
        where = [cohorts.names[i] for i in np.flatnonzero(single[:, feature])]
        name = cohorts.features[feature]
        if name not in others:
            yield Caution.of(
                "single value",
                columns=(name,),
                subgroups=where,
                missing=Setting("missing_values", column=name),
            )


def _mostly_missing(cohorts: Cohorts) -> Iterator[Caution]:
    """Features that most rows of a subgroup lack, though it counts as recording them."""
    rows = np.array([cohort.size for cohort in cohorts])
    lacks = (cohorts.recorded_shares().T <= 1.0 - MOSTLY) & (rows >= ENOUGH_ROWS)
    mostly: Any = lacks & ~cohorts.missing.T & ~lacks.all(axis=1, keepdims=True)
    names, where = (
        [name for name, own in zip(all_, lines, strict=True) if own.any()]
        for all_, lines in ((cohorts.features, mostly), (cohorts.names, mostly.T))
    )
    if names:
        yield Caution.of(
            "mostly missing",
            columns=names,
            subgroups=where,
            names=listed(names, MOST_NAMED),
            are="is" if len(names) == 1 else "are",
            threshold=Setting("missing_threshold", MOSTLY),
        )


def _combinations(cohorts: Cohorts, best: Sequence[ScoredSet], plug_in: bool) -> Iterator[Caution]:
    """Subgroups in which a set has more combinations of values than there are rows."""
    values = dict(zip(cohorts.features, map(len, cohorts.categories), strict=True))
    small = {}
    for one in best if plug_in else ():
        cells = prod(values[feature] for feature in one.features) * len(cohorts.classes)
        if cohorts[one.subgroup].effective_size < cells:
            small[one.subgroup] = cells
    if small:
        yield Caution.of("combinations", subgroups=small, cells=max(small.values()))


def _few_rows(cohorts: Cohorts) -> Iterator[Caution]:
    """Subgroups that were kept, though so few rows tell no pair from chance."""
    by_class = np.bincount(cohorts.target_codes, weights=cohorts.counts)
    floor = sufficient_rows([len(labels) for labels in cohorts.categories], by_class)
    small = [cohort.name for cohort in cohorts if cohort.effective_size < floor]
    weighted = cohorts.effective is not None
    if small:
        yield Caution.of(
            "few rows",
            f"Fewer than {floor:,} rows{' of equal weight' if weighted else ''} in {{where}}, too "
            "few to distinguish a pair of features from chance.",
            subgroups=small,
        )


def _rarer_rows(cohorts: Cohorts) -> list[int]:
    """Rows beside the commonest class; of a number all, of a time events or rows without."""
    if cohorts.horizons:
        cohorts = replace(cohorts.at_horizon(-1), masses=None)
    held = (np.bincount(cohort.target, cohort.weights, minlength=1) for cohort in cohorts)
    if cohorts.is_number:
        return [int(rows.sum() * (rows.max() < rows.sum())) for rows in held]
    return [int(rows.sum() - rows.max()) for rows in held]


def _few_cases(cohorts: Cohorts) -> Iterator[Caution]:
    """Subgroups in which few rows differ from the others, and such in which none does."""
    rarer = dict(zip(cohorts.names, _rarer_rows(cohorts), strict=True))
    counts = {name: rows for name, rows in rarer.items() if 0 < rows < LEAST_CASES}
    single = [name for name, rows in rarer.items() if rows == 0]
    if counts:
        rare = "of the rarer class" if len(cohorts.classes) == 2 else "beside the commonest class"
        if cohorts.horizons:
            rare = "with the event, or without it, by the last horizon"
        rare = "with a value" if cohorts.is_number else rare
        yield Caution.of(
            "few cases",
            f"Few rows {rare} of {{column!r}}, {min(counts.values())} at the fewest, in {{where}}; "
            "take the order of sets there with care.",
            columns=(cohorts.target,),
            subgroups=counts,
        )
    if single:
        yield Caution.of("one class", columns=(cohorts.target,), subgroups=single)


def _heavy_rows(cohorts: Cohorts) -> Iterator[Caution]:
    """Subgroups in which a single row carries much of the weight of a class."""
    heavy: dict[str, float] = {}
    for cohort in cohorts if cohorts.masses is not None and not cohorts.horizons else ():
        rows, masses, heaviest = weights_of(cohort)
        for one in np.unique(cohort.target):
            own = cohort.target == one
            share = float(heaviest[own].max() / masses[own].sum(dtype=np.float64))
            if rows[own].sum() >= LEAST_CASES and share >= HEAVY:
                heavy[cohort.name] = max(share, heavy.get(cohort.name, 0.0))
    if heavy:
        yield Caution.of(
            "heavy row",
            columns=(cohorts.target,),
            subgroups=heavy,
            share=percent(max(heavy.values()), 0.0, 1.0),
        )


def _follow_up(cohorts: Cohorts) -> Iterator[Caution]:
    """Times beside a target that looks like their event, times and events beside a time."""
    binned = {audit.column for audit in cohorts.columns if audit.edges}
    times = [*filter(LIKE_TIMES.search, filter(binned.__contains__, cohorts.features))]
    which = Message(", if that is the event that it ends with," if len(times) > 1 else "")
    kind = "follow-up"
    if cohorts.horizons:
        values = dict(zip(cohorts.features, map(len, cohorts.categories), strict=True))
        times += [name for name in filter(LIKE_EVENTS.search, values) if values[name] == 2]
        kind = "other follow-up"
    elif len(cohorts.classes) != 2 or not LIKE_EVENTS.search(cohorts.target):
        return
    for name in times:
        out = Setting("exclude", [name])
        yield Caution.of(kind, columns=(name,), target=cohorts.target, exclude=out, which=which)


def _rare_classes(cohorts: Cohorts) -> Iterator[Caution]:
    """Values of the target that so few rows have that they may be typing errors."""
    rows = np.bincount(cohorts.target_codes, cohorts.counts, len(cohorts.classes))
    if cohorts.is_number or cohorts.horizons:
        return
    whole = [int(one) for one in cohorts.classes if one.isdecimal()]
    if len(whole) == len(rows) >= SCALE and max(whole) - min(whole) < 2 * len(rows):
        number = Setting("target", NUMBER)
        yield Caution.of("scale", columns=(cohorts.target,), n=len(rows), number=number)
    elif rows.sum() >= ENOUGH_FOR_CLASS:
        for code in np.flatnonzero((rows > 0) & (rows <= RARE)):
            value, few = cohorts.classes[code], count_words(rows[code], "row")
            yield Caution.of("rare class", columns=(cohorts.target,), value=value, rows=few)


def _few_subgroups(cohorts: Cohorts, estimate: str) -> Iterator[Caution]:
    """Too few subgroups to learn from how much they differ."""
    if estimate != POPULATION or len(cohorts) > FEW_COHORTS:
        return
    sentence = ""
    if len(cohorts) == 1:
        sentence = "There is one subgroup only: its scores were shrunk by its own rows, with no "
        sentence += "other subgroup to compare with."
    yield Caution.of("few subgroups", sentence, subgroups=cohorts.names, n=len(cohorts))


def _unlike(selection: FitResult) -> Iterator[Caution]:
    """Subgroups whose own rows contradict what all subgroups together say."""
    cohorts, scores = selection.cohorts, selection.set_scores
    if not scores.estimate.lists or scores.rows_withheld or len(cohorts) == 1:
        return
    rows, whole = cohorts.effective_sizes(), scores.measure.whole
    small = rows < SMALL * rows.mean()

    def contradictions() -> list[Floats]:
        parts = [model.contradictions() for model in scores.listed().models]
        return [np.mean(one, axis=0) for one in zip(*parts, strict=True)]

    deviations, own, expected, like = selection.remembered(("contradictions",), contradictions)
    least = -NormalDist().inv_cdf(UNLIKE_LEVEL / (2.0 * max(1, small.sum() * deviations.shape[1])))
    elsewhere = -NormalDist().inv_cdf(ELSEWHERE_LEVEL / 2.0)
    single = selection.completed(1)
    order = np.argsort(single.subsets[:, 0])
    for k, (cohort, cases) in enumerate(zip(cohorts, _rarer_rows(cohorts), strict=True)):
        if whole[k] <= 0:
            continue
        score, low, high = (
            one[k, order] / whole[k] for one in (single.score, single.low, single.high)
        )
        alone, expects, off = own[k] / whole[k], expected[k] / whole[k], np.abs(deviations[k])
        f = int(np.argmax(off))
        if like[k] < 0.5:
            yield Caution.of(
                "unlike",
                f"Subgroup {{where}} ({cohort.size:,} rows) differs from the others more than "
                "these differ from each other: {column!r} explains "
                f"{percent(max(alone[f], 0.0), 0, 1)} of the uncertainty in its rows, on which its "
                f"scores rest; the others lead to expect {percent(expects[f], 0, 1)}.",
                "Read it by itself: others hardly tell what it did not record would explain there.",
                columns=(scores.measure.features[f],),
                subgroups=(cohort.name,),
            )
            continue
        if not small[k] or off[f] <= least or abs(alone[f] - expects[f]) < LITTLE:
            f = int(np.argmax(np.where(selection.missing[k], -np.inf, score)))
            apart = abs(alone[f] - score[f])
            if cases >= LEAST_CASES or off[f] <= elsewhere or apart < ELSEWHERE:
                continue
        yield Caution.of(
            "unlike",
            f"Subgroup {{where}} is small ({cohort.size:,} rows, {cases:,} beside the commonest "
            "class), and its own rows point elsewhere: {column!r} explains "
            f"{percent(max(alone[f], 0.0), 0, 1)} of the uncertainty in them, where all subgroups "
            f"together suggest {percent(score[f], low[f], high[f])} "
            f"({percent_between(low[f], high[f])}).",
            columns=(scores.measure.features[f],),
            subgroups=(cohort.name,),
            alone=Setting("estimate", "above_chance"),
        )


def _next_to_nothing(cohorts: Cohorts, best: Sequence[ScoredSet]) -> Iterator[Caution]:
    little = [one.subgroup for one in best if one.share < LITTLE]
    if little:
        column = (cohorts.target,)
        yield Caution.of("explains little", columns=column, subgroups=little, least=100 * LITTLE)


def _determined_by_sets(best: Sequence[ScoredSet], leaks: set[str]) -> Iterator[Caution]:
    """Best sets that determine the target, though none of their features does alone."""
    sets: dict[tuple[str, ...], list[str]] = {}
    for one in best:
        if one.share >= WHOLE and not one.missing and not leaks.intersection(one.features):
            sets.setdefault(one.features, []).append(one.subgroup)
    for features, subgroups in list(sets.items())[:MOST_NAMED]:
        yield Caution.of(
            "leak",
            "{names} together nearly determine the target in {where}: it may be made from them, "
            "or one of them from it.",
            "Unless they are known before the target is, leave one out: {exclude}.",
            columns=features,
            subgroups=subgroups,
            severity="weakens",
            names=listed(features),
            exclude=Setting("exclude", [features[0]]),
        )


def _recorded_apart(selection: FitResult, best: Sequence[ScoredSet]) -> Iterator[Caution]:
    """Best sets that rest on how two features go together, which nobody recorded."""
    pairs: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for one in best:
        if one.support == SUPPORT[SINGLES]:
            members = [selection.feature_names.index(name) for name in one.features]
            pairs.setdefault(unsettled_pair(selection, members), []).append(one.subgroup)
    pairs.pop(((), ""), None)  # a saved selection that was forged may say so of any set
    for (pair, nearest), subgroups in list(pairs.items())[:MOST_NAMED]:
        yield Caution.of(
            "recorded apart", columns=pair, subgroups=subgroups, other=pair[1], nearest=nearest
        )


def _odd_columns(cohorts: Cohorts) -> Iterator[Caution]:
    """Identifiers, dates and free text that were coded as features."""
    for audit in cohorts.columns:
        if audit.role == "feature" and audit.looks_like in (IDENTIFIER, DATE, FREE_TEXT):
            yield Caution.of(
                audit.looks_like,
                columns=(audit.column,),
                treatment=audit.treatment,
                exclude=Setting("exclude", [audit.column]),
            )


def _codes_for_missing(cohorts: Cohorts) -> Iterator[Caution]:
    """Values that look like codes for missing values, and were taken as they are."""
    who = {"feature": "Feature", "target": "The target", "group": "Group column"}
    for one in (one for one in cohorts.columns if one.role in who and one.suspects):
        yield Caution.of(
            "code for missing",
            f"{who[one.role]} {{column!r}} is {{why}}: that looks like a code for missing values.",
            columns=(one.column,),
            why=one.why_suspect,
            missing=Setting("missing_values", list(one.suspects), column=one.column),
        )


def _cut_target(cohorts: Cohorts, best: Sequence[ScoredSet], measure: str) -> Iterator[Caution]:
    """A continuous target that was cut into bins; R² reads the numbers themselves."""
    audit = next((one for one in cohorts.columns if one.role == "target"), None)
    if audit is None or audit.treatment == AS_IT_IS or cohorts.horizons or measure == "r2":
        return
    linear = Setting("measure", "r2")
    if cohorts.is_number:
        shares = [
            one.spread / one.score for one in best if one.score > 0 and one.spread is not None
        ]
        apart = ""
        if shares:
            apart = f", which differ by {percent(median(shares), 0, 1)} of what a best set explains"
        yield Caution.of(
            "number as target",
            "The target {column!r} is taken as a number: scores are means over "
            f"{len(cohorts.grids)} grids of its values{apart}.",
            f"To take it in {len(cohorts.classes)} classes use {{classes}}, for its linear part "
            "{linear}.",
            columns=(cohorts.target,),
            classes=Setting("target", CLASSES),
            linear=linear,
        )
        return
    remedy = "Give cut points that matter, {bins}, or use {number} or {linear}."
    if audit.treatment == OF_CODEBOOK:
        remedy = "Agree on cut points that matter in the proposals of the sites."
    yield Caution.of(
        "binned target",
        remedy=remedy,
        columns=(audit.column,),
        treatment=audit.treatment,
        bins=Setting("bins", column=audit.column),
        number=Setting("target", NUMBER),
        linear=linear,
    )


def _joined_subgroups(cohorts: Cohorts) -> Iterator[Caution]:
    """Merged subgroups of which some recorded a feature and others did not."""
    for subgroup in dict.fromkeys(name for name, _ in cohorts.joined):
        features = [f for name, f in cohorts.joined if name == subgroup and f in cohorts.features]
        if features:
            yield Caution.of(
                "merged",
                columns=features,
                subgroups=(subgroup,),
                features=listed(features, MOST_NAMED),
                drop=Setting("small_groups", "drop"),
            )


def left_out(shortlist: Shortlist | None, cohorts: Cohorts) -> Iterator[Caution]:
    """Features of a wide table that were left out, and by what."""
    if shortlist is None:
        return
    n_left, more = len(shortlist.left_out), ""
    if shortlist.outstanding == 0:
        more = " No other explains more than chance would, alone or in a pair."
    elif shortlist.outstanding is not None:
        more = f" {shortlist.outstanding:,} more would have explained something."
    yield Caution.of(
        "shortlist",
        f"{n_left:,} of {n_left + len(cohorts.features):,} features were left out: those kept "
        f"explain most by themselves or in one of {shortlist.pairs:,} pairs, in "
        f"{shortlist.rows:,} rows.{more} Three features that explain something only together are "
        "missed.",
        exclude=Setting("exclude"),
        include=Setting("include"),
    )
