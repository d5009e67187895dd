from __future__ import annotations

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts

SIZES = (1, 2, 3, 4)


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
    _, _, pickled, copied, _ = asked_at_once(
        [
            lambda: selector.top_k(size=3),
            lambda: selector.worth_collecting(size=2),
            lambda: pickle.dumps(selector),
            lambda: copy.deepcopy(selector),
            lambda: selector.save(tmp_path / "run"),
        ]
    )
    unpickled = pickle.loads(pickled)  # noqa: S301
    for again in (unpickled, copied, SubgroupSelector.load(tmp_path / "run")):
        pd.testing.assert_frame_equal(again.scores(size=4), expected.scores(size=4))


def test_copies_have_locks_of_their_own(data):
    selector = fitted(data)
    for twin in (copy.deepcopy(selector), pickle.loads(pickle.dumps(selector))):  # noqa: S301
        with selector.selection_.book._lock:  # a shared lock would keep the thread waiting
            (found,) = asked_at_once([partial(twin.top_k, size=2)])
        pd.testing.assert_frame_equal(found, selector.top_k(size=2))
    assert np.array_equal(
        clone(selector).fit(pd.DataFrame(data.columns), data.target).get_support(),
        selector.get_support(),
    )
