from __future__ import annotations

import resource
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.answers.top import best_sets
from misfeat.runtime import memory
from misfeat.runtime.memory import (
    GIB,
    available_memory,
    check_memory,
    current_limit,
    in_units,
    memory_limit,
    memory_needed,
)

MIB = 2**20
FREE = 1000 * MIB


def test_more_features_sets_and_cohorts_need_more():
    base = memory_needed(20, 3, 4)
    assert base < memory_needed(21, 3, 4)
    assert base < memory_needed(20, 4, 4)
    assert base < memory_needed(20, 3, 5)


def needed_by_4(n_features, size):
    return memory_needed(n_features, size, 4)


def test_what_would_not_fit_is_refused_with_what_would(monkeypatch):
    monkeypatch.setattr("misfeat.runtime.memory.available_memory", lambda: 2 * GIB)
    check_memory(100, 3, 4, needed=needed_by_4)
    with pytest.raises(MisfeatError) as caught:
        check_memory(1000, 3, 4, needed=needed_by_4)
    message = str(caught.value)
    assert "166,167,000 sets of 3 among 1000 features in 4 subgroups" in message
    assert "only 1.2 GiB (60% of the free memory)" in message
    fitting = int(message.split("size=2 or ")[1].split(" features")[0])
    assert memory_needed(fitting, 3, 4) <= 1.2 * GIB < memory_needed(fitting + 1, 3, 4)


def test_small_amounts_have_small_units(monkeypatch):
    monkeypatch.setattr("misfeat.runtime.memory.available_memory", lambda: 2 * GIB)
    with memory_limit(1e-6), pytest.raises(MisfeatError) as caught:
        check_memory(20, 3, 4, needed=needed_by_4)
    message = str(caught.value)
    assert f"would need {memory_needed(20, 3, 4) / 1024:.1f} KiB" in message
    assert "only 2.1 KiB (0.0001% of the free memory)" in message
    assert in_units(1023) == "1,023 bytes"
    assert in_units(3 * 2**20) == "3.0 MiB"
    assert in_units(2**42) == "4,096.0 GiB"


def test_where_nothing_fits_it_is_said(monkeypatch):
    monkeypatch.setattr("misfeat.runtime.memory.available_memory", lambda: 10)
    with pytest.raises(MisfeatError, match="fewer features and subgroups"):
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
    monkeypatch.delenv("MISFEAT_MEMORY_LIMIT", raising=False)
    assert current_limit() == 0.6
    with memory_limit(0.9):
        with memory_limit(1):
            assert current_limit() == 1
        assert current_limit() == 0.9
    assert current_limit() == 0.6


def test_a_limit_ends_with_its_block_when_an_error_passes():
    with pytest.raises(KeyError), memory_limit(0.9):
        raise KeyError
    assert current_limit() != 0.9


def test_the_environment_sets_the_limit_where_no_block_does(monkeypatch):
    monkeypatch.setenv("MISFEAT_MEMORY_LIMIT", "0.3")
    assert current_limit() == 0.3
    with memory_limit(0.9):
        assert current_limit() == 0.9
    monkeypatch.setenv("MISFEAT_MEMORY_LIMIT", "")
    assert current_limit() == 0.6


@pytest.mark.parametrize("share", [0, -0.5, 1.5, float("nan"), "half", None, True])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(MisfeatError, match=f"memory_limit={share!r}; it must be a share of the"):
        memory_limit(share).__enter__()


@pytest.mark.parametrize("text", ["0", "60", "60%", "nan", "much"])
def test_what_is_no_share_in_the_environment_is_refused_by_name(monkeypatch, text):
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
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroup")
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda _: unlimited)


def put(tmp_path, path, text):
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


def test_without_limits_all_that_is_free_may_be_used():
    assert available_memory() == FREE


def test_a_group_of_version_2_leaves_its_limit_less_its_use(tmp_path):
    put(tmp_path, "membership", "0::/job")
    put(tmp_path, "cgroup/job/memory.max", 500 * MIB)
    put(tmp_path, "cgroup/job/memory.current", 200 * MIB)
    assert available_memory() == 300 * MIB


def test_a_group_of_version_1_leaves_its_limit_less_its_use(tmp_path):
    put(tmp_path, "membership", "7:cpu,cpuacct:/job\n5:hugetlb,memory:/job\n0::/")
    put(tmp_path, "cgroup/memory/job/memory.limit_in_bytes", 500 * MIB)
    put(tmp_path, "cgroup/memory/job/memory.usage_in_bytes", 400 * MIB)
    assert available_memory() == 100 * MIB


@pytest.mark.parametrize(
    ("folder", "names", "cache"),
    [
        ("cgroup", ("memory.max", "memory.current"), "inactive_file"),
        ("cgroup/unified", ("memory.max", "memory.current"), "inactive_file"),
        (
            "cgroup/memory",
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
            "total_inactive_file",
        ),
    ],
)
def test_cached_files_do_not_count_as_used(tmp_path, folder, names, cache):
    put(tmp_path, "membership", "4:memory:/\n0::/")
    for name, value in zip(names, (500 * MIB, 400 * MIB), strict=True):
        put(tmp_path, f"{folder}/{name}", value)
    put(tmp_path, f"{folder}/memory.stat", f"anon 7\n{cache} {150 * MIB}\nfile 9")
    assert available_memory() == 250 * MIB


def test_the_limit_of_a_group_around_binds_too(tmp_path):
    put(tmp_path, "membership", "0::/batch/job")
    for group, limit in (("batch/job", "max"), ("batch", 300 * MIB), (".", 900 * MIB)):
        put(tmp_path, f"cgroup/{group}/memory.max", limit)
        put(tmp_path, f"cgroup/{group}/memory.current", 100 * MIB)
    assert available_memory() == 200 * MIB


def test_a_container_that_is_told_the_path_of_its_host_finds_its_own_group(tmp_path):
    put(tmp_path, "membership", "5:memory:/docker/0123abc")
    put(tmp_path, "cgroup/memory/memory.limit_in_bytes", 500 * MIB)
    put(tmp_path, "cgroup/memory/memory.usage_in_bytes", 1 * MIB)
    assert available_memory() == 499 * MIB


def test_no_limit_of_a_group_is_more_than_what_is_free(tmp_path):
    put(tmp_path, "membership", "5:memory:/\n0::/")
    put(tmp_path, "cgroup/memory/memory.limit_in_bytes", 2**63 - 4096)
    put(tmp_path, "cgroup/memory/memory.usage_in_bytes", 5 * MIB)
    put(tmp_path, "cgroup/memory.max", "max")
    put(tmp_path, "cgroup/memory.current", 5 * MIB)
    assert available_memory() == FREE


def test_a_group_that_is_full_leaves_nothing(tmp_path):
    put(tmp_path, "membership", "0::/")
    put(tmp_path, "cgroup/memory.max", 5 * MIB)
    put(tmp_path, "cgroup/memory.current", 6 * MIB)
    assert available_memory() == 0


@pytest.mark.parametrize(
    ("limited", "left"), [(resource.RLIMIT_AS, 300 * MIB), (resource.RLIMIT_DATA, 380 * MIB)]
)
def test_a_limit_of_the_process_counts_what_it_has_taken(monkeypatch, limited, left):
    endless = resource.RLIM_INFINITY
    monkeypatch.setattr(
        resource, "getrlimit", lambda kind: (400 * MIB if kind == limited else endless, endless)
    )
    assert available_memory() == left


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


def test_the_smallest_of_all_limits_wins(monkeypatch, tmp_path):
    put(tmp_path, "membership", "0::/")
    put(tmp_path, "cgroup/memory.max", 350 * MIB)
    put(tmp_path, "cgroup/memory.current", 100 * MIB)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (400 * MIB, resource.RLIM_INFINITY))
    assert available_memory() == 250 * MIB
