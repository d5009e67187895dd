"""What a completer with a neural network has beside its guesses: settings and a device."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from misfeat.completion.base import BaseCompleter, check_not_negative, check_share
from misfeat.completion.named import resolved
from misfeat.exceptions import check_count
from misfeat.runtime.devices import check_device, check_torch, torch_device

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch


@dataclass(frozen=True)
class TrainingSettings:
    """How long and how to train; see `PaperCompleter` for what each is."""

    epochs: int = 1000
    learning_rate: float = 1e-3
    weight_decay: float = 5e-4
    validation_share: float = 0.2
    validate_every: int = 10
    patience: int = 200

    @classmethod
    def of(cls, completer: Any) -> TrainingSettings:
        """The settings of a completer that has all of them, as plain Python numbers."""
        usual = cls()
        return cls(
            **{
                setting.name: type(getattr(usual, setting.name))(getattr(completer, setting.name))
                for setting in fields(cls)
            }
        )


class NeuralCompleter(BaseCompleter):
    """A completer that trains networks when it is asked to guess.

    PyTorch is imported then, and not before. Subclasses have the parameters ``learning_rate``,
    ``weight_decay`` and ``device``, and name their others here.

    Attributes
    ----------
    counts : dict of str to int
        Parameters that are whole numbers, and the least that each may be.
    shares : tuple of str
        Parameters that are at least 0 and below 1.
    """

    counts: ClassVar[Mapping[str, int]] = {}
    shares: ClassVar[tuple[str, ...]] = ()
    device: str

    @property
    def _device_name(self) -> str:
        name: str = resolved("device", self.device)
        return name

    def _torch_device(self) -> torch.device:
        return torch_device(self._device_name)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, least in self.counts.items():
            check_count(getattr(self, name), name, least=least)
        for name in self.shares:
            check_share(getattr(self, name), name)
        for name in ("learning_rate", "weight_decay"):
            check_not_negative(getattr(self, name), name)
        check_device(self._device_name)
        check_torch()
