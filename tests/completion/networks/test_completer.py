from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.completion import MLPCompleter, PaperCompleter
from misfeat.completion.named import COMPLETERS, completer_names
from misfeat.completion.networks.completer import NeuralCompleter, TrainingSettings

NEURAL = [name for name, kind in COMPLETERS.items() if issubclass(kind, NeuralCompleter)]
OTHERS = [name for name in completer_names() if name not in NEURAL]

WITHOUT_TORCH = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ImportError(name)
sys.meta_path.insert(0, Block())
import numpy as np
from misfeat import MisfeatError, SubgroupSelector
rng = np.random.default_rng(0)
columns = {f"f{i}": rng.integers(2, size=80).astype(float) for i in range(4)}
columns["y"], columns["site"] = rng.integers(2, size=80), np.arange(80) % 2
columns["f0"][columns["site"] == 0] = np.nan
for name in sys.argv[1:]:
    try:
        SubgroupSelector("site", size=2, completer=name).fit(columns, "y").scores()
        print("fitted")
    except MisfeatError as error:
        print(error)
"""


def without_torch(names: list[str]) -> list[str]:
    """What comes of completers where PyTorch cannot be imported, a line each."""
    command = [sys.executable, "-c", WITHOUT_TORCH, *names]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.slow
def test_without_pytorch_the_error_names_the_extra_and_other_completers_work():
    assert NEURAL
    *fitted, last = without_torch([*OTHERS, NEURAL[0]])
    assert fitted == ["fitted"] * len(OTHERS)
    assert "pip install 'misfeat[neural]'" in last


@pytest.mark.parametrize("name", NEURAL)
def test_every_network_asks_for_pytorch_before_anything_is_computed(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MisfeatError, match=r"misfeat\[neural\]"):
        COMPLETERS[name]().reach(2, 5)


def test_a_device_of_its_own_wins_and_is_checked():
    completer = COMPLETERS[NEURAL[0]](device="cpu")
    assert completer._torch_device().type == "cpu"
    assert COMPLETERS[NEURAL[0]]()._device_name == "auto"
    with pytest.raises(MisfeatError, match="device='tpu' is unknown"):
        completer.set_params(device="tpu").reach(2, 5)


def test_settings_are_taken_from_a_completer_as_plain_numbers():
    completer = MLPCompleter(epochs=np.int32(7), learning_rate=np.float32(0.5))
    settings = TrainingSettings.of(completer)
    assert (settings.epochs, settings.learning_rate) == (7, 0.5)
    assert (type(settings.epochs), type(settings.learning_rate)) == (int, float)


def test_completers_and_settings_have_the_same_defaults():
    for completer in (MLPCompleter(), PaperCompleter()):
        assert TrainingSettings.of(completer) == TrainingSettings()
