import resource
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.runtime import memory
from misfeat.runtime.memory import (
    GIB,
    available_memory,
    check_memory,
    current_limit,
    memory_limit,
    memory_needed,
)

MIB = 2**20
FREE = 1000 * MIB


def needed_by_4(n_features, size):
    return memory_needed(n_features, size, 4)


def test_what_would_not_fit_is_refused_with_what_would(monkeypatch):
    monkeypatch.setattr("misfeat.runtime.memory.available_memory", lambda: 2 * GIB)
    check_memory(100, 3, 4, needed=needed_by_4)
    with pytest.raises(MisfeatError) as caught:
        check_memory(1000, 3, 4, needed=needed_by_4)
    message = str(caught.value)
    assert "166,167,000 sets of 3 among 1000 features in 4 subgroups" in message
    assert "only 1,229 MiB (60% of the free memory)" in message
    assert "Use size=2, leave features out (exclude)" in message
    assert memory_needed(1000, 2, 4) <= 1.2 * GIB
    with memory_limit(1e-9), pytest.raises(MisfeatError, match="Use fewer subgroups"):
        check_memory(10, 2, 4, needed=needed_by_4)


def test_the_selector_asks_before_it_works(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(50, 30)), rng.integers(2, size=50)
    monkeypatch.setattr("misfeat.runtime.memory.available_memory", lambda: 10**6)
    with pytest.raises(MisfeatError, match="would need"):
        SubgroupSelector(size=4).fit(X, y)
    with memory_limit(0.9):
        assert best_sets(SubgroupSelector(size=2, estimate="sample").fit(X, y).selection_)


def test_the_memory_of_a_completer_counts(monkeypatch):
    columns = {f"f{i}": np.arange(40.0) % (i + 2) for i in range(20)} | {
        "y": np.arange(40) // 2 % 2
    }
    columns["site"] = np.arange(40) % 2
    columns["f0"][::2] = np.nan
    monkeypatch.setattr("misfeat.runtime.memory.available_memory", lambda: 50 * 10**6)
    assert best_sets(SubgroupSelector("site", size=3).fit(columns, "y").selection_)
    with pytest.raises(MisfeatError, match="would need"):
        SubgroupSelector("site", size=3, completer="paper").fit(columns, "y")


def test_a_limit_holds_within_its_block_and_the_inner_one_wins(monkeypatch):
    for text, usual in (("", 0.6), ("0.3", 0.3)):
        monkeypatch.setenv("MISFEAT_MEMORY_LIMIT", text)
        assert current_limit() == usual
        with memory_limit(0.9):
            with memory_limit(1):
                assert current_limit() == 1
            with pytest.raises(KeyError), memory_limit(0.8):
                raise KeyError
            assert current_limit() == 0.9
        assert current_limit() == usual


def test_what_is_no_share_is_refused_by_name(monkeypatch):
    for share in (0, -0.5, 1.5, float("nan"), "half", None, True):
        with pytest.raises(MisfeatError, match=f"memory_limit={share!r}; it must be a share of"):
            memory_limit(share).__enter__()
    for text in ("0", "60", "60%", "nan", "much"):
        monkeypatch.setenv("MISFEAT_MEMORY_LIMIT", text)
        message = f"MISFEAT_MEMORY_LIMIT='{text}'; it must be a share of the free memory, above 0"
        with pytest.raises(MisfeatError, match=message):
            current_limit()


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """A machine with 1000 MiB free, a process of 100 MiB, and no limits."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=FREE))
    process = SimpleNamespace(memory_info=lambda: SimpleNamespace(vms=100 * MIB, data=20 * MIB))
    monkeypatch.setattr(psutil, "Process", lambda: process)
    monkeypatch.setattr(memory, "MEMBERSHIP", tmp_path / "membership")
    root = tmp_path / "cgroup"
    monkeypatch.setattr(memory, "CGROUP_FILES", ((root, *V2), (root / "memory", *V1)))
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda _: unlimited)


def put(tmp_path, path, text):
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


V1, V2 = ("memory.limit_in_bytes", "memory.usage_in_bytes"), ("memory.max", "memory.current")
GROUPS = {
    "of version 2": ("0::/job", [("job", V2, 500, 200)], 300),
    "of version 1": (
        "7:cpu,cpuacct:/job\n5:hugetlb,memory:/job\n0::/",
        [("memory/job", V1, 500, 400)],
        100,
    ),
    "around another one": (
        "0::/batch/job",
        [("batch/job", V2, "max", 100), ("batch", V2, 300, 100), (".", V2, 900, 100)],
        200,
    ),
    "of a container that is told the path of its host": (
        "5:memory:/docker/0123abc",
        [("memory", V1, 500, 1)],
        499,
    ),
    "without limits": (
        "5:memory:/\n0::/",
        [("memory", V1, 2**43 - 1, 5), (".", V2, "max", 5)],
        1000,
    ),
    "that is full": ("0::/", [(".", V2, 5, 6)], 0),
}
"""What a process is told of its groups, their limits and use in MiB, and what is left."""


@pytest.mark.parametrize("groups", GROUPS)
def test_a_group_leaves_its_limit_less_its_use(tmp_path, groups):
    membership, folders, left = GROUPS[groups]
    put(tmp_path, "membership", membership)
    for folder, names, *amounts in folders:
        for name, amount in zip(names, amounts, strict=True):
            text = amount if amount == "max" else amount * MIB
            put(tmp_path, f"cgroup/{folder}/{name}", text)
    assert available_memory() == left * MIB


@pytest.mark.parametrize(
    ("folder", "names", "cache"),
    [("cgroup", V2, "inactive_file"), ("cgroup/memory", V1, "total_inactive_file")],
)
def test_cached_files_do_not_count_as_used(tmp_path, folder, names, cache):
    put(tmp_path, "membership", "4:memory:/\n0::/")
    for name, value in zip(names, (500 * MIB, 400 * MIB), strict=True):
        put(tmp_path, f"{folder}/{name}", value)
    put(tmp_path, f"{folder}/memory.stat", f"anon 7\n{cache} {150 * MIB}\nfile 9")
    assert available_memory() == 250 * MIB


REALLY = """
import resource, sys
from misfeat.runtime.memory import available_memory
import psutil

kind, much = getattr(resource, sys.argv[1]), 2**28
taken = getattr(psutil.Process().memory_info(), sys.argv[2])
resource.setrlimit(kind, (taken + much, resource.RLIM_INFINITY))
left = available_memory()
assert 0 < left <= much, left
try:
    bytearray(left + 2**24)
except MemoryError:
    print("held")
"""


@pytest.mark.parametrize(("limit", "counted"), [("RLIMIT_AS", "vms"), ("RLIMIT_DATA", "data")])
def test_a_real_limit_of_a_process_is_the_one_that_binds(limit, counted):
    command = [sys.executable, "-c", REALLY, limit, counted]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert told.stdout == "held\n", told.stderr
