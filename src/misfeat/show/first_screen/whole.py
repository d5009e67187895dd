"""One sentence for the whole table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from misfeat.exceptions import Message
from misfeat.show.first_screen.answering import CHANCE, MAY_BE_CHANCE, NOTHING, TOLD, UNTESTED
from misfeat.words.names import joined
from misfeat.words.numbers import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.show.first_screen.answering import SubgroupAnswer

MOST_NAMED = 3
"""Subgroups or features that the sentence names."""
OFTEN = 0.5
"""A feature in the answers of more than this share of the subgroups is named."""


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
