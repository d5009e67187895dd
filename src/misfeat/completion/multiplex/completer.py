"""The multiplex network as a completer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from misfeat.completion.interactions import InteractionsCompleter
from misfeat.completion.model import Guess
from misfeat.completion.named import INHERIT
from misfeat.completion.networks.completer import NeuralCompleter
from misfeat.completion.transfer.completer import TransferCompleter
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.completion.base import BaseCompleter
    from misfeat.completion.model import ExactScores, Known
    from misfeat.completion.named import Confidence, Seed


class MultiplexCompleter(NeuralCompleter):
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
    confidence : float, None or "inherit", default="inherit"
        Target coverage of the intervals; None gives certain bounds. ``"inherit"`` is the
        selector's, or 0.9 without one.
    rounds : int, default=3
        How often recorded features are hidden to learn how far predictions are off. Every round
        trains anew, on a table without the features that it hides.
    device : {"auto", "cpu", "cuda", "mps", "inherit"}, default="inherit"
        Where to train; "auto" is a CUDA device where there is one, else the CPU. ``"inherit"`` is
        the selector's, or "auto" without one.
    random_state : int, None or "inherit", default="inherit"
        Seed of weights and hidden features; None is the same every time. ``"inherit"`` is the
        selector's, or None without one.

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

    counts: ClassVar[Mapping[str, int]] = {"layers": 0, "hidden": 1, "steps": 0, "masks": 1}
    shares = ("dropout",)

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
        confidence: Confidence = INHERIT,
        rounds: int = 3,
        device: str = INHERIT,
        random_state: Seed = INHERIT,
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

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one by a network that is trained for it."""
        import torch

        from misfeat.completion.multiplex.inputs import Inputs
        from misfeat.completion.multiplex.network import MultiplexNetwork
        from misfeat.completion.multiplex.training import Lessons, MultiplexSettings, train
        from misfeat.lattice.neighbours import Levels

        device, seed = self._torch_device(), int(self._seed or 0)
        ways, unit = self._ways(known), _unit(known.exact, size)
        graph = Levels(known.exact.missing.shape[1], 1, size)
        graph.to(device)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = MultiplexNetwork(
                graph, len(ways), self.layers, self.hidden, float(self.dropout)
            ).to(device)
            lessons = Lessons(known, size, ways, unit, device)
            settings = MultiplexSettings(
                int(self.steps),
                int(self.masks),
                float(self.learning_rate),
                float(self.weight_decay),
            )
            train(network, lessons, settings, np.random.default_rng(seed))
            inputs = Inputs.of(known, size, ways, unit).to(device)
            with torch.no_grad():
                gains = network(inputs).double().cpu().numpy() * unit
        return _as_guess(known.exact, size, (inputs.floor + gains).T)

    def _ways(self, known: Known) -> list[BaseCompleter]:
        """Completers whose guesses the network mixes."""
        ways: list[BaseCompleter] = [InteractionsCompleter(), InteractionsCompleter(largest=1)]
        if self.with_rows or (self.with_rows is None and known.cohorts is not None):
            ways.append(TransferCompleter())
        return ways


def _unit(exact: ExactScores, size: int) -> float:
    """The mean known score, which makes tables alike."""
    known = np.concatenate([s[~np.isnan(s)] for s in exact.by_size[1 : size + 1]])
    return float(known.mean()) if len(known) and known.mean() > 0 else 1.0


def _as_guess(exact: ExactScores, size: int, scores: np.ndarray) -> Guess:
    counts = [len(level(exact.missing.shape[1], m)) for m in range(1, size + 1)]
    by_size = [exact.by_size[0], *np.split(scores, np.cumsum(counts)[:-1], axis=1)]
    return Guess.of(by_size)
