"""The multiplex network as a completer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from misfeat.completion.interactions import InteractionsCompleter
from misfeat.completion.model import Guess
from misfeat.completion.neural import NeuralCompleter
from misfeat.completion.transfer import TransferCompleter
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.completion.base import BaseCompleter
    from misfeat.completion.model import Known


@dataclass(kw_only=True, eq=False, repr=False)
class MultiplexCompleter(NeuralCompleter):
    """Predict scores by a graph neural network over all subgroups' lattices.

    A node, a set of features in a subgroup, sees its known score, what is certain of it, what
    subgroups that recorded the set know, and how simple ways to guess would fill it in; it passes
    messages to larger, smaller and neighbouring sets and to the same set in other subgroups. The
    network learns on the table itself, by hiding recorded features. Needs scores only, so that
    sites which may share scores but no rows can use it; with rows it sees the transfer as well.

    Parameters
    ----------
    confidence, rounds, random_state : see `BaseCompleter`
        Of the intervals, of which every round (three by default) trains anew; the seed is that of
        weights, too.
    learning_rate, weight_decay : float, default=1e-3, 1e-2
        Of the AdamW optimizer.
    device : str, default="inherit"
        Where to train, as in `PaperCompleter`.
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

    with_rows: bool | None = None
    layers: int = 2
    hidden: int = 32
    dropout: float = 0.1
    steps: int = 300
    masks: int = 24
    weight_decay: float = 1e-2
    rounds: int = 3

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one by a network that is trained for it."""
        from misfeat.completion.networks.multiplex import MultiplexSettings, predicted_scores

        exact = known.exact
        ways: list[BaseCompleter] = [InteractionsCompleter(), InteractionsCompleter(largest=1)]
        if self.with_rows or (self.with_rows is None and known.cohorts is not None):
            ways.append(TransferCompleter())
        settings = MultiplexSettings(
            layers=self.layers,
            hidden=self.hidden,
            dropout=float(self.dropout),
            steps=int(self.steps),
            masks=int(self.masks),
            learning_rate=float(self.learning_rate),
            weight_decay=float(self.weight_decay),
        )
        scores = predicted_scores(
            known, size, ways, settings, self._torch_device(), int(self._seed or 0)
        )
        counts = [len(level(exact.missing.shape[1], m)) for m in range(1, size + 1)]
        return Guess.of([exact.by_size[0], *np.split(scores, np.cumsum(counts)[:-1], axis=1)])
