from __future__ import annotations

from misfeat.completion.model import SUPPORT
from misfeat.show.report.words import support_words


def test_there_are_words_for_all_that_a_score_can_rest_on():
    assert len({support_words(one) for one in SUPPORT}) == len(SUPPORT)
