from __future__ import annotations

import resource
import subprocess
import sys
from types import SimpleNamespace

import psutil
import pytest

from misfeat.machine import allowance
from misfeat.machine.allowance import available_memory

MIB = 2**20
FREE = 1000 * MIB


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """A machine with 1000 MiB free, a process of 100 MiB, and no limits."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=FREE))
    process = SimpleNamespace(memory_info=lambda: SimpleNamespace(vms=100 * MIB, data=20 * MIB))
    monkeypatch.setattr(psutil, "Process", lambda: process)
    monkeypatch.setattr(allowance, "MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(allowance, "CGROUPS", tmp_path / "cgroup")
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
from misfeat.machine.allowance import available_memory
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
