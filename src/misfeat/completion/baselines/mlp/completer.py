"""Fully connected networks as a completer: a baseline of the MISFEAT paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.model import Guess
from misfeat.completion.named import INHERIT
from misfeat.completion.networks.completer import NeuralCompleter, TrainingSettings
from misfeat.completion.networks.labels import Labels, taught_subgroups, with_untaught_averaged
from misfeat.lattice import count_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.completion.baselines.mlp.network import MLPNetwork
    from misfeat.completion.model import ExactScores, Known
    from misfeat.completion.named import Confidence, Seed

    Scores = NDArray[np.float64]

AROUND = 2
"""Sets up to so much smaller and larger are learned from, as with the paper's two layers."""
COPIES_OF_A_STATE = 4
"""A state is held before and after its activation, and the same for gradients."""


class MLPCompleter(NeuralCompleter):
    """Predict scores by a fully connected network over the features that a set holds.

    Every subgroup has a network of two hidden layers that learns the scores which its own rows
    gave, of sets up to two features smaller or larger than asked for. It never sees a set with an
    unrecorded feature and nothing of other subgroups, so it can but guess about them; it is here
    for comparison. (A subgroup without any known score gets the mean of the other networks.) Needs
    scores only.

    Parameters
    ----------
    hidden : int, default=64
        Width of both layers.
    epochs : int, default=1000
        Epochs at most.
    learning_rate, weight_decay : float, default=1e-3, 5e-4
        Of the Adam optimizer.
    validation_share : float, default=0.2
        The share of the known scores that is held out to choose the epoch whose weights are kept.
    validate_every : int, default=10
        Epochs between two looks at the held-out scores.
    patience : int, default=200
        Training ends when no subgroup's held-out scores were predicted better for so many epochs.
    confidence : float, None or "inherit", default="inherit"
        Target coverage of the intervals; None gives certain bounds. ``"inherit"`` is the
        selector's, or 0.9 without one.
    rounds : int, default=1
        How often recorded features are hidden to learn how far predictions are off. Every round
        trains anew, without the features that it hides.
    device : {"auto", "cpu", "cuda", "mps", "inherit"}, default="inherit"
        Where to train; "auto" is a CUDA device where there is one, else the CPU. ``"inherit"`` is
        the selector's, or "auto" without one.
    random_state : int, None or "inherit", default="inherit"
        Seed of weights, held-out scores and hidden features; None is the same every time.
        ``"inherit"`` is the selector's, or None without one.

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

    def __init__(
        self,
        *,
        hidden: int = 64,
        epochs: int = 1000,
        learning_rate: float = 1e-3,
        weight_decay: float = 5e-4,
        validation_share: float = 0.2,
        validate_every: int = 10,
        patience: int = 200,
        confidence: Confidence = INHERIT,
        rounds: int = 1,
        device: str = INHERIT,
        random_state: Seed = INHERIT,
    ) -> None:
        super().__init__(confidence=confidence, rounds=rounds, random_state=random_state)
        self.hidden = hidden
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.validation_share = validation_share
        self.validate_every = validate_every
        self.patience = patience
        self.device = device

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
        exact = known.exact
        low, high = max(1, size - AROUND), min(len(exact.by_size) - 1, size + AROUND)
        taught = taught_subgroups(exact.by_size[low : high + 1])
        if not taught.any():
            return np.zeros_like(exact.by_size[size])

        def on_epoch(epoch: int) -> None:
            if known.progress is not None:
                epochs = int(self.epochs)
                known.progress("Training the networks", (size - 1) * epochs + epoch, last * epochs)

        network = self._trained(exact, (low, high), on_epoch, may_end_early=size == last)
        return with_untaught_averaged(network.predict(size), taught)

    def _trained(
        self,
        exact: ExactScores,
        sizes: tuple[int, int],
        on_epoch: Callable[[int], None],
        may_end_early: bool,
    ) -> MLPNetwork:
        """Networks that learned the scores of each subgroup, of sets between two sizes."""
        from misfeat.completion.baselines.mlp.network import MLPNetwork
        from misfeat.completion.networks.training import train

        low, high = sizes
        n_cohorts, n_features = exact.missing.shape
        scores = np.concatenate(exact.by_size[low : high + 1], axis=1)
        labels = [Labels.known(np.arange(len(own)), own) for own in scores]
        rng = np.random.default_rng(self._seed or 0)
        seed = int(rng.integers(2**32))
        network = MLPNetwork(n_cohorts, n_features, low, high, int(self.hidden), seed)
        network.to(self._torch_device())
        train(network, labels, TrainingSettings.of(self), rng, on_epoch, may_end_early)
        return network
