import numpy as np
import pytest

from benchmarks.completers import (
    COMPLETERS,
    DropCompleter,
    GainCompleter,
    ModeCompleter,
    completer_of,
)
from benchmarks.completers.imputing import ChainSettings, chained_codes
from misfeat.completion import ExactScores, Known
from misfeat.testing import check_completer
from tests.completion.coded import cohorts_of, known_of, random_cohorts

NAN = np.nan


def exact(*by_size: list[list[float]], missing: list[list[int]], ceiling: float = 1.0):
    n_cohorts = len(missing)
    return ExactScores(
        by_size=(np.zeros((n_cohorts, 1)), *(np.array(scores) for scores in by_size)),
        missing=np.array(missing, dtype=bool),
        ceiling=np.full(n_cohorts, ceiling),
    )


def test_a_prediction_adds_the_mean_gain_of_the_cohorts_that_recorded_the_set():
    scores = exact(
        [[0.1, 0.2], [0.3, 0.1], [0.2, NAN]],
        [[0.25], [0.45], [NAN]],
        missing=[[0, 0], [0, 0], [0, 1]],
    )
    completed = GainCompleter(confidence=None).complete(Known(scores), 2)
    assert completed.score[2, 0] == pytest.approx(0.2 + (0.15 + 0.15) / 2)
    assert (completed.low[2, 0], completed.high[2, 0]) == (0.2, 1.0)
    assert completed.predicted.tolist() == [[False], [False], [True]]


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_one_value_for_all_rows_tells_nothing(gaps):
    known = known_of(random_cohorts(1, gaps=gaps), 3)
    by_mode, dropped = (
        completer(confidence=None).complete(known, 3).score
        for completer in (ModeCompleter, DropCompleter)
    )
    assert by_mode == pytest.approx(dropped)


SETTINGS = ChainSettings(sweeps=3, max_rows=10_000, rows_per_leaf=5, with_target=True)


def chained(cohorts, settings=SETTINGS, seed=0):
    return chained_codes(cohorts, cohorts.missing, settings, np.random.default_rng(seed))


def two_cohorts(n_rows=4000, flip=0.2):
    """The last feature, x0 xor x1 but for noise, is hidden from the first cohort; y is a copy."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(2, size=(2, 2 * n_rows))
    third = first ^ second ^ (rng.random(2 * n_rows) < flip)
    target = third ^ (rng.random(2 * n_rows) < 0.1)
    missing = np.array([[False, False, True], [False] * 3])
    return cohorts_of(
        np.array([first, second, third]),
        target,
        np.ones(2 * n_rows, dtype=np.int64),
        [0, n_rows, 2 * n_rows],
        missing,
    )


def test_values_are_drawn_as_they_are_distributed_given_all_others():
    cohorts = two_cohorts()
    truth = cohorts.codes[2, :4000].astype(bool)
    imputed = chained(cohorts)[2, :4000].astype(bool)
    parity = (cohorts.codes[0] ^ cohorts.codes[1])[:4000].astype(bool)
    target = cohorts.target_codes[:4000].astype(bool)
    for given in (parity, target, parity & target, ~parity & target):
        assert imputed[given].mean() == pytest.approx(truth[given].mean(), abs=0.03)


def test_recorded_values_stay_and_only_unrecorded_features_get_values():
    cohorts = random_cohorts(2, gaps=0.2)
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    hidden = cohorts.missing[cohort_of].T
    found = chained(cohorts)
    assert np.array_equal(found[~hidden], cohorts.codes[~hidden])
    assert (found[hidden] >= 0).all()
    assert (found < 3).all()


@pytest.mark.parametrize("name", COMPLETERS)
def test_they_keep_the_contract_of_all_completers(name):
    quick = {"imputations": 1, "sweeps": 1, "rounds": 2}
    completer = completer_of(name)
    own = completer.get_params()
    check_completer(completer.set_params(**{k: v for k, v in quick.items() if k in own}))
