"""Populations learnt from tables that are too small to be one.

A network is learnt from all rows: features in the order of what they tell about the target, each
depending on the target and on up to two features before it, those that it goes with most within
classes. Every subgroup has numbers of its own, drawn towards those of all subgroups, which are
drawn towards what the target alone leads one to expect. Rows drawn from it are the population; it
has interactions of up to three features, and subgroups that differ about as the table's do.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.common.draws import Source, source_of
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.cohort_data import NOT_RECORDED
from misfeat.datasets import load_heart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

ROWS = 50_000
"""Rows of every subgroup's population."""
PARENTS = 2
WEIGHT = 10.0
"""Rows that what all subgroups say weighs beside a subgroup's own, and the target beside that."""


class _Node(NamedTuple):
    """A feature, and those before it that it depends on."""

    feature: int
    parents: tuple[int, ...]


@lru_cache(maxsize=1)
def learnt_source(table: str) -> Source:
    """A population learnt from a table; heart's hospitals are the subgroups that it comes with."""
    if table != "heart":
        return Source(learnt_population(source_of(table, 1).cohorts, 1))
    data = load_heart()
    coding = Coding(bins=data.bins, target="classes")
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups, coding=coding)
    return Source(learnt_population(cohorts, 1))


def learnt_population(cohorts: Cohorts, seed: int) -> Cohorts:
    """Rows of a population like the one that a table may come from.

    Parameters
    ----------
    cohorts : Cohorts
        The table.
    seed : int
        Which rows are drawn.
    """
    rng = np.random.default_rng([seed, len(cohorts.features)])
    cards = np.array([len(labels) for labels in cohorts.categories])
    codes, target, place = _rows_of(cohorts)
    nodes = _network(codes, target, cards)
    found = [
        _drawn(nodes, codes, target, place == number, cards, rng) for number in range(len(cohorts))
    ]
    for (_, drawn), lacking in zip(found, cohorts.missing, strict=True):
        drawn[lacking] = NOT_RECORDED
    return replace(
        cohorts,
        codes=np.ascontiguousarray(np.concatenate([drawn for _, drawn in found], axis=1), np.int8),
        target_codes=np.concatenate([classes for classes, _ in found]).astype(np.int8),
        weights=np.ones(ROWS * len(cohorts), dtype=np.int64),
        offsets=ROWS * np.arange(len(cohorts) + 1, dtype=np.int64),
    )


def _rows_of(cohorts: Cohorts) -> tuple[Ints, Ints, Ints]:
    """Codes of every feature (-1: never recorded, the last one: missing), classes and subgroups."""
    codes, target, place = [], [], []
    for number, cohort in enumerate(cohorts):
        weights = cohort.weights.astype(np.int64)
        codes.append(np.repeat(cohort.codes.astype(np.int64), weights, axis=1))
        target.append(np.repeat(cohort.target.astype(np.int64), weights))
        place.append(np.full(int(weights.sum()), number))
    return np.concatenate(codes, axis=1), np.concatenate(target), np.concatenate(place)


def _network(codes: Ints, target: Ints, cards: Ints) -> list[_Node]:
    """Which features each depends on beside the target."""
    alone = np.zeros_like(target)
    n_classes = int(target.max()) + 1
    told = [_beyond_chance(codes[f], target, alone, cards[f], n_classes) for f in range(len(cards))]
    order = np.argsort(told)[::-1].tolist()
    nodes = []
    for number, feature in enumerate(order):
        goes_with = {
            other: _beyond_chance(
                codes[feature], codes[other], target, cards[feature], cards[other]
            )
            for other in order[:number]
        }
        best = sorted(goes_with, key=goes_with.__getitem__, reverse=True)[:PARENTS]
        nodes.append(_Node(feature, tuple(one for one in best if goes_with[one] > 0)))
    return nodes


def _beyond_chance(one: Ints, other: Ints, given: Ints, n_one: int, n_other: int) -> float:
    """How much two features tell of each other given a third, less what chance gives (nats)."""
    known = (one >= 0) & (other >= 0)
    counts = np.zeros((int(given.max()) + 1, n_one, n_other))
    np.add.at(counts, (given[known], one[known], other[known]), 1.0)
    rows = counts.sum(axis=(1, 2), keepdims=True)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=2, keepdims=True)
    ratio = np.divide(counts * rows, expected, out=np.ones_like(counts), where=counts > 0)
    used = ((counts.sum(axis=1) > 0).sum(axis=1) - 1) * ((counts.sum(axis=2) > 0).sum(axis=1) - 1)
    return float(((counts * np.log(ratio)).sum() - used.sum() / 2.0) / max(known.sum(), 1))


def _drawn(
    nodes: list[_Node], codes: Ints, target: Ints, own: Flags, cards: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Classes and codes of the population of one subgroup."""
    n_classes = int(target.max()) + 1
    share = np.bincount(target[own], minlength=n_classes) / own.sum()
    classes = rng.choice(n_classes, ROWS, p=share)
    found = np.full((len(cards), ROWS), -1)
    for feature, parents in nodes:
        whole = _counts(feature, parents, codes, target, cards, np.ones_like(own))
        by_class = whole.sum(axis=0) + 1.0 / cards[feature]
        expected = by_class / by_class.sum(axis=1, keepdims=True)
        for counts in (whole, _counts(feature, parents, codes, target, cards, own)):
            expected = counts + WEIGHT * expected
            expected = expected / expected.sum(axis=-1, keepdims=True)
        likely = expected[_line(parents, found, cards), classes].cumsum(axis=1)
        found[feature] = (rng.random((ROWS, 1)) > likely[:, :-1]).sum(axis=1)
    return classes, found


def _counts(
    feature: int, parents: tuple[int, ...], codes: Ints, target: Ints, cards: Ints, used: Flags
) -> Floats:
    """Rows by values of the parents, class and value, of those that are used."""
    n_lines = int(np.prod([cards[one] for one in parents], dtype=np.int64))
    counts = np.zeros((n_lines, int(target.max()) + 1, cards[feature]))
    known = used & (codes[[feature, *parents]] >= 0).all(axis=0)
    line = _line(parents, codes[:, known], cards)
    np.add.at(counts, (line, target[known], codes[feature, known]), 1.0)
    return counts


def _line(parents: tuple[int, ...], codes: Ints, cards: Ints) -> Ints:
    line = np.zeros(codes.shape[1], dtype=np.int64)
    for one in parents:
        line = line * cards[one] + codes[one]
    return line
