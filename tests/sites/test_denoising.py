from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from misfeat.information.count_tables import table_starts
from misfeat.lattice import count, level
from misfeat.reading.coders import CodedRows
from misfeat.sites.denoising import MOST, denoised, own_parts
from misfeat.sites.summarising import tables_of_rows
from misfeat.sites.summary import margins


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(2)
    cards, n = np.array([2, 3, 3, 2]), 900
    codes = np.array([rng.integers(0, card, n) for card in cards])
    target = (rng.random(n) < 0.3 + 0.2 * (codes[0] == codes[3])).astype(int)
    rows = CodedRows(np.vstack([codes, target]), np.ones(n, dtype=np.int64))
    counted = [tables_of_rows(rows, cards, 2, level(4, m).astype(np.int64))[0] for m in (1, 2, 3)]
    return cards, [np.bincount(target)[None].astype(float), *counted]


def test_tables_without_noise_come_back(tables):
    cards, exact = tables
    found = denoised(exact, exact[0][0], cards, [1e-3] * 4)
    for held, true in zip(found.tables, exact[1:], strict=True):
        assert np.abs(held - true).max() < 0.02 * true.max()


def test_larger_tables_have_smaller_ones_in_common_and_no_count_is_below_0(tables):
    cards, exact = tables
    rng = np.random.default_rng(0)
    told = [np.rint(held + rng.normal(0, 20, held.shape)) for held in exact]
    found = denoised(told, exact[0][0], cards, [20.0] * 4)
    singles, pairs, triples = found.tables
    assert min(held.min() for held in found.tables) >= 0
    assert np.allclose(singles.sum(axis=0), len(cards) * exact[0][0])
    assert np.allclose(margins(pairs, cards, 2), singles, atol=1.0)
    assert np.abs(margins(triples, cards, 3) - pairs).max() < 5.0


def test_all_tables_together_tell_more_than_each_does(tables):
    cards, exact = tables
    rng = np.random.default_rng(1)
    off_alone, off_together = [], []
    for _ in range(5):
        told = [np.rint(held + rng.normal(0, 10, held.shape)) for held in exact]
        found = denoised(told, exact[0][0], cards, [10.0] * 4)
        off_alone.append([np.abs(t - e).mean() for t, e in zip(told[1:], exact[1:], strict=True)])
        off_together.append(
            [np.abs(t - e).mean() for t, e in zip(found.tables, exact[1:], strict=True)]
        )
    assert (np.mean(off_together, axis=0) < 0.8 * np.mean(off_alone, axis=0)).all()


def test_own_parts_are_least_squares(tables):
    cards, exact = tables
    rng = np.random.default_rng(3)
    scales = [3.0, 5.0, 8.0, 13.0]
    told = [
        held + rng.normal(0, scale, held.shape) for held, scale in zip(exact, scales, strict=True)
    ]
    parts, noise = own_parts(told, cards, scales)
    assert len(parts) == sum(count(4, m) for m in range(4))
    # The sum of all classes and values: every table tells it, each as well as its cells allow.
    lines, values = [], []
    for m, (held, scale) in enumerate(zip(told, scales, strict=True)):
        starts = table_starts(level(4, m), cards) if m else np.array([0, 1])
        for first, last in pairwise(starts):
            lines.append(1 / (scale**2 * (last - first)))
            values.append(held[first:last].sum(axis=0))
    best = np.average(values, axis=0, weights=lines)
    assert np.allclose(parts[()], best)
    assert noise[()] == pytest.approx(1 / sum(lines))


def test_interactions_that_noise_alone_makes_up_are_believed_in_only_so_far(tables):
    cards, exact = tables
    rng = np.random.default_rng(3)
    told = [np.rint(held + rng.normal(0, 60, held.shape)) for held in exact]
    told[2] += 400 * (np.indices(told[2].shape).sum(axis=0) % 7)
    pairs = denoised(told, exact[0][0], cards, [60.0] * 4).trust[1]
    cell = exact[2].sum(axis=0).max()
    assert 1.0 < pairs <= 1.0 + MOST * cell
