"""From a comparison of two runs to its page, forest plots included: no script, nothing fetched."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from misfeat.answers.comparison_words import change_in_words, points_in_words, share_in_words
from misfeat.exceptions import Message
from misfeat.show.pages import policy_for, static_file, templates_of
from misfeat.words.numbers import p_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.answers.comparison import Change, Comparison

PACKAGE = "misfeat.show.comparison"
MOST_UNCHANGED = 50
"""Sets of one subgroup that did not change and are listed; the frame has all."""
WIDTH = 260
"""Units of a picture from left to right; as many as pixels where there is room."""
MARGIN = 12
"""Units left free at either side, for marks and the first and last number of the scale."""
MOST_TICKS = 5
SHORTEST = 1e-4
"""A scale reaches over at least so much, a hundredth of a per cent."""


def page(found: Comparison) -> str:
    """The whole page; every name from the tables is text in it, whatever it holds."""
    style = static_file(PACKAGE, "comparison.css")
    templates = templates_of(PACKAGE)
    html: str = templates.get_template("comparison.html").render(
        found=found,
        title=_title(found),
        style=style,
        policy=policy_for(style),
        width=WIDTH,
        forests={
            one.subgroup: Forest.of([c for c in found.changed if c.subgroup == one.subgroup])
            for one in found.subgroups
            if one.changed
        },
        unchanged={
            one.subgroup: [c for c in found.changes if c.subgroup == one.subgroup and not c.changed]
            for one in found.subgroups
        },
        most_unchanged=MOST_UNCHANGED,
        share=share_in_words,
        points=points_in_words,
        p_words=p_words,
        words=lambda change: change_in_words(change, found.targets),
    )
    return html


def _title(found: Comparison) -> Message:
    if not found.same_target:
        return Message(
            "What tells about {first}, and what about {second}",
            first=found.targets[0],
            second=found.targets[1],
        )
    first, second = found.names
    if (first, second) == ("first", "second"):
        return Message("What changed from the first run to the second")
    return Message("What changed from {first} to {second}", first=first, second=second)


@dataclass(frozen=True)
class Mark:
    """A number with its interval on a scale."""

    at: float
    low: float
    high: float
    """Units from the left."""


@dataclass(frozen=True)
class Scale:
    """A scale of shares, from left to right."""

    low: float
    high: float
    """The shares at its ends."""
    step: float
    """The distance of two numbers on it."""

    @classmethod
    def over(cls, shares: Sequence[float]) -> Scale:
        """The scale that holds some shares, and 0.

        Shares lie between -1 and 1.

        Examples
        --------
        >>> Scale.over([0.03, 0.17])
        Scale(low=0.0, high=0.2, step=0.05)
        """
        least, most = min(0.0, *shares), max(0.0, *shares)
        most = max(most, least + SHORTEST)
        rough = (most - least) / (MOST_TICKS - 1)
        power = 10.0 ** floor(log10(rough))
        step = next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= rough * (1 - 1e-9))
        low, high = floor(least / step + 1e-9) * step, ceil(most / step - 1e-9) * step
        return cls(round(low, 12), round(high, 12), round(step, 12))

    def at(self, share: float) -> float:
        """How many units from the left a share lies."""
        part = (share - self.low) / (self.high - self.low)
        return round(MARGIN + part * (WIDTH - 2 * MARGIN), 1)

    def mark(self, share: float, low: float, high: float) -> Mark:
        """A share with its interval on the scale."""
        return Mark(self.at(share), self.at(low), self.at(high))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Where numbers stand, and the numbers, in per cent."""
        count = round((self.high - self.low) / self.step)
        shares = [self.low + place * self.step for place in range(count + 1)]
        return [(self.at(share), f"{round(100 * share, 6):g}") for share in shares]


@dataclass(frozen=True)
class Row:
    """One set in a forest plot."""

    change: Change
    """What it tells in either run."""
    first: Mark
    second: Mark
    """On the scale of shares."""
    difference: Mark
    """On the scale of differences."""


@dataclass(frozen=True)
class Forest:
    """The forest plot of some sets."""

    shares: Scale
    differences: Scale
    """Of the two pictures of every line."""
    rows: tuple[Row, ...]
    """A line a set."""

    @classmethod
    def of(cls, changes: Sequence[Change]) -> Forest:
        """The plot of some sets, all on the same scales."""
        shares = Scale.over([end for one in changes for end in (one.first_high, one.second_high)])
        differences = Scale.over([end for one in changes for end in (one.low, one.high)])
        rows = tuple(
            Row(
                one,
                shares.mark(one.first, one.first_low, one.first_high),
                shares.mark(one.second, one.second_low, one.second_high),
                differences.mark(one.difference, one.low, one.high),
            )
            for one in changes
        )
        return cls(shares, differences, rows)
