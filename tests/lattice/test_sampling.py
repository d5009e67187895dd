from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from misfeat.lattice.sampling import SAMPLERS, arbitrary, randwalk, stratified


@pytest.mark.parametrize("sampler", SAMPLERS)
@given(data=st.data())
def test_a_sample_holds_distinct_subsets_of_the_sizes_in_play(sampler, data):
    n = data.draw(st.integers(1, 12))
    low = data.draw(st.integers(1, n))
    high = data.draw(st.integers(low, n))
    budget = data.draw(st.floats(0.01, 1.0))
    seed = data.draw(st.integers(0, 2**32 - 1))
    sample = SAMPLERS[sampler](n, low, high, budget, np.random.default_rng(seed))
    sizes = range(low, high + 1)
    assert len(sample) == len(sizes)
    for size, ranks in zip(sizes, sample, strict=True):
        assert (np.diff(ranks) > 0).all()
        assert not len(ranks) or (ranks[0] >= 0 and ranks[-1] < comb(n, size))
    total = sum(comb(n, size) for size in sizes)
    wanted = sum(map(len, sample))
    if sampler == "stratified":
        assert wanted == sum(int(np.ceil(budget * comb(n, size))) for size in sizes)
    else:
        assert wanted == int(np.ceil(budget * total))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_seed_repeats_a_sample_and_the_whole_budget_collects_every_subset(sampler):
    sample = SAMPLERS[sampler](7, 1, 4, 1.0, np.random.default_rng(0))
    assert [len(ranks) for ranks in sample] == [comb(7, size) for size in range(1, 5)]
    first, again, other = (
        SAMPLERS[sampler](9, 1, 4, 0.3, np.random.default_rng(seed)) for seed in (5, 5, 6)
    )
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def visits(sampler, n: int, low: int, high: int, budget: float, seeds: range) -> np.ndarray:
    counts = [np.zeros(comb(n, size)) for size in range(low, high + 1)]
    for seed in seeds:
        for seen, ranks in zip(
            counts, sampler(n, low, high, budget, np.random.default_rng(seed)), strict=True
        ):
            seen[ranks] += 1
    return np.concatenate(counts)


@pytest.mark.parametrize("sampler", [randwalk, arbitrary])
@pytest.mark.parametrize(("low", "high"), [(1, 6), (1, 4), (1, 2)])
def test_over_many_seeds_every_subset_is_collected_equally_often(sampler, low, high):
    seen = visits(sampler, 6, low, high, 0.3, range(3000))
    assert chisquare(seen).pvalue > 0.01


def test_stratified_samples_collect_every_subset_of_a_size_equally_often():
    seen = visits(stratified, 6, 3, 3, 0.3, range(2000))
    assert chisquare(seen).pvalue > 0.01


def test_a_budget_just_below_everything_comes_to_an_end():
    for high in (13, 14):
        total = sum(comb(14, size) for size in range(1, high + 1))
        sample = randwalk(14, 1, high, (total - 1) / total, np.random.default_rng(0))
        assert sum(map(len, sample)) == total - 1


def test_a_sample_of_a_space_too_large_to_list_is_drawn():
    sample = randwalk(500, 2, 3, 1e-5, np.random.default_rng(0))
    assert sum(map(len, sample)) == int(np.ceil(1e-5 * (comb(500, 2) + comb(500, 3))))
