from __future__ import annotations

import sys

import pytest

from misfeat import MisfeatError
from misfeat.runtime.devices import check_device, check_torch, torch_device


def test_only_names_of_devices_are_taken():
    check_device("mps")  # whether it is there is asked later
    with pytest.raises(MisfeatError, match="device='tpu' is unknown"):
        check_device("tpu")


def test_without_pytorch_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for asked in (check_torch, lambda: torch_device("cpu")):
        with pytest.raises(MisfeatError, match=r"pip install 'misfeat\[neural\]'"):
            asked()
