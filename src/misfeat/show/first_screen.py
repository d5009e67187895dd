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
from misfeat.answers.feature_worth import WORTH_SAYING, feature_worths
from misfeat.answers.significance import LEVEL, significance_tests
from misfeat.exceptions import Message
from misfeat.words import joined, p_words, percent, percent_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.answers.column_cautions import Caution
    from misfeat.answers.enough_features import Enough, Step
    from misfeat.answers.feature_worth import Worth
    from misfeat.answers.significance import SignificanceTests, SubgroupSignificance
    from misfeat.cohorts import Cohorts
    from misfeat.selection import Selection

    Floats = NDArray[np.float64]


TOLD = "told"
MAY_BE_CHANCE = "may be chance"
CHANCE = "chance"
NOTHING = "nothing to tell"
UNTESTED = "not tested"
BEYOND_DOUBT = 0.01
"""P-values up to this one need no word."""
MOST_PERMUTED = 60e9
"""Rows times sets times permutations that are tested at most: about a minute on two cores."""
MOST_PERMUTED_ONE_BY_ONE = 3e7
"""The same where rows count only for sets that they have in full, which are permuted one by one."""
USUAL_PERMUTATIONS = 999
FEWER_PERMUTATIONS = 199
"""Permutations where the usual number takes too long; p-values then reach down to 0.005."""
FEWER_STEP_PERMUTATIONS = 99
"""The same for each step to see how many features are enough; p-values then reach down to 0.01."""
MOST_RESAMPLED = 10_000
"""Sets, over all subgroups, up to which the whole answer is made again for every draw of rows."""
MOST_LARGER = 30_000
"""Sets of one feature more, over all subgroups, that are scored to see whether they add."""
MOST_ORDERED = 300
"""Rows up to which the best order of the leaves is sought, which takes ever longer."""
MOST_NAMED = 3
"""Subgroups or features that the sentence names."""
OFTEN = 0.5
"""A feature in the answers of more than this share of the subgroups is named."""
ALL_RECORDED = Message("Every subgroup recorded every feature: there is nothing to collect.")
NO_CLEAR_CASE = "No clear case: no unrecorded feature is likely enough to add something."


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
    most = MOST_PERMUTED_ONE_BY_ONE if gaps else MOST_PERMUTED
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
    """What is known for one subgroup.

    The features are the smallest recorded set that is enough, with what it explains; nothing, and
    NaN, where none does. The p-value is right for all that was searched, NaN where not tested.
    """

    subgroup: str
    rows: int
    verdict: str  # "told", "may be chance", "chance", "nothing to tell" or "not tested"
    features: tuple[str, ...]
    share: float
    low: float
    high: float
    p_value: float
    words: Message  # the answer without the subgroup's name

    @property
    def sentence(self) -> Message:
        """The answer in one sentence."""
        return Message("{subgroup}: {words}.", subgroup=self.subgroup, words=self.words)


def subgroup_answers(
    selection: Selection, size: int, effort: Effort, tests: SignificanceTests | None
) -> list[SubgroupAnswer]:
    """The answer for every subgroup: the set that is enough, and whether it is chance."""
    by_name = {} if tests is None else {one.subgroup: one for one in tests.subgroups}
    enough: dict[str, Enough] = {}
    if effort.enough:
        permutations = effort.step_permutations
        steps = enough_features(selection, size=effort.enough, permutations=permutations)
        enough = {one.subgroup: one for one in steps}
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
        whole = step.score / step.share if step is not None and step.share > 0 else 1.0
        answers.append(
            SubgroupAnswer(
                subgroup=name,
                rows=selection.cohorts[name].size,
                verdict=verdict,
                features=() if step is None else step.features,
                share=nan if step is None else step.share,
                low=nan if step is None else step.low / whole,
                high=nan if step is None else step.high / whole,
                p_value=nan if test is None else test.adjusted,
                words=words,
            )
        )
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
    p, times = test.adjusted, 0
    if enough.best is None and not chance:
        further = "{told}, though larger sets may ({p})"
    elif enough.best is not None and chance:
        further = "{told}. With all sets that were looked at, even this may be chance ({p})"
    elif enough.best is not None and p > BEYOND_DOUBT:
        further = "{told}. Chance alone would do as well about once in {times} times ({p})"
        p, times = test.p_value, round(1 / test.p_value)
    if further:
        words = Message(further, told=words, times=times, p=Message(p_words(p)))
    return verdict, words


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
    return Message(
        "In {where} the features {tell} something about {target}{untested}: {how_much} of what "
        "there is to tell{features}.{others}",
        tell=Message("seem to tell" if untested else "tell"),
        untested=Message(", not tested against chance" if untested else ""),
        where=Message(
            f"all {every:,} subgroups" if some == every else f"{some:,} of {every:,} subgroups"
        ),
        target=target,
        how_much=_how_much(told),
        features=_common_features(told),
        others=_others(answers),
    )


def _how_much(told: Sequence[SubgroupAnswer]) -> Message:
    """From the least to the most, with where."""
    least, most = min(told, key=lambda one: one.share), max(told, key=lambda one: one.share)
    shares = [Message(percent(one.share, one.low, one.high)) for one in (least, most)]
    if least is most or shares[0] == shares[1]:
        return Message("{share}", share=shares[1])
    return Message(
        "from {least} ({least_at}) to {most} ({most_at})",
        least=shares[0],
        least_at=least.subgroup,
        most=shares[1],
        most_at=most.subgroup,
    )


def _common_features(told: Sequence[SubgroupAnswer]) -> Message:
    """The features that are part of most answers."""
    counts = Counter(feature for one in told for feature in one.features)
    often = [name for name, count in counts.most_common() if count > OFTEN * len(told)]
    if not often or len(told) == 1:
        return Message("")
    shown = often[:MOST_NAMED]
    in_all = {counts[name] for name in shown} == {len(told)}
    return Message(
        "; {names} {are} part of the answer in {where}",
        names=joined(shown),
        are=Message("is" if len(shown) == 1 else "are"),
        where=Message("all of them" if in_all else "most of them"),
    )


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
    if cohorts.effective is None:
        worth = Message("{rows:,} rows in all", rows=rows)
    else:
        effective = round(sum(cohort.effective_size for cohort in own))
        worth = Message(
            "{rows:,} rows, worth {effective:,} of equal weight", rows=rows, effective=effective
        )
    how = [Message(words[role], columns=joined(named)) for role, named in columns.items() if named]
    both = Message("{first} and {second}", first=how[0], second=how[-1])
    return Message(
        "{told} Rows are {said}: {worth}.",
        told=told,
        said=how[0] if len(how) == 1 else both,
        worth=worth,
    )


def collecting_sentences(
    worths: Sequence[Worth], wholes: Mapping[str, float], confidence: float | None
) -> list[Message]:
    """A sentence for every subgroup with a clear case; else one that says there is none."""
    if not worths:
        return [ALL_RECORDED]
    clear = [one for one in worths if one.clear and one.gain > WORTH_SAYING * one.before]
    first: dict[str, Worth] = {}
    for one in sorted(clear, key=lambda worth: worth.rank):
        first.setdefault(one.subgroup, one)
    sentences = []
    sure = "bounds" if confidence is None else f"{100 * confidence:.0f} % interval"
    for one in first.values():
        before, whole = one.before / wholes[one.subgroup], wholes[one.subgroup]
        # What was told before is uncertain, too: with the gain it may seem more than there is.
        after, low, high = (
            min(1.0, (one.before + more) / whole) for more in (one.gain, one.low, one.high)
        )
        likely = ""
        if not isnan(one.probability):
            chance = percent(one.probability, 0.0, 1.0)
            likely = f", and tells more at all with a probability of {chance}"
        sentences.append(
            Message(
                "{subgroup}: {feature} is worth recording. With it, the best set of otherwise "
                "recorded features is expected to tell {after} of what there is to tell instead of "
                "{before} ({sure}: {between}){likely}.",
                subgroup=one.subgroup,
                feature=one.feature,
                after=Message(percent(after, low, high)),
                before=Message(percent(before, low, high)),
                sure=Message(sure),
                between=Message(percent_between(low, high)),
                likely=Message(likely),
            )
        )
    if sentences:
        return sentences
    likely_ones = [one for one in worths if not isnan(one.probability) and one.gain > 0]
    if not likely_ones:
        return [Message(NO_CLEAR_CASE)]
    best = max(likely_ones, key=lambda one: one.probability)
    nearest = best.feature, best.probability
    same = [one.subgroup for one in likely_ones if (one.feature, one.probability) == nearest]
    return [
        Message(
            "{none} The nearest is {feature} in {where}, with a probability of {likely}.",
            none=Message(NO_CLEAR_CASE),
            feature=best.feature,
            where=joined(same),
            likely=Message(percent(best.probability, 0.0, 1.0)),
        )
    ]


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """What every feature explains by itself in every subgroup, as shares of the entropy.

    Subgroups and features are numbers in the order in which they are shown; arrays are in that of
    the table. Faded is what is not more than chance by its p-value, or by its interval.
    """

    subgroups: tuple[int, ...]
    features: tuple[int, ...]
    share: Floats
    low: Floats
    high: Floats
    predicted: NDArray[np.bool_]
    faded: NDArray[np.bool_]


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
    return FeatureMap(
        subgroups=tuple(side_by_side(share).tolist()),
        features=tuple(np.argsort(-share.mean(axis=0), kind="stable").tolist()),
        share=share,
        low=low,
        high=high,
        predicted=predicted,
        faded=faded,
    )


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
) -> FirstScreen:
    """Ask a selection what is told first."""
    size = selection.size if size is None else size
    target, effort = selection.cohorts.target, effort_for(selection, size)
    single = tests = None
    if effort.tested:
        single = significance_tests(selection, 1, permutations=effort.permutations)
        tests = significance_tests(selection, effort.tested, permutations=effort.permutations)
    answers = subgroup_answers(selection, size, effort, tests)
    wholes = dict(zip(selection.cohorts.names, selection.set_scores.measure.whole, strict=True))
    worths = feature_worths(selection, size=size, costs=costs)
    return FirstScreen(
        size=size,
        effort=effort,
        whole=with_weights(whole_sentence(answers, target), selection.cohorts),
        subgroups=tuple(answers),
        map=feature_map(selection, single, tests),
        collecting=tuple(collecting_sentences(worths, wholes, selection.confidence)),
        cautions=tuple(list_cautions(selection, size)),
    )
