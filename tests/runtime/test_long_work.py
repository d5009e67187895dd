from __future__ import annotations

import pytest

from misfeat.cli.errors import in_options
from misfeat.exceptions import MemoryLimitError, MisfeatError
from misfeat.runtime.progress import long_work

duckdb = pytest.importorskip("duckdb")
torch = pytest.importorskip("torch")

FULL = [
    MemoryError(),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
    RuntimeError("can't start new thread"),
    duckdb.OutOfMemoryException("failed to allocate"),
]


@pytest.mark.parametrize("error", FULL, ids=repr)
def test_full_memory_says_what_to_do(error):
    with pytest.raises(MemoryLimitError) as caught, long_work(False):
        raise error
    assert str(caught.value) == (
        "The memory is full; lower size, leave features out (exclude) or use budget."
    )
    assert in_options(caught.value.message) == (
        "The memory is full; lower --size, leave features out (--exclude) or use --budget."
    )


def test_a_full_device_is_told_apart():
    full = torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
    told = "of the CUDA device is full; use device='cpu'"
    with pytest.raises(MemoryLimitError, match=told), long_work(False), long_work(False):
        raise full


def test_an_error_of_ours_that_full_memory_caused_is_told_as_that():
    with pytest.raises(MemoryLimitError), long_work(False):
        raise MisfeatError("cannot be read") from MemoryError()


@pytest.mark.parametrize("error", [RuntimeError("no"), MisfeatError("no"), KeyError("no")])
def test_other_errors_pass(error):
    with pytest.raises(type(error)) as caught, long_work(False):
        raise error
    assert caught.value is error
