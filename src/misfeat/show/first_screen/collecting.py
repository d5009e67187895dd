"""What is worth recording, where that is clear."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from misfeat.exceptions import Message
from misfeat.selection.collecting import WORTH_SAYING
from misfeat.words.names import joined
from misfeat.words.numbers import percent, percent_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from misfeat.selection.collecting import Worth

ALL_RECORDED = Message("Every subgroup recorded every feature: there is nothing to collect.")
NO_CLEAR_CASE = "No clear case: no unrecorded feature is likely enough to add something."


def collecting_sentences(
    worths: Sequence[Worth], wholes: Mapping[str, float], confidence: float | None
) -> list[Message]:
    """A sentence for every subgroup with a clear case; else one that says there is none.

    `wholes` is what there is to tell in each subgroup; intervals are certain bounds where
    `confidence` is None.
    """
    if not worths:
        return [ALL_RECORDED]
    clear = [one for one in worths if one.clear and one.gain > WORTH_SAYING * one.before]
    first: dict[str, Worth] = {}
    for one in sorted(clear, key=lambda worth: worth.rank):
        first.setdefault(one.subgroup, one)
    if not first:
        return [_no_clear_case(worths)]
    return [_clear(one, wholes[one.subgroup], confidence) for one in first.values()]


def _clear(one: Worth, whole: float, confidence: float | None) -> Message:
    before, after = one.before / whole, (one.before + one.gain) / whole
    low, high = (one.before + one.low) / whole, (one.before + one.high) / whole
    sure = "bounds" if confidence is None else f"{100 * confidence:.0f} % interval"
    return Message(
        "{subgroup}: {feature} is worth recording. With it, the best set of otherwise recorded "
        "features is expected to tell {after} of what there is to tell instead of {before} "
        "({sure}: {between}){likely}.",
        subgroup=one.subgroup,
        feature=one.feature,
        after=Message(percent(after, low, high)),
        before=Message(percent(before, low, high)),
        sure=Message(sure),
        between=Message(percent_between(low, high)),
        likely=_likely(one),
    )


def _likely(one: Worth) -> Message:
    if isnan(one.probability):
        return Message("")
    chance = percent(one.probability, 0.0, 1.0)
    return Message(f", and tells more at all with a probability of {chance}")


def _no_clear_case(worths: Sequence[Worth]) -> Message:
    """None is clear; the one that is nearest to it is named."""
    likely = [one for one in worths if not isnan(one.probability) and one.gain > 0]
    if not likely:
        return Message(NO_CLEAR_CASE)
    best = max(likely, key=lambda one: one.probability)
    same = [
        one.subgroup
        for one in likely
        if one.feature == best.feature and one.probability == best.probability
    ]
    return Message(
        "{none} The nearest is {feature} in {where}, with a probability of {likely}.",
        none=Message(NO_CLEAR_CASE),
        feature=best.feature,
        where=joined(same),
        likely=Message(percent(best.probability, 0.0, 1.0)),
    )
