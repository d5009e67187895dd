from __future__ import annotations

import numpy as np

from misfeat.completion import MLPCompleter, PaperCompleter
from misfeat.completion.networks.settings import TrainingSettings


def test_settings_are_taken_from_a_completer_as_plain_numbers():
    completer = MLPCompleter(epochs=np.int32(7), learning_rate=np.float32(0.5))
    settings = TrainingSettings.of(completer)
    assert (settings.epochs, settings.learning_rate) == (7, 0.5)
    assert (type(settings.epochs), type(settings.learning_rate)) == (int, float)


def test_completers_and_settings_have_the_same_defaults():
    for completer in (MLPCompleter(), PaperCompleter()):
        assert TrainingSettings.of(completer) == TrainingSettings()
