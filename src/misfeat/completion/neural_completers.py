"""Completers with a neural network; PyTorch is imported when they guess, not before."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from misfeat.completion.base import BaseCompleter, check_number
from misfeat.completion.completer_data import ExactScores, Guess, Known
from misfeat.completion.interactions_completer import InteractionsCompleter
from misfeat.completion.registry import INHERIT, Confidence, inherited
from misfeat.completion.transfer_completer import TransferCompleter
from misfeat.exceptions import MisfeatError, check_count
from misfeat.lattice.levels import count_nodes, level
from misfeat.messages import Setting
from misfeat.runtime.array_types import Flags, Floats
from misfeat.runtime.devices import check_device, check_torch, torch_device

if TYPE_CHECKING:
    from misfeat.completion.networks.paper import ModelShape, PaperModels


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralCompleter(BaseCompleter):
    """A completer that trains networks when it is asked to guess."""

    counts: ClassVar[Mapping[str, int]] = {}  # whole numbers, with the least that each may be
    shares: ClassVar[tuple[str, ...]] = ()  # parameters that are at least 0 and below 1
    learning_rate: float = 1e-3
    weight_decay: float = 5e-4
    device: str = INHERIT

    @property
    def _device_name(self) -> str:
        return str(inherited("device", self.device))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, least in self.counts.items():
            check_count(getattr(self, name), name, least=least)
        for name in self.shares:
            check_number(getattr(self, name), name, 1, "be at least 0 and below 1")
        for name in ("learning_rate", "weight_decay"):
            check_number(getattr(self, name), name)
        check_device(self._device_name)
        check_torch()


@dataclass(kw_only=True, eq=False, repr=False)
class EpochCompleter(NeuralCompleter):
    """A completer whose networks learn all known scores of their subgroup in every epoch."""

    counts: ClassVar[Mapping[str, int]] = dict.fromkeys(
        ("hidden", "epochs", "validate_every", "patience"), 1
    )
    shares: ClassVar[tuple[str, ...]] = ("validation_share",)

    epochs: int = 1000
    validation_share: float = 0.2
    validate_every: int = 10
    patience: int = 200
    rounds: int = 1


def _mean_where_unlabelled(guess: Floats, labelled: Flags) -> Floats:
    """Guesses in which a subgroup whose network learned nothing gets the mean of the others."""
    return np.where(labelled[:, None], guess, guess[labelled].mean(axis=0))


AROUND = 2  # sets up to so much smaller and larger are learned from, as with the paper's two layers
COPIES_OF_A_STATE = 4  # A state is held before and after its activation, and the same for gradients


@dataclass(kw_only=True, eq=False, repr=False)
class MLPCompleter(EpochCompleter):
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
    epochs, validation_share, validate_every, patience : see `PaperCompleter`
        How long to train.
    hidden : int, default=64
        Width of both layers.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, n_features=5, hide=0.2, random_state=0)
    >>> completer = MLPCompleter(epochs=50, confidence=None, device="cpu")
    >>> selector = SubgroupSelector(data.groups, size=2, completer=completer, confidence=None)
    >>> bool(selector.fit(data.columns, data.target).scores()["score"].notna().all())
    True
    """

    hidden: int = 64

    def reach(self, size: int, n_features: int) -> int:
        """The largest size whose exact scores are read to predict those of `size`."""
        self._check_parameters()
        return min(n_features, size + AROUND)

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that a prediction takes beyond the scores themselves, about."""
        n_sets = count_nodes(n_features, 1, self.reach(size, n_features))
        return 4 * COPIES_OF_A_STATE * n_cohorts * n_sets * (n_features + 2 * int(self.hidden))

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one; every size has networks of its own."""
        sizes = range(1, size + 1)
        return Guess.of([known.exact.by_size[0], *(self._of_size(known, m, size) for m in sizes)])

    def _of_size(self, known: Known, size: int, last: int) -> Floats:
        """What networks that learned from sets of about a size say about all sets of that size."""
        from misfeat.completion.networks.paper import MLPNetwork
        from misfeat.completion.networks.per_subgroup_training import Labels, train

        exact, epochs = known.exact, int(self.epochs)
        low, high = max(1, size - AROUND), min(len(exact.by_size) - 1, size + AROUND)
        scores = np.concatenate(exact.by_size[low : high + 1], axis=1)
        labelled = np.any(~np.isnan(scores), axis=1)
        if not labelled.any():
            return np.zeros_like(exact.by_size[size])

        def on_epoch(epoch: int) -> None:
            if known.progress is not None:
                known.progress("Training the networks", (size - 1) * epochs + epoch, last * epochs)

        n_cohorts, n_features = exact.missing.shape
        labels = [Labels.known(np.arange(len(own)), own) for own in scores]
        rng = np.random.default_rng(self._seed or 0)
        seed = int(rng.integers(2**32))
        network = MLPNetwork(n_cohorts, n_features, low, high, int(self.hidden), seed)
        network.to(torch_device(self._device_name))
        train(network, labels, self, rng, on_epoch)
        return _mean_where_unlabelled(network.predict(size), labelled)


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

    layers: int = 2
    hidden: int = 32
    dropout: float = 0.1
    steps: int = 300
    masks: int = 24
    weight_decay: float = 1e-2
    rounds: int = 3

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one by a network that is trained for it."""
        from misfeat.completion.networks.multiplex import predicted_scores

        exact = known.exact
        ways: list[BaseCompleter] = [InteractionsCompleter(), InteractionsCompleter(largest=1)]
        if known.cohorts is not None:
            ways.append(TransferCompleter())
        scores = predicted_scores(known, size, ways, self, torch_device(self._device_name))
        counts = [len(level(exact.missing.shape[1], m)) for m in range(1, size + 1)]
        return Guess.of([exact.by_size[0], *np.split(scores, np.cumsum(counts)[:-1], axis=1)])


@dataclass(kw_only=True, eq=False, repr=False)
class PaperCompleter(EpochCompleter):
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
    epochs : int, default=1000
        Epochs at most.
    validation_share : float, default=0.2
        The share of the known scores that is held out to choose the epoch whose weights are kept;
        where it is 0, or scores are few, the scores learned from choose.
    validate_every : int, default=10
        Epochs between two looks at the held-out scores.
    patience : int, default=200
        Training ends when no subgroup's held-out scores were predicted better for so many epochs.
    layers : int, default=2
        Layers of the network: how many steps along edges a prediction looks. The graph holds the
        sets of the asked size minus and plus so many features.
    hidden : int, default=128
        Width of a node's state.
    dropout : float, default=0.1
        The share of state values set to 0 while training.
    bounded : bool, default=True
        Whether predictions are kept within what is certain: at least the score of the recorded
        features, at most the ceiling of the measure. False gives the network's bare output, which
        may leave ``low`` and ``high``. Either way a set may score lower than a part of it, as in
        the paper.

    Attributes
    ----------
    models_ : dict of int to PaperModels
        The trained models by the size that was asked for; each can ``predict``.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, n_features=5, hide=0.2, random_state=0)
    >>> completer = PaperCompleter(epochs=50, device="cpu", random_state=0)
    >>> selector = SubgroupSelector(data.groups, size=2, completer=completer, confidence=None)
    >>> bool(selector.fit(data.columns, data.target).scores()["score"].notna().all())
    True
    """

    counts: ClassVar[Mapping[str, int]] = {"layers": 1, **EpochCompleter.counts}
    shares = ("dropout", "validation_share")

    layers: int = 2
    hidden: int = 128
    dropout: float = 0.1
    bounded: bool = True
    confidence: Confidence = None

    def reach(self, size: int, n_features: int) -> int:
        """The largest size whose exact scores are read to predict those of `size`."""
        self._check_parameters()
        return min(n_features, size + self.layers)

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that a prediction takes beyond the scores themselves, about."""
        return self._shape(size, n_features, n_cohorts).memory_of_training()

    def guess(self, known: Known, size: int) -> Guess:
        """Train models and guess the scores of one size; smaller sizes stay as they are known."""
        from misfeat.completion.networks.paper import train_models

        exact = known.exact
        n_cohorts, n_features = exact.missing.shape
        shape = self._shape(size, n_features, n_cohorts)
        if len(exact.by_size) <= shape.high:
            raise MisfeatError(
                f"With {Setting('layers', self.layers)}, scores up to size {shape.high} are read; "
                f"by_size ends at size {len(exact.by_size) - 1}."
            )
        scores = np.concatenate(exact.by_size[shape.low : shape.high + 1], axis=1)
        labelled = np.any(~np.isnan(scores), axis=1)
        if not labelled.any():
            raise MisfeatError(
                f"No subgroup has a score of sizes {shape.low} to {shape.high} to learn from; ask "
                "for a smaller size, give more layers, or use another completer."
            )
        seeds, device = np.random.SeedSequence(self._seed), torch_device(self._device_name)
        models = train_models(shape, exact.by_size, self, device, seeds, known.progress)
        self.models_: dict[int, PaperModels] = {**getattr(self, "models_", {}), size: models}
        guess = _mean_where_unlabelled(models.predict(size, self._device_name), labelled)
        return Guess.of([*exact.by_size[:size], guess])

    def combined(self, guess: Guess, exact: ExactScores) -> Floats:
        """Scores of the asked size: exact where they are known, else guesses, within bounds."""
        size = len(guess.by_size) - 1
        known, score = exact.by_size[size], guess.by_size[size]
        if self.bounded:
            score = np.clip(score, *exact.bounds(size))
        return np.where(np.isnan(known), score, known)

    def _shape(self, size: int, n_features: int, n_cohorts: int) -> "ModelShape":
        from misfeat.completion.networks.paper import ModelShape

        return ModelShape(
            n_features=n_features,
            low=max(1, size - int(self.layers)),
            high=min(n_features, size + int(self.layers)),
            n_cohorts=n_cohorts,
            layers=int(self.layers),
            hidden=int(self.hidden),
            dropout=float(self.dropout),
        )
