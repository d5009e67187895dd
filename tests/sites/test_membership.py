"""Whether one row was counted cannot be told better than epsilon allows, from many releases."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pytest
from scipy.stats import beta

from misfeat.lattice import count
from misfeat.sites import agree, propose, summarise
from misfeat.sites.noise import noisy_summary

pytestmark = pytest.mark.slow  # processes, or very many draws

pytest.importorskip("opendp")
RELEASES = 1000
SURE = 0.999


@pytest.fixture(scope="module")
def neighbours():
    """The same rows with one more, and without it."""
    rng = np.random.default_rng(8)
    table = {name: rng.integers(0, 2, 500) for name in ("a", "b")}
    table["ill"] = rng.random(500) < 0.5
    codebook, _ = agree([propose(table, "ill", "north")])
    without = summarise(
        {name: held[:-1] for name, held in table.items()}, codebook, "north", share="tables2"
    )
    return summarise(table, codebook, "north", share="tables2"), without


def likelihood_ratios(summary, neighbours, epsilon, releases):
    """What an attacker who knows all rows but one makes of each release: the best test there is."""
    held, lacking = ([one.by_class[None], *one.of_sizes()] for one in neighbours)
    found = []
    for _ in range(releases):
        told = noisy_summary(summary, epsilon)
        counts = [np.array([told.noise.classes]), *told.of_sizes()]
        found.append(
            sum(
                float((((t - no) ** 2 - (t - yes) ** 2) / (2 * scale**2)).sum())
                for t, yes, no, scale in zip(counts, held, lacking, told.noise.scales, strict=True)
            )
        )
    return np.array(found)


def seen_epsilon(inside, outside, delta):
    """The least epsilon that the attacker's hits and false alarms allow for, but for bad luck."""
    best = 0.0
    for limit in np.quantile(inside, [0.1, 0.3, 0.5, 0.7, 0.9]):
        hits, alarms = int((inside > limit).sum()), int((outside > limit).sum())
        low = beta.ppf(1 - SURE, hits, len(inside) - hits + 1) if hits else 0.0
        high = beta.ppf(SURE, alarms + 1, len(outside) - alarms)
        if low > delta:
            best = max(best, float(np.log((low - delta) / high)))
    return best


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_an_attacker_who_knows_all_other_rows_learns_no_more_than_promised(neighbours, epsilon):
    with_row, without = neighbours
    inside = likelihood_ratios(with_row, neighbours, epsilon, RELEASES)
    outside = likelihood_ratios(without, neighbours, epsilon, RELEASES)
    delta = 1e-6
    assert seen_epsilon(inside, outside, delta) <= epsilon
    # The attack is no strawman: with the row's releases taken for stronger noise it would be seen.
    assert inside.mean() > outside.mean()
    for limit in np.quantile(inside, [0.1, 0.5, 0.9]):
        hits, alarms = (inside > limit).mean(), (outside > limit).mean()
        luck = 4.0 * (0.5 + exp(epsilon) * np.sqrt(max(alarms, 1e-3))) / np.sqrt(RELEASES)
        assert hits - exp(epsilon) * alarms <= delta + luck


def test_less_noise_than_promised_would_be_noticed(neighbours):
    with_row, without = neighbours
    inside = likelihood_ratios(with_row, neighbours, 8.0, 600)
    outside = likelihood_ratios(without, neighbours, 8.0, 600)
    assert seen_epsilon(inside, outside, 1e-6) > 1.0


def test_one_row_is_in_one_count_of_every_table(neighbours):
    with_row, without = neighbours
    for size, (one, other) in enumerate(
        zip(with_row.of_sizes(), without.of_sizes(), strict=True), start=1
    ):
        assert np.abs(one - other).sum() == count(2, size)
    assert replace(with_row).rows == without.rows + 1
