"""The answer for each subgroup: the set that is enough, what it tells, and whether it is chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from misfeat.answers.enough import best_recorded, enough_features, step_of
from misfeat.answers.significance import significance_tests
from misfeat.exceptions import Message
from misfeat.words.numbers import p_words

if TYPE_CHECKING:
    from misfeat.answers.enough import Enough, Step
    from misfeat.answers.significance import SignificanceTests, SubgroupSignificance
    from misfeat.selection import Selection
    from misfeat.show.first_screen.effort import Effort

TOLD = "told"
MAY_BE_CHANCE = "may be chance"
CHANCE = "chance"
NOTHING = "nothing to tell"
UNTESTED = "not tested"
BEYOND_DOUBT = 0.01
"""P-values up to this one need no word."""


@dataclass(frozen=True)
class SubgroupAnswer:
    """What is known for one subgroup."""

    subgroup: str
    rows: int
    verdict: str
    """Whether something tells more than chance would. One of "told", "may be chance", "chance",
    "nothing to tell", "not tested".
    """
    features: tuple[str, ...]
    """The smallest set of recorded features that is enough; empty where nothing tells."""
    share: float
    low: float
    high: float
    """What it tells of what there is to tell, and its interval; NaN where nothing tells."""
    p_value: float
    """How likely chance alone does as well, over all that was searched; NaN where not tested."""
    words: Message
    """The answer without the subgroup's name."""

    @property
    def sentence(self) -> Message:
        """The answer in one sentence."""
        return Message("{subgroup}: {words}.", subgroup=self.subgroup, words=self.words)


def tested(
    selection: Selection, effort: Effort
) -> tuple[SignificanceTests | None, SignificanceTests | None]:
    """Tests of single features, and of all sets up to a size; None where none are made.

    The selection keeps the second.
    """
    if not effort.tested:
        return None, None
    single = significance_tests(selection, 1, permutations=effort.deals)
    return single, significance_tests(selection, effort.tested, permutations=effort.deals)


def answers(
    selection: Selection, size: int, effort: Effort, found: SignificanceTests | None
) -> list[SubgroupAnswer]:
    """The answer for every subgroup."""
    names = selection.subgroup_names()
    tests = {} if found is None else {one.subgroup: one for one in found.subgroups}
    enough: dict[str, Enough] = {}
    if effort.enough:
        asked = enough_features(selection, size=effort.enough, permutations=effort.step_deals)
        enough = {one.subgroup: one for one in asked}
    return [
        _answer(
            selection,
            size,
            name,
            _fitting(tests.get(name), enough.get(name), effort),
            enough.get(name),
        )
        for name in names
    ]


def _fitting(
    test: SubgroupSignificance | None, enough: Enough | None, effort: Effort
) -> SubgroupSignificance | None:
    """The test of all sets, where the set that is enough is one of them."""
    larger = enough is not None and enough.best is not None and enough.best.size > effort.tested
    return None if larger else test


def _answer(
    selection: Selection,
    size: int,
    name: str,
    test: SubgroupSignificance | None,
    enough: Enough | None,
) -> SubgroupAnswer:
    target = selection.cohorts.target
    if enough is None:
        step, verdict, words = _untested(selection, size, name, target)
    else:
        step, verdict, words = enough.best, _verdict(enough, test), _words(enough, test)
    whole = step.score / step.share if step is not None and step.share > 0 else 1.0
    nothing = float("nan")
    return SubgroupAnswer(
        subgroup=name,
        rows=selection.cohorts[name].size,
        verdict=verdict,
        features=() if step is None else step.features,
        share=nothing if step is None else step.share,
        low=nothing if step is None else step.low / whole,
        high=nothing if step is None else step.high / whole,
        p_value=nothing if test is None else test.adjusted,
        words=words,
    )


def _verdict(enough: Enough, test: SubgroupSignificance | None) -> str:
    if not enough.steps:
        return NOTHING
    chance = test is not None and not test.more_than_chance
    if enough.best is None:
        return CHANCE if chance else MAY_BE_CHANCE
    return MAY_BE_CHANCE if chance else TOLD


def _words(enough: Enough, test: SubgroupSignificance | None) -> Message:
    """What is enough, and what the test of all sets adds to that."""
    if test is None or not enough.steps:
        return enough.told
    if enough.best is None and test.more_than_chance:
        return Message(
            "{told}, though larger sets may ({p})",
            told=enough.told,
            p=Message(p_words(test.adjusted)),
        )
    if enough.best is not None and not test.more_than_chance:
        return Message(
            "{told}. With all sets that were looked at, even this may be chance ({p})",
            told=enough.told,
            p=Message(p_words(test.adjusted)),
        )
    if enough.best is not None and test.adjusted > BEYOND_DOUBT:
        return Message(
            "{told}. Chance alone would do as well about once in {times} times ({p})",
            told=enough.told,
            times=round(1 / test.p_value),
            p=Message(p_words(test.p_value)),
        )
    return enough.told


def _untested(
    selection: Selection, size: int, name: str, target: str
) -> tuple[Step | None, str, Message]:
    """The best recorded set of the size, where nothing was tested."""
    measure, cohort = selection.set_scores.measure, selection.cohorts.position(name)
    if not measure.whole[cohort] > 0:
        return None, NOTHING, Message("there is nothing to tell about {target}", target=target)
    scores, missing = selection.completed(size), measure.missing[cohort]
    if missing[scores.subsets].any(axis=1).all():
        return None, UNTESTED, Message("no {size} features were recorded", size=size)
    step = step_of(measure, scores, cohort, best_recorded(scores, missing, cohort))
    told = step.told(target)
    words = Message("{told}; whether that is more than chance was not tested", told=told)
    return step, UNTESTED, words
