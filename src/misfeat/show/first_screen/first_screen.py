"""FirstScreen: the answer in sentences, what it looks like, and what may overturn it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from misfeat.machine.deadline import in_time
from misfeat.selection.caution import OVERTURNS
from misfeat.selection.unfinished import TESTS
from misfeat.show.first_screen.answering import answers, tested
from misfeat.show.first_screen.effort import effort_for
from misfeat.show.first_screen.feature_map import feature_map
from misfeat.show.first_screen.wording import collecting_sentences, whole_sentence, with_weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.exceptions import Message
    from misfeat.selection.caution import Caution
    from misfeat.selection.chance_tests import ChanceTests
    from misfeat.selection.selection import Selection
    from misfeat.show.first_screen.answering import SubgroupAnswer
    from misfeat.show.first_screen.effort import Effort
    from misfeat.show.first_screen.feature_map import FeatureMap


@dataclass(frozen=True, eq=False)
class FirstScreen:
    """What whoever asked reads first; terminal, notebook and report all show this."""

    target: str
    size: int
    effort: Effort
    """What was asked for it."""
    whole: Message
    """One sentence for the whole table."""
    subgroups: tuple[SubgroupAnswer, ...]
    """One answer for every subgroup, in the table's order."""
    map: FeatureMap
    """What every feature tells in every subgroup."""
    collecting: tuple[Message, ...]
    """What is worth recording, or that there is no clear case."""
    cautions: tuple[Caution, ...]
    """What may mislead, worst first."""

    @property
    def overturning(self) -> list[Caution]:
        """The cautions that may overturn the answer."""
        return [one for one in self.cautions if one.severity == OVERTURNS]

    @property
    def other_cautions(self) -> list[Caution]:
        """The cautions that do not."""
        return [one for one in self.cautions if one.severity != OVERTURNS]


def first_screen(
    selection: Selection,
    size: int | None = None,
    costs: Mapping[str, float] | None = None,
) -> FirstScreen:
    """Ask a selection what is told first."""
    size = selection.size if size is None else size
    target, effort = selection.cohorts.target, effort_for(selection, size)
    asked = in_time(lambda: _asked(selection, size, effort))
    if asked is None:
        selection.unfinished.note(TESTS, "nothing was tested against chance")
        effort = replace(effort, tested=0, deals=0, enough=0)
        asked = _asked(selection, size, effort)
    single, tests, found = asked
    wholes = dict(zip(selection.cohorts.names, selection.book.measure.whole, strict=True))
    worths = selection.worths(size=size, costs=costs)
    return FirstScreen(
        target=target,
        size=size,
        effort=effort,
        whole=with_weights(whole_sentence(found, target), selection.cohorts),
        subgroups=tuple(found),
        map=feature_map(selection, single, tests),
        collecting=tuple(collecting_sentences(worths, wholes, selection.confidence)),
        cautions=tuple(selection.caution_list(size)),
    )


def _asked(
    selection: Selection, size: int, effort: Effort
) -> tuple[ChanceTests | None, ChanceTests | None, list[SubgroupAnswer]]:
    """Tests of single features and of all sets, and the answers that rest on them."""
    single, tests = tested(selection, effort)
    return single, tests, answers(selection, size, effort, tests)
