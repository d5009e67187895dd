from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion.transfer.kernels.fitting import (
    Parts,
    donors_mean,
    fit_conditional,
    rake_pair,
)
from misfeat.completion.transfer.kernels.tables import LANES, in_lanes


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("first_a", [True, False])
def test_a_raked_pair_has_both_margins(rng, first_a):
    wanted = rng.random((3, 4, 2)) + 0.1
    of_a, of_b = wanted.sum(axis=1), wanted.sum(axis=0)
    table = rng.random((12, 2)) + 0.5
    rake_pair(table, first_a, of_a, of_b)
    raked = table.reshape(3, 4, 2)
    assert raked.sum(axis=1) == pytest.approx(of_a, rel=1e-3)
    assert raked.sum(axis=0) == pytest.approx(of_b, rel=1e-3)
    last, exact = (0, of_b) if first_a else (1, of_a)
    assert raked.sum(axis=last) == pytest.approx(exact)


def test_a_fitted_distribution_sums_to_one_and_gives_the_part_it_was_fitted_to(rng):
    rows = rng.integers(5, 50, size=(2, 3)).astype(float)
    truth = rng.dirichlet(np.ones(4), size=(2, 3)).transpose(0, 2, 1)
    part = (truth * rows[:, None]).sum(axis=0)  # of the unrecorded feature alone
    parts = Parts(
        wanted=part.reshape(1, -1),
        sizes=np.array([12]),
        lengths=np.array([12]),
        o_lines=np.zeros((1, 2), np.int64),
        q_lines=np.zeros((1, 4), np.int64),
    )
    shares = np.full((2, 4, 3), 0.25)
    fit_conditional(shares, rows, parts, 50)
    assert shares.sum(axis=1) == pytest.approx(np.ones((2, 3)))
    assert (shares * rows[:, None]).sum(axis=0) == pytest.approx(part, rel=1e-6)


def test_the_mean_of_donors_is_a_distribution_that_backs_off_to_the_prior(rng):
    cards, o_strides = np.array([3, 2]), np.array([0, 1])  # the first feature is lacking
    tables = in_lanes(rng.random((2, 6, 2)) * 10, np.arange(2), 0, 6)
    prior = rng.dirichlet(np.ones(3), size=2).T
    mean = donors_mean(tables, np.array([10.0, 30.0]), cards, o_strides, 2)
    assert mean.o_cells.tolist() == [0, 1, 0, 1, 0, 1]
    whole = mean.average + mean.of_prior[mean.o_cells] * np.repeat(prior, 2, axis=0)
    assert whole.reshape(3, 2, 2).sum(axis=0) == pytest.approx(np.ones((2, 2)))
    empty = donors_mean(np.zeros((1, 6, 2, LANES)), np.ones(1), cards, o_strides, 2)
    assert not empty.average.any()
    assert (empty.of_prior == 1).all()


def test_without_donors_there_is_no_mean():
    nobody = np.zeros((0, 6, 2, LANES))
    none = donors_mean(nobody, np.ones(0), np.array([3, 2]), np.array([0, 1]), 2)
    assert len(none.average) == 0
