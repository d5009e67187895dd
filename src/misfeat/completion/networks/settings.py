"""How long and how to train networks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class TrainingSettings:
    """How long and how to train; see `PaperCompleter` for what each is.

    Examples
    --------
    >>> TrainingSettings(epochs=5).learning_rate
    0.001
    """

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
