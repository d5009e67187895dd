from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.machine.memory import (
    GIB,
    check_memory,
    current_limit,
    in_units,
    memory_limit,
    memory_needed,
)


def test_more_features_sets_and_cohorts_need_more():
    base = memory_needed(20, 3, 4)
    assert base < memory_needed(21, 3, 4)
    assert base < memory_needed(20, 4, 4)
    assert base < memory_needed(20, 3, 5)


def needed_by_4(n_features, size):
    return memory_needed(n_features, size, 4)


def test_what_would_not_fit_is_refused_with_what_would(monkeypatch):
    monkeypatch.setattr("misfeat.machine.memory.available_memory", lambda: 2 * GIB)
    check_memory(100, 3, 4, needed=needed_by_4)
    with pytest.raises(MisfeatError) as caught:
        check_memory(1000, 3, 4, needed=needed_by_4)
    message = str(caught.value)
    assert "166,167,000 sets of 3 among 1000 features in 4 subgroups" in message
    assert "only 1.2 GiB (60% of the free memory)" in message
    fitting = int(message.split("size=2 or ")[1].split(" features")[0])
    assert memory_needed(fitting, 3, 4) <= 1.2 * GIB < memory_needed(fitting + 1, 3, 4)


def test_small_amounts_have_small_units(monkeypatch):
    monkeypatch.setattr("misfeat.machine.memory.available_memory", lambda: 2 * GIB)
    with memory_limit(1e-6), pytest.raises(MisfeatError) as caught:
        check_memory(20, 3, 4, needed=needed_by_4)
    message = str(caught.value)
    assert f"would need {memory_needed(20, 3, 4) / 1024:.1f} KiB" in message
    assert "only 2.1 KiB (0.0001% of the free memory)" in message
    assert in_units(1023) == "1,023 bytes"
    assert in_units(3 * 2**20) == "3.0 MiB"
    assert in_units(2**42) == "4,096.0 GiB"


def test_where_nothing_fits_it_is_said(monkeypatch):
    monkeypatch.setattr("misfeat.machine.memory.available_memory", lambda: 10)
    with pytest.raises(MisfeatError, match="fewer features and subgroups"):
        check_memory(10, 2, 4, needed=needed_by_4)


def test_the_selector_asks_before_it_works(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(50, 30)), rng.integers(2, size=50)
    monkeypatch.setattr("misfeat.machine.memory.available_memory", lambda: 10**6)
    with pytest.raises(MisfeatError, match="would need"):
        SubgroupSelector(size=4).fit(X, y)
    with memory_limit(0.9):
        assert SubgroupSelector(size=2, estimate="sample").fit(X, y).best_sets()


def test_the_memory_of_a_completer_counts(monkeypatch):
    columns = {f"f{i}": np.arange(40.0) % (i + 2) for i in range(20)} | {
        "y": np.arange(40) // 2 % 2
    }
    columns["site"] = np.arange(40) % 2
    columns["f0"][::2] = np.nan
    monkeypatch.setattr("misfeat.machine.memory.available_memory", lambda: 50 * 10**6)
    assert SubgroupSelector("site", size=3).fit(columns, "y").best_sets()
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
