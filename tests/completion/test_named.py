"""What every completer that can be asked for by name has to cope with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.completion import Known
from misfeat.completion.named import COMPLETERS, completer_of
from misfeat.lattice import level, ranks_below
from tests.completion.coded import known_of, random_cohorts

QUICK = {"epochs": 5, "steps": 5, "masks": 2, "imputations": 2, "sweeps": 2, "rounds": 2}
BASELINES = ("drop", "mode", "knn", "iterative", "markov_blanket", "mlp")
NEED_ROWS = ("mode", "knn", "iterative", "markov_blanket", "transfer")


def quick(name, **settings):
    completer = completer_of(name, device="cpu")
    own = completer.get_params(deep=False)
    return completer.set_params(**{k: v for k, v in {**QUICK, **settings}.items() if k in own})


def table(case):
    """Known scores of a table with something about it."""
    cohorts = random_cohorts(3, n_cohorts=1 if case == "one cohort" else 4, hidden=0.3)
    missing = cohorts.missing
    if case == "a cohort without any feature":
        missing[1] = True
    elif case == "a feature that nobody recorded":
        missing[:, 2] = True
    elif case == "nothing recorded":
        missing[:] = True
    elif case == "gaps":
        cohorts.codes[np.random.default_rng(0).random(cohorts.codes.shape) < 0.1] = -1
    return known_of(cohorts, 4)


@pytest.mark.parametrize(
    "case",
    [
        "ordinary",
        "one cohort",
        "a cohort without any feature",
        "a feature that nobody recorded",
        "nothing recorded",
        "gaps",
    ],
)
@pytest.mark.parametrize("name", BASELINES)
def test_every_score_is_there_and_within_its_bounds(name, case):
    known = table(case)
    completed = quick(name).complete(known, 2)
    exact = known.exact.by_size[2]
    assert np.array_equal(completed.predicted, np.isnan(exact))
    assert np.array_equal(completed.score[~completed.predicted], exact[~completed.predicted])
    assert not np.isnan(completed.score).any()
    assert (completed.low <= completed.score + 1e-12).all()
    assert (completed.score <= completed.high + 1e-12).all()


@pytest.mark.parametrize("name", BASELINES)
def test_no_set_scores_lower_than_a_part_of_it(name):
    known = table("ordinary")
    larger, smaller = (quick(name, confidence=None).complete(known, m).score for m in (2, 1))
    assert (larger[:, :, None] >= smaller[:, ranks_below(level(6, 2))] - 1e-12).all()


@pytest.mark.parametrize("name", BASELINES)
def test_the_same_comes_out_every_time(name):
    known = table("ordinary")
    first = quick(name).complete(known, 2)
    for state in (None, 0):
        again = quick(name, random_state=state).complete(replace(known, n_jobs=2), 2)
        assert np.array_equal(first.score, again.score)
        assert np.array_equal(first.high, again.high)


@pytest.mark.parametrize("name", BASELINES)
def test_a_weight_counts_as_so_many_rows(name):
    cohorts = random_cohorts(5)
    each = np.repeat(np.arange(len(cohorts.weights)), cohorts.weights)
    single = replace(
        cohorts,
        codes=cohorts.codes[:, each],
        target_codes=cohorts.target_codes[each],
        weights=np.ones(len(each), dtype=np.int64),
        offsets=np.concatenate([[0], np.cumsum(cohorts.weights)])[cohorts.offsets],
    )
    together, apart = (
        quick(name, confidence=None).complete(known_of(rows, 4), 2).score
        for rows in (cohorts, single)
    )
    if name == "iterative":  # other numbers are drawn
        assert np.abs(together - apart).mean() < 0.05
    else:
        assert together == pytest.approx(apart)


@pytest.mark.parametrize("name", BASELINES)
def test_nothing_is_read_of_hidden_features(name):
    cohorts = random_cohorts(6, hidden=0.0)
    hidden = np.random.default_rng(6).random(cohorts.missing.shape) < 0.4
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    poison = np.where(hidden[cohort_of].T, (cohorts.codes + 1) % 3, cohorts.codes)
    exact = known_of(cohorts, 4).exact.hidden(hidden)
    clean, poisoned = (
        quick(name).complete(Known(exact, rows), 2).score
        for rows in (cohorts, replace(cohorts, codes=poison))
    )
    assert np.array_equal(clean, poisoned)


@pytest.mark.parametrize("name", NEED_ROWS)
def test_a_completer_that_needs_rows_says_so(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:30, 0] = np.nan
    sites = np.repeat(["a", "b"], 30)
    columns = {"x0": X[:, 0], "x1": X[:, 1], "x2": X[:, 2], "y": rng.normal(size=60), "site": sites}
    selector = SubgroupSelector("site", size=1, measure="r2", completer=name)
    with pytest.raises(MisfeatError, match=f"The completer '{name}' needs the rows"):
        selector.fit(columns, "y").scores()


@pytest.mark.parametrize("name", [name for name in BASELINES if name not in NEED_ROWS])
def test_scores_alone_are_enough(name):
    completed = quick(name).complete(replace(table("ordinary"), cohorts=None), 2)
    assert not np.isnan(completed.score).any()


@pytest.mark.parametrize("name", COMPLETERS)
def test_every_name_stands_for_a_completer_that_says_what_it_reads(name):
    completer = completer_of(name)
    assert completer.reach(3, 10) in (3, 5)
    assert completer.memory_needed(3, 10, 4) >= 0
