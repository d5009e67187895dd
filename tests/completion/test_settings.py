from __future__ import annotations

import numpy as np

from misfeat.completion import InteractionsCompleter
from misfeat.completion.named import USUAL, confidence_of, is_inherited, resolved


def test_what_was_left_open_is_the_usual_and_everything_else_stays():
    for name, usual in USUAL.items():
        assert resolved(name, "inherit") == usual
        assert resolved(name, None) is None
    assert resolved("device", "cpu") == "cpu"


def test_only_the_word_itself_leaves_a_setting_open():
    assert is_inherited("inherit")
    for value in (None, 0.9, "auto", np.array(["inherit", "inherit"])):
        assert not is_inherited(value)


def test_a_completer_without_a_confidence_gives_certain_bounds():
    assert confidence_of(object()) is None
    assert confidence_of(InteractionsCompleter()) == 0.9


def test_what_was_left_open_is_not_shown():
    assert repr(InteractionsCompleter()) == "InteractionsCompleter()"
    assert repr(InteractionsCompleter(confidence=0.9)) == "InteractionsCompleter(confidence=0.9)"
