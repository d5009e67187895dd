"""What completers with a neural network share; PyTorch is imported when they guess, not before.

The networks themselves, and all that imports PyTorch, are in `misfeat.completion.networks`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from misfeat.completion.base import BaseCompleter, check_not_negative, check_share
from misfeat.completion.registry import INHERIT, inherited
from misfeat.exceptions import check_count
from misfeat.runtime.devices import check_device, check_torch, torch_device

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import torch
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralCompleter(BaseCompleter):
    """A completer that trains networks when it is asked to guess.

    `counts` are its parameters that are whole numbers, with the least that each may be, and
    `shares` those that are at least 0 and below 1.
    """

    counts: ClassVar[Mapping[str, int]] = {}
    shares: ClassVar[tuple[str, ...]] = ()
    learning_rate: float = 1e-3
    weight_decay: float = 5e-4
    device: str = INHERIT

    @property
    def _device_name(self) -> str:
        name: str = inherited("device", self.device)
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
        kinds = {name: type(default) for name, default in asdict(cls()).items()}
        return cls(**{name: kind(getattr(completer, name)) for name, kind in kinds.items()})


class Labels(NamedTuple):
    """The known scores of one subgroup, and to which rows of the network's inputs they belong."""

    rows: NDArray[np.int64]
    scores: Scores

    @classmethod
    def known(cls, rows: NDArray[np.int64], scores: Scores) -> Labels:
        """The rows whose scores are known."""
        there = ~np.isnan(scores)
        return cls(rows[there], scores[there])

    def split(self, share: float, rng: np.random.Generator) -> tuple[Labels, Labels]:
        """Labels to train on and labels to choose by; the same ones where they are too few."""
        order = rng.permutation(len(self.rows))
        held_out = round(share * len(order))
        if not 0 < held_out < len(order):
            return self, self
        parts = order[held_out:], order[:held_out]
        train, validation = (Labels(self.rows[part], self.scores[part]) for part in parts)
        return train, validation


def labelled_subgroups(by_size: Sequence[Scores]) -> NDArray[np.bool_]:
    """Which subgroups have a known score, one that is not NaN, to learn from."""
    labelled: NDArray[np.bool_] = np.logical_or.reduce(
        [~np.isnan(scores).all(axis=1) for scores in by_size]
    )
    return labelled


def averaged_where_unlabelled(guess: Scores, labelled: NDArray[np.bool_]) -> Scores:
    """Guesses in which a subgroup whose network learned nothing gets the mean of the others."""
    averaged = guess.copy()
    averaged[~labelled] = guess[labelled].mean(axis=0)
    return averaged
