"""PyTorch: whether it is there, and where tensors are computed."""

from typing import TYPE_CHECKING

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cpu", "cuda", "mps")


def check_torch() -> None:
    """Raise unless PyTorch can be imported, with how to install it."""
    # Called before anything that imports torch, so that no one meets a bare ImportError.
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
        raise MisfeatError(f"{Setting('device', device)} is unknown; use one of {DEVICES}.")


def torch_device(device: str) -> "torch.device":
    """The device of a name; "auto" is a CUDA device where there is one, else the CPU."""
    check_torch()
    import torch

    check_device(device)
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        return torch.device("cuda" if there["cuda"] else "cpu")
    if not there.get(device, True):
        raise MisfeatError(
            f"{Setting('device', device)}, but PyTorch finds no such device here; use 'auto' or "
            "'cpu'."
        )
    return torch.device(device)
