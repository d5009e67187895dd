from __future__ import annotations

import gc
import importlib.util
import resource
from hashlib import sha256

import numba as nb
import numpy as np
import pytest
from numba.core import config, event
from numba.core.errors import TypingError

from misfeat.runtime.compilation import EVENT, CollectorPaused, compilations_counted

SOURCE = """
from misfeat.runtime.compilation import compiled

@compiled
def add(a, b):
    return a + b
"""


@pytest.fixture(autouse=True)
def beside_the_source(monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", "")


def hits(tmp_path):
    """Call a kernel as a new process would; how many were found on disk."""
    file = tmp_path / "kernel.py"
    if not file.exists():
        file.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("kernel", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.add(1, 2) == 3
    return sum(module.add.stats.cache_hits.values())


def cut_off(content):
    return content[:-20]


def flip_a_bit(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


def flip_the_first_bit(content):
    return bytes([content[0] ^ 1]) + content[1:]


def empty(_):
    return b""


def of_a_module_that_is_gone(_):
    held = b"cmisfeat.no_such_module\nThing\n."
    return sha256(held).digest() + held


@pytest.mark.parametrize(
    "damage", [cut_off, flip_a_bit, flip_the_first_bit, empty, of_a_module_that_is_gone]
)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_of_a_kernel_is_compiled_anew_and_replaced(tmp_path, damage, ending):
    assert hits(tmp_path) == 0
    assert hits(tmp_path) == 1
    (file,) = (tmp_path / "__pycache__").glob(f"*.{ending}")
    file.write_bytes(damage(file.read_bytes()))
    assert hits(tmp_path) == 0
    assert hits(tmp_path) == 1


def test_where_no_folder_can_be_written_kernels_are_compiled_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", "/dev/null/kernels")
    monkeypatch.setattr(config, "CACHE_LOCATOR_CLASSES", "UserProvidedCacheLocator", raising=False)
    assert hits(tmp_path) == 0
    assert hits(tmp_path) == 0


def test_a_full_disk_costs_compiling_again_and_nothing_else(tmp_path):
    (tmp_path / "kernel.py").write_text(SOURCE)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))  # no file may grow beyond that
    try:
        assert hits(tmp_path) == 0
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list((tmp_path / "__pycache__").glob("*.nbc"))
    assert hits(tmp_path) == 0
    assert hits(tmp_path) == 1


def inner(x):
    return x + 1


def test_kernels_within_others_are_counted_and_their_time_is_not_added():
    one = nb.njit(inner)

    @nb.njit
    def outer(x):
        return one(x) * 2

    names = []
    with compilations_counted(names.append) as found:
        assert outer(np.int64(3)) == 8
        outer(np.int64(4))
    assert found.count == 2
    assert names == ["outer", "inner"]
    assert found.seconds > 0


def test_nothing_is_counted_after_the_block():
    with compilations_counted() as found:
        pass
    nb.njit(inner)(1.5)
    assert (found.count, found.seconds) == (0, 0.0)


@pytest.fixture
def paused():
    """A pause, whether or not a kernel of misfeat's was imported, which brings another."""
    listener = CollectorPaused()
    event.register(EVENT, listener)
    yield
    event.unregister(EVENT, listener)


@pytest.mark.usefixtures("paused")
def test_the_collector_rests_while_a_kernel_is_compiled_and_not_after():
    states = []
    with compilations_counted(lambda _: states.append(gc.isenabled())):
        nb.njit(lambda x: x + 1)(2.5)
    assert states == [False]
    assert gc.isenabled()


@pytest.mark.usefixtures("paused")
def test_the_collector_goes_on_after_a_kernel_that_cannot_be_compiled():
    with pytest.raises(TypingError):
        nb.njit(lambda x: x.nothing)(1)
    assert gc.isenabled()


@pytest.mark.usefixtures("paused")
def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        nb.njit(lambda x: x + 2)(2.5)
        assert not gc.isenabled()
    finally:
        gc.enable()
