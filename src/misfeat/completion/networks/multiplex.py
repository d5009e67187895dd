"""The multiplex network: messages along the lattice and across cohorts, one set of weights.

Every set in every cohort has a state. In each layer it reads the mean states of the sets one larger
and one smaller, of all its neighbours in the lattice, and of the same set in the other cohorts:

    h(S, i) <- h(S, i) + relu( W [h(S, i), mean above, mean below, mean around, mean over j != i
               of h(S, j)] + b ).

All cohorts share all weights, so that a new cohort needs no new ones. The last state chooses a
mixture of the given guesses and a factor for it: an untrained network says nearly the first of
them. It is trained by hiding features that the table has. Some are hidden for validation only, so
that the kept weights are those that best predict features which training never hid.

Scores are in units of the table's mean known score. Arrays have sets first, level after level as in
`misfeat.lattice.neighbour_sums.Neighbours`, then cohorts.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from misfeat.completion.base import BaseCompleter, closed_upwards
from misfeat.completion.completer_data import OWN_ROWS, ExactScores, Known, support_of
from misfeat.lattice.levels import level
from misfeat.lattice.neighbour_sums import Neighbours
from misfeat.runtime.array_types import Array, Flags, Floats

if TYPE_CHECKING:
    from misfeat.completion.neural_completers import MultiplexCompleter

N_FACTS = 9  # numbers that describe a set in a cohort, beside one for every guess
FIRST_GUESS_AHEAD = 2.0  # how far the first guess is ahead before training, on the log scale
LARGEST_STRETCH = 0.3  # A mixture of guesses is stretched or shrunk by at most exp(0.3)
VALIDATION_SHARE = 0.25  # the share of the features that is hidden for validation only
HIDDEN_SHARES = (0.1, 0.3)  # between which a share of the others is hidden from every cohort
VALIDATION_SHARES = (0.2, 0.6)  # the same for features that are hidden for validation
VALIDATE_EVERY = 10


class Inputs(NamedTuple):
    """What the network sees of a table."""

    facts: Tensor  # (n_sets, n_cohorts, N_FACTS + n_guesses): what is known, and guessed gains
    missing: Tensor  # (n_cohorts, n_features): 1 where a cohort never recorded a feature
    gains: Tensor  # (n_sets, n_cohorts, n_guesses): guessed gains over the recorded part
    floor: Floats  # (n_sets, n_cohorts): the score of the recorded part


class MultiplexNetwork(nn.Module):
    """Predicts how much each set gains over its recorded part, in units of the mean score."""

    bits: Tensor

    def __init__(
        self, graph: Neighbours, n_guesses: int, layers: int, hidden: int, dropout: float
    ) -> None:
        super().__init__()
        self.graph = graph
        self.register_buffer("bits", graph.bits().to(graph.degree.device), persistent=False)
        self.facts = nn.Linear(N_FACTS + n_guesses, hidden)
        self.features = nn.Linear(graph.n_features, hidden, bias=False)
        self.unrecorded = nn.Linear(graph.n_features, hidden, bias=False)
        self.layers = nn.ModuleList(nn.Linear(5 * hidden, hidden) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(hidden, n_guesses + 1)
        for untrained in (self.features, self.unrecorded, self.head):
            nn.init.zeros_(untrained.weight)
        nn.init.zeros_(self.head.bias)
        nn.init.constant_(self.head.bias[:1], FIRST_GUESS_AHEAD)

    def forward(self, inputs: Inputs) -> Tensor:
        """Gains of shape (n_sets, n_cohorts)."""
        graph, unrecorded = self.graph, self.bits[:, None] * inputs.missing[None]
        known = self.facts(inputs.facts) + self.features(self.bits)[:, None]
        state = torch.relu(known + self.unrecorded(unrecorded))
        for layer in self.layers:
            elsewhere = (state.sum(dim=1, keepdim=True) - state) / max(state.shape[1] - 1, 1)
            around = [graph.mean_above(state), graph.mean_below(state), graph.mean(state)]
            messages = torch.cat([state, *around, elsewhere], dim=2)
            state = state + self.dropout(torch.relu(layer(messages)))
        out = self.head(state)
        mixture = (torch.softmax(out[..., :-1], dim=2) * inputs.gains).sum(dim=2)
        return mixture * torch.exp(LARGEST_STRETCH * torch.tanh(out[..., -1]))


class Lesson(NamedTuple):
    """A look at the table with features hidden, and what the network should have said."""

    inputs: Inputs
    gains: Tensor
    tested: Tensor

    def loss(self, network: MultiplexNetwork) -> Tensor:
        """The mean squared error of hidden gains."""
        errors: Tensor = (network(self.inputs) - self.gains)[self.tested]
        return (errors**2).mean()


class Lessons(NamedTuple):
    """Makes lessons of one table: its `ways` are completers whose guesses the network mixes."""

    known: Known
    size: int
    ways: Sequence[BaseCompleter]
    unit: float
    device: torch.device

    def with_hidden(self, masks: Iterator[Flags]) -> list[Lesson]:
        """A lesson for every mask that hides a known score."""
        truth, lessons = by_level(self.known.exact.by_size[: self.size + 1]), []
        for mask in masks:
            hidden = self.known.hidden(mask)
            tested = np.isnan(by_level(hidden.exact.by_size[: self.size + 1])) & ~np.isnan(truth)
            if tested.any():
                inputs = self.inputs(hidden)
                gains = np.nan_to_num((truth - inputs.floor) / self.unit)
                goal, where = self.tensor(gains), torch.from_numpy(tested).to(self.device)
                lessons.append(Lesson(inputs, goal, where))
        return lessons

    def inputs(self, known: Known) -> Inputs:
        """What is known of all sets up to a size, and what other completers guess."""
        exact, size, unit = known.exact, self.size, self.unit
        guessed = [way.guess(known, size).by_size for way in self.ways]
        guesses = [by_level(closed_upwards(by_size, exact)) for by_size in guessed]
        floor = by_level([exact.by_size[0], *(exact.bounds(m)[0] for m in range(1, size + 1))])
        gains = np.maximum(np.stack(guesses, axis=2) - floor[:, :, None], 0.0) / unit
        facts = np.concatenate([_facts(exact, size, floor, unit), gains], axis=2)
        return Inputs(self.tensor(facts), self.tensor(exact.missing), self.tensor(gains), floor)

    def tensor(self, values: Array) -> Tensor:
        """Values on the device."""
        return torch.from_numpy(values).float().to(self.device)


def predicted_scores(
    known: Known,
    size: int,
    ways: Sequence[BaseCompleter],
    settings: "MultiplexCompleter",
    device: torch.device,
) -> Floats:
    """Scores of all sets up to a size, (n_cohorts, n_sets), by a network trained for it."""
    seed = int(settings._seed or 0)
    scores = np.concatenate([s[~np.isnan(s)] for s in known.exact.by_size[1 : size + 1]])
    unit = float(scores.mean()) if len(scores) and scores.mean() > 0 else 1.0
    graph = Neighbours(known.exact.missing.shape[1], 1, size).to(device)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        shape = settings.layers, settings.hidden, settings.dropout
        network = MultiplexNetwork(graph, len(ways), *shape).to(device)
        lessons = Lessons(known, size, ways, unit, device)
        train(network, lessons, settings, np.random.default_rng(seed))
        inputs = lessons.inputs(known)
        with torch.no_grad():
            gains = network(inputs).double().cpu().numpy() * unit
    return (inputs.floor + gains).T


def by_level(by_size: Sequence[Floats]) -> Floats:
    """Scores of sizes 1 and more as one array of shape (n_sets, n_cohorts)."""
    return np.concatenate(list(by_size[1:]), axis=1).T


def _facts(exact: ExactScores, size: int, floor: Floats, unit: float) -> Floats:
    n_cohorts, n_features = exact.missing.shape
    scores = by_level(exact.by_size[: size + 1])
    is_known = ~np.isnan(scores)
    known = np.nan_to_num(scores)
    others = is_known.sum(axis=1, keepdims=True) - is_known
    elsewhere = (known.sum(axis=1, keepdims=True) - known) / np.maximum(others, 1)
    levels = [level(n_features, m) for m in range(1, size + 1)]
    lacking = np.concatenate([exact.missing[:, s].sum(axis=2) for s in levels], axis=1).T
    support = np.concatenate([support_of(exact.missing, s) for s in levels], axis=1).T
    sizes = np.concatenate([np.full(len(s), s.shape[1]) for s in levels])
    return np.stack(
        [
            known / unit,
            is_known,
            floor / unit,
            (exact.ceiling - floor) / unit,
            elsewhere / unit,
            others / max(n_cohorts - 1, 1),
            lacking / size,
            support / OWN_ROWS,
            np.broadcast_to(sizes[:, None] / size, scores.shape),
        ],
        axis=2,
    )


def train(
    network: MultiplexNetwork,
    lessons: Lessons,
    settings: "MultiplexCompleter",
    rng: np.random.Generator,
) -> None:
    """Train on hidden features, where there are any, and keep the best weights."""
    missing = lessons.known.exact.missing
    for_validation = np.zeros(missing.shape[1], dtype=bool)
    shared = rng.permutation(np.flatnonzero((~missing).sum(axis=0) >= 2))
    for_validation[shared[: max(1, round(VALIDATION_SHARE * len(shared)))]] = True
    masks = masks_of(missing, ~for_validation, settings.masks, HIDDEN_SHARES, rng)
    training = lessons.with_hidden(masks)
    masks = masks_of(missing, for_validation, -(-settings.masks // 3), VALIDATION_SHARES, rng)
    validation = lessons.with_hidden(masks)
    if training and validation:
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        best, weights = np.inf, network.state_dict()
        for step in range(settings.steps + 1):
            if step % VALIDATE_EVERY == 0:
                network.eval()
                with torch.no_grad():
                    loss = float(np.mean([float(lesson.loss(network)) for lesson in validation]))
                if loss < best:
                    best, weights = loss, deepcopy(network.state_dict())
                if lessons.known.progress is not None:
                    lessons.known.progress("Training the multiplex network", step, settings.steps)
            network.train()
            optimizer.zero_grad()
            training[int(rng.integers(len(training)))].loss(network).backward()
            optimizer.step()
        network.load_state_dict(weights)
    network.eval()


def masks_of(
    missing: Flags,
    allowed: Flags,
    count: int,
    shares: tuple[float, float],
    rng: np.random.Generator,
) -> Iterator[Flags]:
    """Masks that hide some allowed features from cohorts, each left recorded somewhere."""
    recorded = ~missing
    for _ in range(count):
        mask = recorded & allowed & (rng.random(missing.shape) < rng.uniform(*shares))
        for feature in np.flatnonzero((recorded & ~mask).sum(axis=0) == 0):
            holders = np.flatnonzero(recorded[:, feature])
            if len(holders):
                mask[rng.choice(holders), feature] = False
        for cohort in np.flatnonzero((recorded & ~mask).sum(axis=1) == 0):
            hidden = np.flatnonzero(mask[cohort])
            if len(hidden):
                mask[cohort, rng.choice(hidden)] = False
        if mask.any():
            yield mask
