"""The paper's graph neural network as a completer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.model import Guess
from misfeat.completion.neural import (
    NeuralCompleter,
    TrainingSettings,
    averaged_where_unlabelled,
    labelled_subgroups,
)
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.model import ExactScores, Known
    from misfeat.completion.networks.paper import ModelShape, PaperModels
    from misfeat.completion.networks.training import History
    from misfeat.completion.registry import Confidence

    Scores = NDArray[np.float64]

ACTIVATIONS = ("leaky_relu", "relu", "tanh")


@dataclass(kw_only=True, eq=False, repr=False)
class PaperCompleter(NeuralCompleter):
    """Predict scores by the graph neural network of the MISFEAT paper.

    Every subgroup's feature sets form a lattice graph; the graphs of all subgroups are connected
    set by set. A heterogeneous GraphSAGE reads which features a set holds and learns the scores
    that a subgroup's rows gave; one model a subgroup. It is here as the reference: a subgroup's
    model sees no score of another, so other completers predict better. (A subgroup without any
    known score gets the mean of the other models.)

    Parameters
    ----------
    confidence : float, None or "inherit", default=None
        As in `BaseCompleter`; None, since the paper has no intervals.
    rounds : int, default=1
        As in `BaseCompleter`. Every round trains anew, without the features that it hides.
    random_state : int, None or "inherit", default="inherit"
        Makes weights, held-out scores and dropout repeatable on one kind of device; with None they
        are not. ``"inherit"`` is the selector's, or None without one.
    learning_rate, weight_decay : float, default=1e-3, 5e-4
        Of the Adam optimizer.
    device : {"auto", "cpu", "cuda", "mps", "inherit"}, default="inherit"
        Where to train; "auto" is a CUDA device where there is one, else the CPU. ``"inherit"`` is
        the selector's, or "auto" without one.
    layers : int, default=2
        Layers of the network: how many steps along edges a prediction looks.
    hidden : int, default=128
        Width of a node's state.
    dropout : float, default=0.1
        The share of state values set to 0 while training.
    activation : {"leaky_relu", "relu", "tanh"}, default="leaky_relu"
        What follows every layer.
    sizes : tuple of (int, int), default=None
        Sizes of the smallest and the largest sets in the graph. None: the asked size minus and
        plus the number of layers.
    epochs : int, default=1000
        Epochs at most.
    validation_share : float, default=0.2
        The share of the known scores that is held out to choose the epoch whose weights are kept;
        where it is 0, or scores are few, the scores learned from choose.
    validate_every : int, default=10
        Epochs between two looks at the held-out scores.
    patience : int, default=200
        Training ends when no subgroup's held-out scores were predicted better for so many epochs.
    bounded : bool, default=True
        Whether predictions are kept within what is certain: at least the score of the recorded
        features, at most the ceiling of the measure. False gives the network's bare output, which
        may leave ``low`` and ``high``. Either way a set may score lower than a part of it, as in
        the paper.

    Attributes
    ----------
    models_ : dict of int to PaperModels
        The trained models by the size that was asked for; each can ``predict``.
    histories_ : dict of int to History
        How their training went.

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
    >>> completer = PaperCompleter(epochs=50, device="cpu", random_state=0)
    >>> completed = completer.complete(Known(exact), 2)
    >>> completed.predicted
    array([[False, False, False],
           [False,  True,  True]])
    >>> bool((completed.score >= completed.low).all())
    True
    """

    counts = dict.fromkeys(("layers", "hidden", "epochs", "validate_every", "patience"), 1)
    shares = ("dropout", "validation_share")

    layers: int = 2
    hidden: int = 128
    dropout: float = 0.1
    activation: str = "leaky_relu"
    sizes: tuple[int, int] | None = None
    epochs: int = 1000
    validation_share: float = 0.2
    validate_every: int = 10
    patience: int = 200
    bounded: bool = True
    confidence: Confidence = None
    rounds: int = 1

    def reach(self, size: int, n_features: int) -> int:
        """The largest size whose exact scores are read to predict those of `size`."""
        self._check_parameters()
        return self._sizes(size, n_features)[1]

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that a prediction takes beyond the scores themselves, about."""
        return self._shape(size, n_features, n_cohorts).memory_of_training()

    def guess(self, known: Known, size: int) -> Guess:
        """Train models and guess the scores of one size; smaller sizes stay as they are known."""
        from misfeat.completion.networks.paper import train_models

        exact = known.exact
        n_cohorts, n_features = exact.missing.shape
        reach = self.reach(size, n_features)
        if len(exact.by_size) <= reach:
            raise MisfeatError(
                "With {setting}, scores up to size {reach} are read; by_size ends at size {last}.",
                setting=Setting("layers", self.layers),
                reach=reach,
                last=len(exact.by_size) - 1,
            )
        shape = self._shape(size, n_features, n_cohorts)
        labelled = labelled_subgroups(exact.by_size[shape.low : shape.high + 1])
        if not labelled.any():
            raise MisfeatError(
                "No subgroup has a score of sizes {low} to {high} to learn from;",
                remedy="ask for a smaller size, give more layers, or use another completer.",
                low=shape.low,
                high=shape.high,
            )
        models, history = train_models(
            shape,
            exact.by_size,
            TrainingSettings.of(self),
            self._torch_device(),
            np.random.SeedSequence(self._seed),
            known.progress,
        )
        self.models_: dict[int, PaperModels] = {**getattr(self, "models_", {}), size: models}
        self.histories_: dict[int, History] = {**getattr(self, "histories_", {}), size: history}
        guess = averaged_where_unlabelled(models.predict(size, self._device_name), labelled)
        return Guess.of([*exact.by_size[:size], guess])

    def combined(self, guess: Guess, exact: ExactScores) -> Scores:
        """Scores of the asked size: exact where they are known, else guesses, within bounds.

        Parameters
        ----------
        guess : Guess
            Guesses of the asked size.
        exact : ExactScores
            What could be computed.
        """
        size = len(guess.by_size) - 1
        known, score = exact.by_size[size], guess.by_size[size]
        if self.bounded:
            score = np.clip(score, *exact.bounds(size))
        return np.where(np.isnan(known), score, known)

    def _shape(self, size: int, n_features: int, n_cohorts: int) -> ModelShape:
        from misfeat.completion.networks.paper import ModelShape

        low, high = self._sizes(size, n_features)
        return ModelShape(
            n_features=n_features,
            low=low,
            high=high,
            n_cohorts=n_cohorts,
            layers=int(self.layers),
            hidden=int(self.hidden),
            dropout=float(self.dropout),
            activation=self.activation,
        )

    def _sizes(self, size: int, n_features: int) -> tuple[int, int]:
        """The smallest and the largest size of the sets in the graph."""
        if self.sizes is None:
            return max(1, size - self.layers), min(n_features, size + self.layers)
        low, high = (int(end) for end in self.sizes)
        if not 1 <= low <= size <= high <= n_features:
            raise MisfeatError(
                "{setting}; they must be sizes of sets of the {n_features} features, the smaller "
                "first, with {asked} between them.",
                setting=Setting("sizes", self.sizes),
                n_features=n_features,
                asked=Setting("size", size),
            )
        return low, high

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.sizes is not None and not (
            isinstance(self.sizes, tuple | list | np.ndarray)
            and len(self.sizes) == 2
            and all(isinstance(end, int | np.integer) for end in self.sizes)
        ):
            raise MisfeatError(
                "{setting}; it must be None or a pair of integers.",
                setting=Setting("sizes", self.sizes),
            )
        if self.activation not in ACTIVATIONS:
            raise MisfeatError(
                "{setting} is unknown; use one of {names}.",
                setting=Setting("activation", self.activation),
                names=ACTIVATIONS,
            )
