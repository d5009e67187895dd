"""PyTorch and CuPy: where tensors are computed, and kernels that are compiled for CUDA once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, Setting, warn

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cpu", "cuda", "mps")


def check_torch() -> None:
    """Raise unless PyTorch can be imported, with how to install it.

    Called before anything that imports torch, so that no one meets a bare ImportError.
    """
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise MisfeatError(
            "Completers with a neural network need PyTorch, which is not installed;",
            remedy="install it with pip install 'misfeat[neural]', or use another completer.",
        ) from error


def check_device(device: object) -> None:
    """Raise unless the name of a device; does not ask whether the device is there."""
    if device not in DEVICES:
        raise MisfeatError(
            "{setting} is unknown; use one of {names}.",
            setting=Setting("device", device),
            names=DEVICES,
        )


def torch_device(device: str) -> torch.device:
    """The device of a name; "auto" is a CUDA device where there is one, else the CPU."""
    check_torch()
    import torch

    check_device(device)
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        return torch.device("cuda" if there["cuda"] else "cpu")
    if not there.get(device, True):
        raise MisfeatError(
            "{setting}, but PyTorch finds no such device here; use 'auto' or 'cpu'.",
            setting=Setting("device", device),
        )
    return torch.device(device)


def cuda_for(device: str) -> Any | None:
    """CuPy, where a device of this name is or may be CUDA and there is one; else None."""
    return _found() if device in ("auto", "cuda") else None


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
    from importlib.resources import files

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
