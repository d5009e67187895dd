"""CUDA by way of CuPy: whether there is a device, and kernels that are compiled for it once."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any

from misfeat.exceptions import warn

_ON_CUDA = ("auto", "cuda")


def cuda_for(device: str) -> Any | None:
    """CuPy, where a device of this name is or may be CUDA and there is one; else None."""
    return _found() if device in _ON_CUDA else None


@lru_cache(maxsize=1)
def _found() -> Any | None:
    try:
        import cupy
    except ImportError:
        return None
    try:
        return cupy if cupy.cuda.runtime.getDeviceCount() else None
    except cupy.cuda.runtime.CUDARuntimeError:
        return None  # CuPy without a driver


@lru_cache(maxsize=1)
def memory_of_groups() -> int:
    """Bytes of shared memory that a group of threads may ask for."""
    cupy = _found()
    assert cupy is not None  # noqa: S101  (asked for where there is one)
    return int(cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])


@lru_cache(maxsize=16)
def cuda_kernel(package: str, file: str, name: str, defined: tuple[tuple[str, str], ...]) -> Any:
    """A kernel of a source file that comes with a package.

    `defined` are names that the source leaves open, and what they stand for.
    """
    cupy = _found()
    assert cupy is not None  # noqa: S101  (asked for where there is one)
    source = files(package).joinpath(file).read_text(encoding="utf-8")
    options = tuple(f"-D{what}={value}" for what, value in defined)
    return cupy.RawModule(code=source, options=options).get_function(name)


def failures() -> tuple[type[Exception], ...]:
    """What a device may raise that has too little memory, or a driver that is too old."""
    cupy = _found()
    if cupy is None:
        return ()
    return (
        cupy.cuda.memory.OutOfMemoryError,
        cupy.cuda.runtime.CUDARuntimeError,
        cupy.cuda.driver.CUDADriverError,
        cupy.cuda.compiler.CompileException,
    )


def say_failed(error: Exception) -> None:
    """Warn that the processor takes over."""
    warn(f"The CUDA device could not do it ({error}); the processor does, with the same result.")
