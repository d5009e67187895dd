import gc
import importlib.util
import re
import resource
from hashlib import sha256
from pathlib import Path

import numba as nb
import numpy as np
import pytest
from numba.core import config, event
from numba.core.errors import TypingError

import misfeat
from misfeat.runtime import kernel_cache
from misfeat.runtime.kernel_cache import EVENT, Compilations

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


def of_a_module_that_is_gone(_):
    pickled = b"cmisfeat.no_such_module\nThing\n."
    return sha256(pickled).digest() + pickled


DAMAGES = (
    lambda content: content[:-20],
    lambda content: content[:99] + bytes([content[99] ^ 4]) + content[100:],
    lambda content: bytes([content[0] ^ 1]) + content[1:],
    lambda _: b"",
    of_a_module_that_is_gone,
)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_of_a_kernel_is_compiled_anew_and_replaced(tmp_path, ending):
    assert hits(tmp_path) == 0
    for damage in DAMAGES:
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

    with event.install_listener(EVENT, Compilations()) as compilations:
        assert outer(np.int64(3)) == 8
        outer(np.int64(4))
    assert compilations.count == 2
    assert compilations.seconds > 0
    nb.njit(inner)(1.5)  # after the block
    assert compilations.count == 2


class CollectorStates(event.Listener):
    """Notes whether the collector works when a kernel begins to be compiled."""

    def __init__(self):
        self.states = []

    def on_start(self, event):
        self.states.append(gc.isenabled())

    def on_end(self, event):
        pass


def test_the_collector_rests_while_a_kernel_is_compiled_and_not_after():
    listener = CollectorStates()
    event.register(EVENT, listener)
    try:
        nb.njit(lambda x: x + 1)(2.5)
        with pytest.raises(TypingError):
            nb.njit(lambda x: x.nothing)(1)
    finally:
        event.unregister(EVENT, listener)
    assert listener.states == [False, False]
    assert gc.isenabled()


def test_compiling_is_announced_once_where_it_takes_its_time(monkeypatch):
    lines = []
    monkeypatch.setattr(kernel_cache, "announce", lines.append)
    monkeypatch.setattr(kernel_cache, "ANNOUNCED_AFTER", 0.0)
    listener = Compilations()
    for _ in range(2):
        listener.on_start(None)
        listener.on_end(None)
    assert lines == [kernel_cache.COMPILING]


FROM_AN_ARRAY = re.compile(r"^ +[\w.]+\[[^\]=]*:[^\]=]*\] = (?!-?[\d.]+$|[A-Z_]+$).*$", re.M)
"""A part of an array gets what is neither a number nor a constant."""


def test_no_kernel_assigns_an_array_to_a_part_of_another():
    """Each would be compiled with the words of an error, which takes seconds."""
    for file in Path(misfeat.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "import compiled" in text:
            assert FROM_AN_ARRAY.findall(text) == [], file
