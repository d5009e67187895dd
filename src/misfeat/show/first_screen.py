"""The first screen: the answer in sentences, a map of what features tell, and what may overturn it.

Tests against chance score every set for many ways to shuffle the target, and stability answers anew
for many draws. Where a table has very many sets, the first screen asks for less, and says so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import comb, isnan, nan
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import pdist

from misfeat.answers.cautions import list_cautions
from misfeat.answers.enough_features import (
    AHEAD,
    STEP_PERMUTATIONS,
    best_recorded,
    enough_features,
    step_of,
)
from misfeat.answers.plan import recording_plan
from misfeat.answers.significance import LEVEL, significance_tests
from misfeat.exceptions import Message
from misfeat.words import joined, p_words, percent, percent_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.answers.column_cautions import Caution
    from misfeat.answers.enough_features import Enough, Step
    from misfeat.answers.plan import PlanStep
    from misfeat.answers.significance import SignificanceTests, SubgroupSignificance
    from misfeat.cohorts import Cohorts
    from misfeat.selection import Selection

    Floats = NDArray[np.float64]


TOLD = "told"
MAY_BE_CHANCE = "may be chance"
CHANCE = "chance"
NOTHING = "nothing to tell"
UNTESTED = "not tested"
BEYOND_DOUBT = 0.01  # P-values up to this one need no word
MOST_PERMUTED = 60e9  # rows times sets times permutations: about a minute on two cores
MOST_PERMUTED_WITH_WEIGHTS = 5e9  # the same where rows have weights
MOST_PERMUTED_ONE_BY_ONE = 3e7  # the same where rows have gaps, so that sets are permuted singly
USUAL_PERMUTATIONS = 999
FEWER_PERMUTATIONS = 199  # where the usual number takes too long; p-values reach down to 0.005
FEWER_STEP_PERMUTATIONS = 99  # the same for each step to see how many features are enough
MOST_RESAMPLED = 10_000  # sets, over all subgroups, up to which every resample is answered anew
MOST_LARGER = 30_000  # sets of one feature more, over all subgroups, that are scored to see more
MOST_ORDERED = 300  # rows up to which the best order of the leaves is sought, which is slow
MOST_NAMED = 3  # subgroups or features that the sentence names
OFTEN = 0.5  # a feature in the answers of more than this share of the subgroups is named
ALL_RECORDED = Message("Every subgroup recorded every feature: there is nothing to collect.")
_ORDER = (TOLD, UNTESTED, MAY_BE_CHANCE, CHANCE, NOTHING)  # verdicts, the most telling first
NO_CLEAR_CASE = "No clear case: no unrecorded feature is likely enough to be worth recording."
MOST_STEPS = 5  # of a plan that have a sentence


@dataclass(frozen=True)
class Effort:
    """What is asked of a selection without being told to; sizes are 0 where nothing is asked."""

    tested: int  # the largest sets that are tested against chance
    permutations: int
    enough: int  # the largest sets that are looked at to see how many features are enough
    resampled: bool
    step_permutations: int = STEP_PERMUTATIONS  # for each size that may be enough


def effort_for(selection: Selection, size: int) -> Effort:
    """What fits into a minute or so."""
    if selection.set_scores.rows_withheld:
        return Effort(0, 0, 0, resampled=False)
    n_features, n_cohorts = len(selection.feature_names), len(selection.cohorts)
    n_rows = float(selection.cohorts.weights.sum())
    recorded = zip(selection.cohorts, ~selection.cohorts.missing, strict=True)
    gaps = any((cohort.codes[columns] < 0).any() for cohort, columns in recorded)
    weighted = any(cohort.effective is not None for cohort in selection.cohorts)
    most = MOST_PERMUTED_WITH_WEIGHTS if weighted else MOST_PERMUTED
    most = MOST_PERMUTED_ONE_BY_ONE if gaps else most
    smaller = [(largest, FEWER_PERMUTATIONS) for largest in range(size, 0, -1)]
    for tested, permutations in [(size, USUAL_PERMUTATIONS), *smaller, (0, 0)]:
        sets = sum(comb(n_features, m) for m in range(1, tested + 1))
        if sets * n_rows * permutations <= most:
            break
    larger = size < n_features and comb(n_features, size + 1) * n_cohorts <= MOST_LARGER
    enough = size + 1 if larger and tested == size else tested
    counted = selection.set_scores.measure.rows is not None
    resampled = counted and comb(n_features, size) * n_cohorts <= MOST_RESAMPLED
    # Each step permutes all sets of up to two features beside those of the set so far.
    ahead = sum(comb(n_features, m) for m in range(1, AHEAD + 1))
    usual = enough * ahead * n_rows * STEP_PERMUTATIONS <= MOST_PERMUTED
    steps = STEP_PERMUTATIONS if usual else FEWER_STEP_PERMUTATIONS
    return Effort(tested, permutations, enough, resampled, steps)


@dataclass(frozen=True)
class SubgroupAnswer:
    """What is known for one subgroup."""

    subgroup: str
    rows: int
    verdict: str  # "told", "may be chance", "chance", "nothing to tell" or "not tested"
    features: tuple[str, ...]  # the smallest recorded set that is enough; empty where none is
    share: float  # NaN where no set is enough
    low: float
    high: float
    p_value: float  # right for all that was searched; NaN where not tested
    words: Message  # the answer without the subgroup's name

    @property
    def sentence(self) -> Message:
        """The answer in one sentence."""
        return Message("{subgroup}: {words}.", subgroup=self.subgroup, words=self.words)


def subgroup_answers(
    selection: Selection,
    size: int,
    effort: Effort,
    tests: SignificanceTests | None,
    enough: Mapping[str, Enough],
) -> list[SubgroupAnswer]:
    """The answer for every subgroup: the set that is enough, and whether it is chance."""
    by_name = {} if tests is None else {one.subgroup: one for one in tests.subgroups}
    answers = []
    for name in selection.subgroup_names():
        test = by_name.get(name)
        if name in enough:
            step = enough[name].best
            if step is not None and step.size > effort.tested:
                test = None  # the set that is enough is not among those tested
            verdict, words = _verdict(enough[name], test)
        else:
            step, verdict, words = _untested(selection, size, name)
        features: tuple[str, ...] = ()
        share = low = high = nan
        if step is not None:
            whole = step.score / step.share if step.share > 0 else 1.0
            features, share = step.features, step.share
            low, high = step.low / whole, step.high / whole
        p, rows = nan if test is None else test.adjusted, selection.cohorts[name].size
        answer = SubgroupAnswer(name, rows, verdict, features, share, low, high, p, words)
        answers.append(answer)
    return answers


def _verdict(enough: Enough, test: SubgroupSignificance | None) -> tuple[str, Message]:
    """What is enough, and what the test of all sets adds to that."""
    words, further = enough.told, ""
    if not enough.steps:
        return NOTHING, words
    chance = test is not None and not test.more_than_chance
    verdict = MAY_BE_CHANCE if chance else TOLD
    if enough.best is None:
        verdict = CHANCE if chance else MAY_BE_CHANCE
    if test is None:
        return verdict, words
    p = p_words(test.adjusted)
    if enough.best is None and not chance:
        further = f", though larger sets may ({p})"
    elif enough.best is not None and chance:
        further = f". With all sets that were looked at, even this may be chance ({p})"
    elif enough.best is not None and test.adjusted > BEYOND_DOUBT:
        times, p = round(1 / test.p_value), p_words(test.p_value)
        further = f". Chance alone would do as well about once in {times} times ({p})"
    return verdict, Message(f"{{told}}{further}", told=words) if further else words


def _untested(selection: Selection, size: int, name: str) -> tuple[Step | None, str, Message]:
    """The best recorded set of the size, where nothing was tested."""
    measure, cohort = selection.set_scores.measure, selection.cohorts.position(name)
    target = selection.cohorts.target
    if not measure.whole[cohort] > 0:
        return None, NOTHING, Message("there is nothing to tell about {target}", target=target)
    scores, missing = selection.completed(size), measure.missing[cohort]
    if missing[scores.subsets].any(axis=1).all():
        return None, UNTESTED, Message("no {size} features were recorded", size=size)
    step = step_of(measure, scores, cohort, best_recorded(scores, missing, cohort))
    words = Message(
        "{told}; whether that is more than chance was not tested", told=step.told(target)
    )
    return step, UNTESTED, words


def whole_sentence(answers: Sequence[SubgroupAnswer], target: str) -> Message:
    """What is found over all subgroups."""
    if len(answers) == 1:
        return answers[0].sentence
    told = [one for one in answers if one.verdict in (TOLD, UNTESTED) and one.features]
    if not told:
        sure = all(one.verdict != MAY_BE_CHANCE for one in answers)
        return Message(
            "In no subgroup does anything tell more about {target} than chance would."
            if sure
            else "In no subgroup is it sure that anything tells more about {target} than chance "
            "would.",
            target=target,
        )
    untested = all(one.verdict == UNTESTED for one in told)
    some, every = len(told), len(answers)
    where = f"all {every:,}" if some == every else f"{some:,} of {every:,}"
    tell, tested = ("seem to tell", ", not tested against chance") if untested else ("tell", "")
    return Message(
        f"In {where} subgroups the features {tell} something about {{target}}{tested}: "
        "{how_much} of what there is to tell{features}.{others}",
        target=target,
        how_much=_how_much(told),
        features=_common_features(told),
        others=_others(answers),
    )


def _how_much(told: Sequence[SubgroupAnswer]) -> Message:
    """From the least to the most, with where."""
    least, most = min(told, key=lambda one: one.share), max(told, key=lambda one: one.share)
    low, high = (percent(one.share, one.low, one.high) for one in (least, most))
    if least is most or low == high:
        return Message(high)
    where = {"least": least.subgroup, "most": most.subgroup}
    return Message(f"from {low} ({{least}}) to {high} ({{most}})", **where)


def _common_features(told: Sequence[SubgroupAnswer]) -> Message:
    """The features that are part of most answers."""
    counts = Counter(feature for one in told for feature in one.features)
    often = [name for name, count in counts.most_common() if count > OFTEN * len(told)]
    if not often or len(told) == 1:
        return Message("")
    shown = often[:MOST_NAMED]
    where = "all" if {counts[name] for name in shown} == {len(told)} else "most"
    are = "is" if len(shown) == 1 else "are"
    return Message(f"; {{names}} {are} part of the answer in {where} of them", names=joined(shown))


def _others(answers: Sequence[SubgroupAnswer]) -> Message:
    """The subgroups in which nothing does, or may not."""
    template = ""
    parts: dict[str, Message] = {}
    for verdict, words in (
        (CHANCE, "nothing tells more than chance would"),
        (MAY_BE_CHANCE, "what tells may be chance"),
        (NOTHING, "there is nothing to tell"),
    ):
        own = [one.subgroup for one in answers if one.verdict == verdict]
        if own:
            field = f"part{len(parts)}"
            template += f" In {{{field}}} {words}."
            parts[field] = joined(own, most=MOST_NAMED)
    return Message(template, **parts)


def with_weights(told: Message, cohorts: Cohorts, subgroup: str | None = None) -> Message:
    """A sentence, and by what the rows of a subgroup, or of all, are weighted and worth."""
    words = {"weight": "weighted by {columns}", "design": "drawn by {columns}"}
    columns = {
        role: [audit.column for audit in cohorts.columns if audit.role == role] for role in words
    }
    if not columns["weight"] and cohorts.effective is None:
        return told
    own = [cohort for cohort in cohorts if subgroup in (None, cohort.name)]
    rows = sum(cohort.size for cohort in own)
    worth = f"{rows:,} rows in all"
    if cohorts.effective is not None:
        effective = round(sum(cohort.effective_size for cohort in own))
        worth = f"{rows:,} rows, worth {effective:,} of equal weight"
    how = [Message(words[role], columns=joined(named)) for role, named in columns.items() if named]
    both = Message("{first} and {second}", first=how[0], second=how[-1])
    said = how[0] if len(how) == 1 else both
    return Message(f"{{told}} Rows are {{said}}: {worth}.", told=told, said=said)


def collecting_sentences(
    steps: Sequence[PlanStep],
    wholes: Mapping[str, float],
    target: str,
    confidence: float | None,
) -> list[Message]:
    """A sentence for every step of a plan that is worth it; else one that says there is none."""
    worth = [step for step in steps if step.worth]
    sentences = [_step_in_words(step, wholes[step.subgroup], target, confidence) for step in worth]
    if len(sentences) > MOST_STEPS:
        more = Message(f"{len(sentences) - MOST_STEPS:,} more steps are worth it: see the plan.")
        return [*sentences[:MOST_STEPS], more]
    if sentences:
        return sentences
    if not steps:
        return [Message(NO_CLEAR_CASE)]
    best = max(steps, key=lambda step: step.gain)
    gain = percent(best.gain / wholes[best.subgroup], 0.0, 1.0)
    nearest = f"{NO_CLEAR_CASE} Most would be gained by {{features}} in {{where}}: {gain} expected"
    if not isnan(best.probability):
        nearest += f", worth it with a probability of {percent(best.probability, 0.0, 1.0)}"
    return [Message(f"{nearest}.", features=joined(best.features), where=best.subgroup)]


def _step_in_words(step: PlanStep, whole: float, target: str, confidence: float | None) -> Message:
    # What is explained before is uncertain, too: with the gain it may seem more than there is.
    after, low, high = (
        min(1.0, (step.before + more) / whole) for more in (step.gain, step.low, step.high)
    )
    before = percent(step.before / whole, low, high)
    sure = "bounds" if confidence is None else f"{100 * confidence:.0f} % interval"
    likely = ""
    if not isnan(step.probability):
        likely = f"; worth it with a probability of {percent(step.probability, 0.0, 1.0)}"
    one = len(step.features) == 1
    return Message(
        f"{{subgroup}}: {{features}} {'is' if one else 'together are'} worth recording. With "
        f"{'it' if one else 'them'}, the best set is expected to explain "
        f"{percent(after, low, high)} of the uncertainty about {{target}} instead of {before} "
        f"({sure}: {percent_between(low, high)}){likely}.",
        subgroup=step.subgroup,
        features=joined(step.features),
        target=target,
    )


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """What every feature explains by itself in every subgroup, in the order of the table."""

    subgroups: tuple[int, ...]  # in the order in which they are shown
    features: tuple[int, ...]
    share: Floats  # of the entropy
    low: Floats
    high: Floats
    predicted: NDArray[np.bool_]
    faded: NDArray[np.bool_]  # not more than chance by its p-value, or by its interval


def feature_map(
    selection: Selection,
    single: SignificanceTests | None = None,
    tests: SignificanceTests | None = None,
) -> FeatureMap:
    """What single features tell; `single` tested them, and `tests` all sets."""
    scores, measure = selection.completed(1), selection.set_scores.measure
    order = np.argsort(scores.subsets[:, 0])
    whole = np.where(measure.whole > 0, measure.whole, np.inf)[:, None]
    share, low, high = (held[:, order] / whole for held in (scores.score, scores.low, scores.high))
    predicted = selection.missing
    faded = low <= 0
    if single is not None and tests is not None:
        nothing = np.array([[not one.more_than_chance] for one in tests.subgroups])
        faded = np.where(predicted, faded, ~(single.p_values[1][:, order] <= LEVEL) | nothing)
    subgroups = tuple(side_by_side(share).tolist())
    features = tuple(np.argsort(-share.mean(axis=0), kind="stable").tolist())
    return FeatureMap(subgroups, features, share, low, high, predicted, faded)


def side_by_side(values: Floats) -> NDArray[np.intp]:
    """Numbers of rows such that rows which are alike are neighbours, those with most on top.

    The leaves of an average-linkage tree in the order with the smallest distances between
    neighbours (Bar-Joseph, Gifford and Jaakkola, Bioinformatics 17, 2001).
    """
    means = values.mean(axis=1)
    if len(values) < 3:
        return np.argsort(-means, kind="stable")
    tree = linkage(pdist(values), "average", optimal_ordering=len(values) <= MOST_ORDERED)
    order: NDArray[np.intp] = leaves_list(tree).astype(np.intp)
    half = len(order) // 2
    turned = means[order[:half]].mean() < means[order[-half:]].mean()
    return order[::-1] if turned else order


@dataclass(frozen=True, eq=False)
class FirstScreen:
    """What whoever asked reads first; terminal, notebook and report all show this."""

    size: int
    effort: Effort
    enough: Mapping[str, Enough]  # by subgroup, where it was asked
    whole: Message
    subgroups: tuple[SubgroupAnswer, ...]
    map: FeatureMap
    collecting: tuple[Message, ...]
    cautions: tuple[Caution, ...]

    @property
    def overturning(self) -> list[Caution]:
        """The cautions that may overturn the answer."""
        return [one for one in self.cautions if one.severity == "overturns"]

    @property
    def other_cautions(self) -> list[Caution]:
        """The cautions that do not."""
        return [one for one in self.cautions if one.severity != "overturns"]


def first_screen(
    selection: Selection,
    size: int | None = None,
    costs: Mapping[str, float] | None = None,
    subgroup: str | None = None,
) -> FirstScreen:
    """Ask a selection what is told first, or what of it is about one subgroup."""
    size = selection.size if size is None else size
    cohorts, effort = selection.cohorts, effort_for(selection, size)
    single = tests = None
    if effort.tested:
        single = significance_tests(selection, 1, permutations=effort.permutations)
        tests = significance_tests(selection, effort.tested, permutations=effort.permutations)
    enough: dict[str, Enough] = {}
    if effort.enough:
        permutations = effort.step_permutations
        steps = enough_features(selection, size=effort.enough, permutations=permutations)
        enough = {one.subgroup: one for one in steps}
    answers = subgroup_answers(selection, size, effort, tests, enough)
    cautions = list_cautions(selection, size)
    if subgroup is not None:
        subgroup = cohorts.full_name(subgroup)
        answers = [one for one in answers if one.subgroup == subgroup]
        cautions = [one for one in cautions if not one.subgroups or subgroup in one.subgroups]
    wholes = dict(zip(cohorts.names, selection.set_scores.measure.whole.tolist(), strict=True))
    collecting = [ALL_RECORDED]
    if selection.missing.any():
        plan = recording_plan(selection, subgroup, costs=costs, size=size)
        collecting = collecting_sentences(plan, wholes, cohorts.target, selection.confidence)
    return FirstScreen(
        size=size,
        effort=effort,
        enough=enough,
        whole=with_weights(whole_sentence(answers, cohorts.target), cohorts, subgroup),
        subgroups=tuple(answers),
        map=feature_map(selection, single, tests),
        collecting=tuple(collecting),
        cautions=tuple(cautions),
    )


def most_informative(answers: Sequence[SubgroupAnswer], most: int) -> list[SubgroupAnswer]:
    """The subgroups in which most is told, in the table's order."""

    def order(one: SubgroupAnswer) -> tuple[int, float]:
        return _ORDER.index(one.verdict), 0.0 if isnan(one.share) else -one.share

    kept = {id(one) for one in sorted(answers, key=order)[:most]}
    return [one for one in answers if id(one) in kept]
