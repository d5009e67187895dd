import numpy as np
import pytest

import misfeat.completion
from misfeat import MisfeatError
from misfeat.completion import BaseCompleter, Guess, InteractionsCompleter, TransferCompleter
from misfeat.completion.registry import COMPLETERS, completer_class, completer_classes, completer_of
from tests.completion.coded import known_of, random_cohorts


def test_every_name_stands_for_a_completer_that_the_package_exports():
    assert len(COMPLETERS) == len(set(completer_classes()))
    for name in COMPLETERS:
        kind = completer_class(name)
        assert issubclass(kind, BaseCompleter)
        assert isinstance(completer_of(name), kind)
        assert getattr(misfeat.completion, kind.__name__) is kind
    assert set(misfeat.completion.__all__) == set(dir(misfeat.completion))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = misfeat.completion.Nothing


class NothingCompleter(BaseCompleter):
    """Takes every unknown score for 0; what is certain makes the best of it."""

    def guess(self, known, size):
        return Guess.of([np.zeros_like(scores) for scores in known.exact.by_size[: size + 1]])


def test_a_new_completer_takes_one_line_here(monkeypatch):
    monkeypatch.setitem(COMPLETERS, "nothing", f"{__name__}:NothingCompleter")
    assert "nothing" in COMPLETERS
    kind = misfeat.completion.NothingCompleter
    assert isinstance(completer_of("nothing", confidence=0.5), kind)
    known = known_of(random_cohorts(1), 2)
    completed = completer_of("nothing").complete(known, 2)
    assert np.array_equal(completed.score, known.exact.bounds(2)[0])


def test_what_is_no_completer_is_refused():
    for wrong in ("magic", "gain", "iterative", TransferCompleter, 3, None):
        with pytest.raises(MisfeatError, match=r"is unknown; use an instance .* 'transfer'"):
            completer_of(wrong)


def test_an_instance_is_copied_and_left_as_it_is():
    given = TransferCompleter(rounds=3)
    copied = completer_of(given, confidence=0.5, random_state=4)
    assert copied is not given
    assert (copied.confidence, copied.random_state, copied.rounds) == (0.5, 4, 3)
    assert (given.confidence, given.random_state) == ("inherit", "inherit")


def test_what_was_left_open_is_not_shown():
    assert repr(InteractionsCompleter()) == "InteractionsCompleter()"
    assert repr(InteractionsCompleter(confidence=0.9)) == "InteractionsCompleter(confidence=0.9)"
