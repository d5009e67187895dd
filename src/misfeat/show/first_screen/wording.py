"""What the first screen says besides the answers of subgroups.

One sentence for the whole table, one on how much rows count where that is not one each, and what is
worth recording where that is clear.
"""

from __future__ import annotations

from collections import Counter
from math import isnan
from typing import TYPE_CHECKING

from misfeat.answers.collecting import WORTH_SAYING
from misfeat.exceptions import Message
from misfeat.show.first_screen.answering import CHANCE, MAY_BE_CHANCE, NOTHING, TOLD, UNTESTED
from misfeat.words.names import joined
from misfeat.words.numbers import percent, percent_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from misfeat.answers.collecting import Worth
    from misfeat.cohorts import Cohorts
    from misfeat.show.first_screen.answering import SubgroupAnswer

MOST_NAMED = 3
"""Subgroups or features that the sentence names."""
OFTEN = 0.5
"""A feature in the answers of more than this share of the subgroups is named."""
ALL_RECORDED = Message("Every subgroup recorded every feature: there is nothing to collect.")
NO_CLEAR_CASE = "No clear case: no unrecorded feature is likely enough to add something."


def whole_sentence(answers: Sequence[SubgroupAnswer], target: str) -> Message:
    """What is found over all subgroups."""
    if len(answers) == 1:
        return answers[0].sentence
    told = [one for one in answers if one.verdict in (TOLD, UNTESTED) and one.features]
    if not told:
        return _nothing(answers, target)
    untested = all(one.verdict == UNTESTED for one in told)
    return Message(
        "In {where} the features {tell} something about {target}{untested}: {how_much} of what "
        "there is to tell{features}.{others}",
        tell=Message("seem to tell" if untested else "tell"),
        untested=Message(", not tested against chance" if untested else ""),
        where=_count(len(told), len(answers)),
        target=target,
        how_much=_how_much(told),
        features=_features(told),
        others=_others(answers),
    )


def _nothing(answers: Sequence[SubgroupAnswer], target: str) -> Message:
    if any(one.verdict == MAY_BE_CHANCE for one in answers):
        return Message(
            "In no subgroup is it sure that anything tells more about {target} than chance would.",
            target=target,
        )
    return Message(
        "In no subgroup does anything tell more about {target} than chance would.", target=target
    )


def _count(some: int, every: int) -> Message:
    return Message(
        f"all {every:,} subgroups" if some == every else f"{some:,} of {every:,} subgroups"
    )


def _how_much(told: Sequence[SubgroupAnswer]) -> Message:
    """From the least to the most, with where."""
    least, most = min(told, key=lambda one: one.share), max(told, key=lambda one: one.share)
    if least is most or _share(least) == _share(most):
        return Message("{share}", share=Message(_share(most)))
    return Message(
        "from {least} ({least_at}) to {most} ({most_at})",
        least=Message(_share(least)),
        least_at=least.subgroup,
        most=Message(_share(most)),
        most_at=most.subgroup,
    )


def _share(one: SubgroupAnswer) -> str:
    return percent(one.share, one.low, one.high)


def _features(told: Sequence[SubgroupAnswer]) -> Message:
    """The features that are part of most answers."""
    counts = Counter(feature for one in told for feature in one.features)
    often = [name for name, count in counts.most_common() if count > OFTEN * len(told)]
    if not often or len(told) == 1:
        return Message("")
    shown = often[:MOST_NAMED]
    held = {counts[name] for name in shown}
    return Message(
        "; {names} {are} part of the answer in {where}",
        names=joined(shown),
        are=Message("is" if len(shown) == 1 else "are"),
        where=Message("all of them" if held == {len(told)} else "most of them"),
    )


def _others(answers: Sequence[SubgroupAnswer]) -> Message:
    """The subgroups in which nothing does, or may not."""
    said = ""
    parts: dict[str, Message] = {}
    for verdict, words in (
        (CHANCE, "nothing tells more than chance would"),
        (MAY_BE_CHANCE, "what tells may be chance"),
        (NOTHING, "there is nothing to tell"),
    ):
        own = [one.subgroup for one in answers if one.verdict == verdict]
        if own:
            field = f"part{len(parts)}"
            said += f" In {{{field}}} {words}."
            parts[field] = joined(own, most=MOST_NAMED)
    return Message(said, **parts)


def with_weights(told: Message, cohorts: Cohorts, subgroup: str | None = None) -> Message:
    """A sentence, and behind it by what rows are weighted and what those of a subgroup are worth.

    Those of all subgroups, where none is named.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "y": [0, 1, 0, 1], "w": [1, 2, 3, 4]}
    >>> cohorts = build_cohorts(table, "y", sample_weight="w")
    >>> print(with_weights(Message("Nothing is told."), cohorts))
    Nothing is told. Rows are weighted by w: 4 rows, worth 3 of equal weight.
    """
    columns = {
        role: [audit.column for audit in cohorts.columns if audit.role == role]
        for role in ("weight", "design")
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
    words = {"weight": "weighted by {columns}", "design": "drawn by {columns}"}
    said = [Message(words[role], columns=joined(named)) for role, named in columns.items() if named]
    both = Message("{first} and {second}", first=said[0], second=said[-1])
    return Message(
        "{told} Rows are {said}: {worth}.",
        told=told,
        said=said[0] if len(said) == 1 else both,
        worth=worth,
    )


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
    before = one.before / whole
    # What was told before is uncertain, too, so that with the gain it may seem more than there is.
    after, low, high = (
        min(1.0, (one.before + more) / whole) for more in (one.gain, one.low, one.high)
    )
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
