"""The multiplex network as a completer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.calibrated import GuessingCompleter
from misfeat.completion.guess import Guess
from misfeat.completion.interactions import InteractionsGuesser
from misfeat.completion.transfer.completer import TransferGuesser
from misfeat.exceptions import MisfeatError, check_count
from misfeat.lattice import level
from misfeat.machine.devices import check_device, torch_device

if TYPE_CHECKING:
    from misfeat.completion.guess import Guesser
    from misfeat.completion.model import ExactScores, Known


class MultiplexCompleter(GuessingCompleter):
    """Predict scores by a graph neural network over all subgroups' lattices.

    A node, a set of features in a subgroup, sees its known score, what is certain of it, what
    subgroups that recorded the set know, and how simple ways to guess would fill it in; it passes
    messages to larger, smaller and neighbouring sets and to the same set in other subgroups. The
    network learns on the table itself, by hiding recorded features. Needs scores only, so that
    sites which may share scores but no rows can use it; with rows it sees the transfer as well.

    Parameters
    ----------
    with_rows : bool or None, default=None
        Whether the transfer between subgroups (`TransferCompleter`) is one of the guesses; None:
        where rows are at hand.
    layers : int, default=2
        Layers of messages.
    hidden : int, default=32
        Width of a node's state.
    dropout : float, default=0.1
        The share of message values set to 0 while training.
    steps : int, default=300
        Training steps.
    masks : int, default=24
        How many choices of hidden features are learned from.
    learning_rate, weight_decay : float, default=1e-3, 1e-2
        Of the AdamW optimizer.
    confidence : float or None, default=0.9
        How often the truth is to lie between ``low`` and ``high``; None gives certain bounds. Every
        round trains anew, on a table without the features that it hides.
    rounds : int, default=3
        How often recorded features are hidden to learn how far predictions are off.
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
        Where to train; "auto" is a CUDA device where there is one, else the CPU.
    random_state : int, default=None
        Seed of weights and hidden features; None is the same every time.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, n_features=5, hide=0.2, random_state=0)
    >>> completer = MultiplexCompleter(steps=20, masks=3, confidence=None, device="cpu")
    >>> selector = SubgroupSelector(data.groups, size=2, completer=completer, confidence=None)
    >>> bool(selector.fit(data.columns, data.target).scores()["score"].notna().all())
    True
    """

    def __init__(
        self,
        *,
        with_rows: bool | None = None,
        layers: int = 2,
        hidden: int = 32,
        dropout: float = 0.1,
        steps: int = 300,
        masks: int = 24,
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-2,
        confidence: float | None = 0.9,
        rounds: int = 3,
        device: str = "auto",
        random_state: int | None = None,
    ) -> None:
        super().__init__(confidence=confidence, rounds=rounds, random_state=random_state)
        self.with_rows = with_rows
        self.layers = layers
        self.hidden = hidden
        self.dropout = dropout
        self.steps = steps
        self.masks = masks
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.device = device

    def _guesser(self, known: Known) -> MultiplexGuesser:
        guessers: list[Guesser] = [InteractionsGuesser(), InteractionsGuesser(largest=1)]
        if self.with_rows or (self.with_rows is None and known.cohorts is not None):
            guessers.append(TransferGuesser(known.cohorts, proxies=True, table_size=3))
        return MultiplexGuesser(guessers, self)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, least in (("layers", 0), ("hidden", 1), ("steps", 0), ("masks", 1)):
            check_count(getattr(self, name), name, least=least)
        for name in ("dropout", "learning_rate", "weight_decay"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not 0 <= value < 1:
                raise MisfeatError(f"{name}={value!r}; it must be at least 0 and below 1.")
        check_device(self.device)


class MultiplexGuesser:
    """Guesses by a network that is trained for every table that is asked about."""

    def __init__(self, guessers: list[Guesser], settings: MultiplexCompleter) -> None:
        self._guessers = guessers
        self._settings = settings

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        import torch

        from misfeat.completion.multiplex.inputs import Inputs
        from misfeat.completion.multiplex.network import MultiplexNetwork
        from misfeat.completion.multiplex.training import MultiplexSettings, train
        from misfeat.lattice.neighbours import Levels

        chosen, device = self._settings, torch_device(self._settings.device)
        seed = 0 if chosen.random_state is None else int(chosen.random_state)
        unit = _unit(known.exact, size)
        graph = Levels(known.exact.missing.shape[1], 1, size)
        graph.to(device)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = MultiplexNetwork(
                graph, len(self._guessers), chosen.layers, chosen.hidden, float(chosen.dropout)
            ).to(device)
            settings = MultiplexSettings(
                int(chosen.steps),
                int(chosen.masks),
                float(chosen.learning_rate),
                float(chosen.weight_decay),
            )
            rng = np.random.default_rng(seed)
            train(network, known, size, self._guessers, unit, settings, rng)
            inputs = Inputs.of(known, size, self._guessers, unit).to(device)
            with torch.no_grad():
                gains = network(inputs).double().cpu().numpy() * unit
        return _as_guess(known.exact, size, (inputs.floor + gains).T)


def _unit(exact: ExactScores, size: int) -> float:
    """The mean known score, which makes tables alike."""
    known = np.concatenate([s[~np.isnan(s)] for s in exact.by_size[1 : size + 1]])
    return float(known.mean()) if len(known) and known.mean() > 0 else 1.0


def _as_guess(exact: ExactScores, size: int, scores: np.ndarray) -> Guess:
    counts = [len(level(exact.missing.shape[1], m)) for m in range(1, size + 1)]
    by_size = [exact.by_size[0], *np.split(scores, np.cumsum(counts)[:-1], axis=1)]
    return Guess(by_size, np.zeros_like(by_size[size]))
