import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import comb
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from misfeat import SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from misfeat.completion import InteractionsCompleter
from misfeat.datasets import make_cohorts
from misfeat.estimation.score_estimate import Estimate
from misfeat.estimation.set_scores import SetScores
from misfeat.information.measures import information_of

SIZES = (1, 2, 3, 4)
N_FEATURES = 5


@pytest.fixture(scope="module")
def data():
    return make_cohorts(4, 150, 6, hide=0.25, random_state=0)


def fitted(data, **settings):
    selector = SubgroupSelector(data.groups, size=1, random_state=0, **settings)
    return selector.fit(pd.DataFrame(data.columns), data.target)


def asked_at_once(questions):
    """The answers of questions that as many threads ask at the same moment."""
    barrier = Barrier(len(questions))

    def ask(question):
        barrier.wait()
        return question()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(len(questions)) as threads:
            return list(threads.map(ask, questions))
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"budget": 0.7, "completer": "interactions"}])
def test_threads_that_ask_for_different_sizes_get_what_one_would(data, settings):
    expected = fitted(data, **settings)
    frames = {size: expected.worth_collecting(size=size) for size in SIZES}
    for _ in range(3):
        selector = fitted(data, **settings)
        found = asked_at_once([partial(selector.worth_collecting, size=size) for size in SIZES])
        assert [len(frame) for frame in found] == [len(frames[size]) for size in SIZES]
        if "budget" not in settings:  # under a budget the choice depends on who came first
            for size, frame in zip(SIZES, found, strict=True):
                pd.testing.assert_frame_equal(frame, frames[size])


def test_saving_and_copying_while_others_ask_gives_whole_books(data, tmp_path):
    selector = fitted(data)
    expected = fitted(data)
    questions = partial(selector.top_k, size=3), partial(selector.worth_collecting, size=2)
    copies = partial(pickle.dumps, selector), partial(copy.deepcopy, selector)
    save = partial(selector.save, tmp_path / "run")
    _, _, pickled, copied, _ = asked_at_once([*questions, *copies, save])
    unpickled = pickle.loads(pickled)  # noqa: S301
    for again in (unpickled, copied, SubgroupSelector.load(tmp_path / "run")):
        pd.testing.assert_frame_equal(again.scores(size=4), expected.scores(size=4))


def test_copies_have_locks_of_their_own(data):
    selector = fitted(data)
    for twin in (copy.deepcopy(selector), pickle.loads(pickle.dumps(selector))):  # noqa: S301
        with selector.selection_.set_scores._lock:  # a shared lock would keep the thread waiting
            (found,) = asked_at_once([partial(twin.top_k, size=2)])
        pd.testing.assert_frame_equal(found, selector.top_k(size=2))
    again = clone(selector).fit(pd.DataFrame(data.columns), data.target)
    assert np.array_equal(again.get_support(), selector.get_support())


@pytest.fixture(scope="module")
def measure():
    """Two subgroups and a number for a target, which is cut in several ways."""
    rng = np.random.default_rng(4)
    table = {f"f{number}": rng.integers(0, 3, 120) for number in range(N_FEATURES)}
    table |= {"group": np.repeat(["a", "b"], 60), "y": rng.normal(size=120)}
    return information_of(build_cohorts(table, "y", groups="group", coding=Coding(target="number")))


def levels(measure, budget):
    estimate = Estimate("sample", InteractionsCompleter())
    scores = SetScores(measure, estimate, budget=budget, sampler="stratified", seed=1)
    scores.known(3, counted=3)
    return scores._by_grid[1:]


def test_of_a_budget_the_same_sets_are_computed_in_every_grid(measure):
    n_grids = len(measure.parts)
    assert n_grids > 1
    whole, some = levels(measure, 1.0), levels(measure, 0.5)
    for m, (of_all, found) in enumerate(zip(whole, some, strict=True), start=1):
        assert of_all.shape == (n_grids, 2, comb(N_FEATURES, m))
        assert np.isfinite(of_all).all()
        computed = np.isfinite(found)
        assert (computed == computed[0]).all()
        np.testing.assert_allclose(found[computed], of_all[computed], rtol=0, atol=1e-12)
    n_computed = sum(int(np.isfinite(scores[0, 0]).sum()) for scores in some)
    assert 0 < n_computed < sum(comb(N_FEATURES, m) for m in (1, 2, 3))
