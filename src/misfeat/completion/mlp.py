"""Fully connected networks as a completer: a baseline of the MISFEAT paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.model import Guess
from misfeat.completion.neural import (
    Labels,
    NeuralCompleter,
    TrainingSettings,
    averaged_where_unlabelled,
    labelled_subgroups,
)
from misfeat.lattice import count_nodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.model import Known

    Scores = NDArray[np.float64]

AROUND = 2  # sets up to so much smaller and larger are learned from, as with the paper's two layers
COPIES_OF_A_STATE = 4  # A state is held before and after its activation, and the same for gradients


@dataclass(kw_only=True, eq=False, repr=False)
class MLPCompleter(NeuralCompleter):
    """Predict scores by a fully connected network over the features that a set holds.

    Every subgroup has a network of two hidden layers that learns the scores which its own rows
    gave, of sets up to two features smaller or larger than asked for. It never sees a set with an
    unrecorded feature and nothing of other subgroups, so it can but guess about them; it is here
    for comparison. (A subgroup without any known score gets the mean of the other networks.) Needs
    scores only.

    Parameters
    ----------
    confidence, rounds, random_state : see `BaseCompleter`
        Of the intervals, of which every round (one by default) trains anew.
    learning_rate, weight_decay, device : see `PaperCompleter`
        How and where to train.
    hidden : int, default=64
        Width of both layers.
    epochs, validation_share, validate_every, patience : see `PaperCompleter`
        How long to train.

    Examples
    --------
    >>> from misfeat.completion import ExactScores, Known
    >>> nan = np.nan
    >>> exact = ExactScores(
    ...     by_size=(
    ...         np.zeros((2, 1)),
    ...         np.array([[0.1, 0.2, 0.3], [0.3, 0.1, nan]]),
    ...         np.array([[0.25, 0.3, 0.4], [0.35, nan, nan]]),
    ...         np.array([[0.45], [nan]]),
    ...     ),
    ...     missing=np.array([[False, False, False], [False, False, True]]),
    ...     ceiling=np.array([0.6, 0.6]),
    ... )
    >>> completed = MLPCompleter(epochs=50, device="cpu").complete(Known(exact), 2)
    >>> completed.predicted
    array([[False, False, False],
           [False,  True,  True]])
    >>> bool((completed.score >= completed.low).all())
    True
    """

    counts = dict.fromkeys(("hidden", "epochs", "validate_every", "patience"), 1)
    shares = ("validation_share",)

    hidden: int = 64
    epochs: int = 1000
    validation_share: float = 0.2
    validate_every: int = 10
    patience: int = 200
    rounds: int = 1

    def reach(self, size: int, n_features: int) -> int:
        """The largest size whose exact scores are read to predict those of `size`."""
        self._check_parameters()
        return min(n_features, size + AROUND)

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that a prediction takes beyond the scores themselves, about."""
        n_sets = count_nodes(n_features, 1, self.reach(size, n_features))
        return 4 * COPIES_OF_A_STATE * n_cohorts * n_sets * (n_features + 2 * int(self.hidden))

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one.

        Every size has networks of its own, so that a guess does not depend on what else is asked.
        """
        exact = known.exact
        by_size = [exact.by_size[0], *(self._of_size(known, m, size) for m in range(1, size + 1))]
        return Guess.of(by_size)

    def _of_size(self, known: Known, size: int, last: int) -> Scores:
        """What networks that learned from sets of about a size say about all sets of that size."""
        from misfeat.completion.networks.mlp import MLPNetwork
        from misfeat.completion.networks.training import train

        exact, epochs = known.exact, int(self.epochs)
        low, high = max(1, size - AROUND), min(len(exact.by_size) - 1, size + AROUND)
        labelled = labelled_subgroups(exact.by_size[low : high + 1])
        if not labelled.any():
            return np.zeros_like(exact.by_size[size])

        def on_epoch(epoch: int) -> None:
            if known.progress is not None:
                known.progress("Training the networks", (size - 1) * epochs + epoch, last * epochs)

        n_cohorts, n_features = exact.missing.shape
        scores = np.concatenate(exact.by_size[low : high + 1], axis=1)
        labels = [Labels.known(np.arange(len(own)), own) for own in scores]
        rng = np.random.default_rng(self._seed or 0)
        seed = int(rng.integers(2**32))
        network = MLPNetwork(n_cohorts, n_features, low, high, int(self.hidden), seed)
        network.to(self._torch_device())
        train(network, labels, TrainingSettings.of(self), rng, on_epoch, size == last)
        return averaged_where_unlabelled(network.predict(size), labelled)
