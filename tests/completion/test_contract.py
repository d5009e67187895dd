"""What every completer that can be asked for by name has to keep."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from misfeat import MisfeatError, SubgroupSelector
from misfeat.completion.named import COMPLETERS, completer_names, completer_of
from misfeat.completion.networks.completer import NeuralCompleter
from misfeat.completion.settings import confidence_of
from misfeat.lattice import level, ranks_below
from tests.completion.coded import known_of, known_of_sums, random_cohorts, sums_of

QUICK = {
    "epochs": 5,
    "steps": 5,
    "masks": 2,
    "hidden": 8,
    "imputations": 2,
    "sweeps": 2,
    "rounds": 2,
    "device": "cpu",
    "random_state": 0,
}
NEED_ROWS = ("mode", "knn", "iterative", "markov_blanket", "transfer")
NEED_SUMS = ("covariances",)
"""Predict R², from sums of products."""
NEED_SCORES = ("paper",)
"""Refuse a table that holds no score at all."""
NOT_CLOSED = ("paper",)
"""May score a set lower than a part of it, as they say."""
DRAW_ANEW = ("paper",)
"""Differ from one time to the next unless they have a seed."""

every_completer = pytest.mark.parametrize("name", completer_names())


def quick(name, **settings):
    """A completer that takes little time."""
    kind = COMPLETERS[name]
    if issubclass(kind, NeuralCompleter):
        pytest.importorskip("torch", reason="PyTorch is not installed: pip install misfeat[neural]")
    own = kind().get_params(deep=False)
    return kind(**{k: v for k, v in QUICK.items() if k in own}).set_params(**settings)


def known_for(name, cohorts):
    """Known scores of the measure that a completer predicts."""
    if name in NEED_SUMS:
        return known_of_sums(sums_of(cohorts), 4)
    return known_of(cohorts, 4)


def table(name, case="ordinary"):
    """Known scores of a table with something about it."""
    cohorts = random_cohorts(3, n_cohorts=1 if case == "one cohort" else 4, hidden=0.3)
    missing = cohorts.missing
    if case == "a cohort without any feature":
        missing[1] = True
    elif case == "a feature that nobody recorded":
        missing[:, 2] = True
    elif case == "nothing recorded":
        missing[:] = True
    elif case == "nothing missing":
        missing[:] = False
    elif case == "gaps":
        cohorts.codes[np.random.default_rng(0).random(cohorts.codes.shape) < 0.1] = -1
    return known_for(name, cohorts)


def same(one, other):
    names = ("subsets", "score", "low", "high", "predicted", "support")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize(
    "case",
    [
        "ordinary",
        "one cohort",
        "a cohort without any feature",
        "a feature that nobody recorded",
        "nothing recorded",
        "nothing missing",
        "gaps",
    ],
)
@every_completer
def test_every_score_is_there_and_within_its_bounds_and_exact_ones_are_untouched(name, case):
    known = table(name, case)
    completer = quick(name, confidence=0.8)
    if case == "nothing recorded" and name in NEED_SCORES:
        with pytest.raises(MisfeatError, match="to learn from"):
            completer.complete(known, 2)
        return
    completed = completer.complete(known, 2)
    exact = known.exact.by_size[2]
    assert np.array_equal(completed.predicted, np.isnan(exact))
    assert np.array_equal(completed.score[~completed.predicted], exact[~completed.predicted])
    for bound in (completed.low, completed.high):
        assert np.array_equal(bound[~completed.predicted], exact[~completed.predicted])
    assert not np.isnan(completed.score).any()
    assert (completed.low <= completed.score + 1e-12).all()
    assert (completed.score <= completed.high + 1e-12).all()


@pytest.mark.parametrize("name", [name for name in completer_names() if name not in NOT_CLOSED])
def test_no_set_scores_lower_than_a_part_of_it(name):
    known = table(name)
    completer = quick(name, confidence=None)
    larger, smaller = (completer.complete(known, m).score for m in (2, 1))
    assert (larger[:, :, None] >= smaller[:, ranks_below(level(6, 2))] - 1e-12).all()


@every_completer
def test_without_a_confidence_the_bounds_are_what_is_certain(name):
    known = table(name)
    completed = quick(name, confidence=None).complete(known, 2)
    low, high = known.exact.bounds(2)
    assert np.array_equal(completed.low, low)
    assert np.array_equal(completed.high, high)


@every_completer
def test_an_interval_lies_within_the_certain_bounds_and_moves_no_score(name):
    known = table(name)
    likely = quick(name, confidence=0.8, rounds=3).complete(known, 2)
    certain = quick(name, confidence=None).complete(known, 2)
    assert np.array_equal(likely.score, certain.score)
    assert (certain.low <= likely.low).all()
    assert (likely.high <= certain.high).all()


@every_completer
def test_a_seed_repeats_everything_however_many_threads_there_are(name):
    known = table(name)
    first = quick(name, confidence=0.8).complete(known, 2)
    assert same(first, quick(name, confidence=0.8).complete(replace(known, n_jobs=2), 2))


@pytest.mark.parametrize("name", [name for name in completer_names() if name not in DRAW_ANEW])
def test_no_seed_is_the_same_every_time_too(name):
    known = table(name)
    first, again = (quick(name, random_state=None).complete(known, 2) for _ in range(2))
    assert same(first, again)


@every_completer
def test_asking_again_gives_the_same_answer(name):
    known, completer = table(name), quick(name, confidence=0.8)
    assert same(completer.complete(known, 2), completer.complete(known, 2))


@every_completer
def test_nothing_that_is_given_is_changed(name):
    known, untouched = table(name, "gaps"), table(name, "gaps")
    completer = quick(name, confidence=0.8)
    before = completer.get_params()
    completer.complete(known, 2)
    assert completer.get_params() == before
    for left, right in zip(known.exact.by_size, untouched.exact.by_size, strict=True):
        assert np.array_equal(left, right, equal_nan=True)
    for array in ("missing", "ceiling"):
        assert np.array_equal(getattr(known.exact, array), getattr(untouched.exact, array))
    held, arrays = "cohorts", ("codes", "target_codes", "weights", "offsets", "missing")
    if name in NEED_SUMS:
        held, arrays = "sums", ("products", "rows", "missing")
    for array in arrays:
        left, right = (getattr(getattr(one, held), array) for one in (known, untouched))
        assert np.array_equal(left, right)


@every_completer
def test_nothing_is_read_of_hidden_features(name):
    cohorts = random_cohorts(6, hidden=0.0)
    hidden = np.random.default_rng(6).random(cohorts.missing.shape) < 0.4
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    poison = np.where(hidden[cohort_of].T, (cohorts.codes + 1) % 3, cohorts.codes)
    exact = known_for(name, cohorts).exact.hidden(hidden)
    clean, poisoned = (
        quick(name, confidence=None).complete(replace(known_for(name, rows), exact=exact), 2)
        for rows in (cohorts, replace(cohorts, codes=poison.astype(cohorts.codes.dtype)))
    )
    assert same(clean, poisoned)


@pytest.mark.slow
@every_completer
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
        quick(name, confidence=None).complete(known_for(name, rows), 2).score
        for rows in (cohorts, single)
    )
    if name == "iterative":  # other numbers are drawn
        assert np.abs(together - apart).mean() < 0.05
    else:
        assert together == pytest.approx(apart, abs=1e-6)


@every_completer
def test_a_copy_has_the_same_parameters_and_says_the_same(name):
    known, completer = table(name), quick(name, confidence=0.8)
    copied = clone(completer)
    assert copied.get_params() == completer.get_params()
    assert type(completer)(**completer.get_params(deep=False)).get_params() == copied.get_params()
    assert same(completer.complete(known, 2), copied.complete(known, 2))


@every_completer
def test_it_works_on_after_pickling_fresh_or_used(name):
    known, completer = table(name), quick(name, confidence=0.8)
    fresh = pickle.loads(pickle.dumps(completer))  # noqa: S301
    first = completer.complete(known, 2)
    used = pickle.loads(pickle.dumps(completer))  # noqa: S301
    assert same(first, fresh.complete(known, 2))
    assert same(first, used.complete(known, 2))


@every_completer
def test_an_explicit_setting_wins_over_the_selectors(name):
    own = COMPLETERS[name]().get_params(deep=False)
    given = {"confidence": 0.9, "random_state": 0, "device": "auto"}
    given = {setting: value for setting, value in given.items() if setting in own}
    others = {"confidence": 0.5, "random_state": 7, "device": "cpu"}
    kept = completer_of(COMPLETERS[name](**given), **others)
    assert {setting: getattr(kept, setting) for setting in given} == given
    certain = COMPLETERS[name](confidence=None, random_state=None)
    kept = completer_of(certain, **others)
    assert (kept.confidence, kept.random_state) == (None, None)
    left_open = completer_of(COMPLETERS[name](**dict.fromkeys(given, "inherit")), **others)
    assert {setting: getattr(left_open, setting) for setting in given} == {
        setting: others[setting] for setting in given
    }


@every_completer
def test_it_tells_the_confidence_that_its_intervals_have(name):
    kind = COMPLETERS[name]
    assert confidence_of(kind(confidence="inherit")) == 0.9
    assert confidence_of(kind(confidence=0.5)) == 0.5
    assert confidence_of(kind(confidence=None)) is None
    assert completer_of(name).confidence == confidence_of(kind())


@every_completer
def test_scores_alone_are_enough_or_it_says_that_rows_are_needed(name):
    scores = replace(table(name), cohorts=None, sums=None)
    if name in NEED_SUMS:
        with pytest.raises(MisfeatError, match=f"'{name}' needs scores of measure='r2'"):
            quick(name).complete(scores, 2)
    elif name in NEED_ROWS:
        with pytest.raises(MisfeatError, match=f"The completer '{name}' needs the rows"):
            quick(name).complete(scores, 2)
    else:
        assert not np.isnan(quick(name).complete(scores, 2).score).any()


@every_completer
def test_it_says_what_it_reads_and_needs(name):
    completer = quick(name)
    assert completer.reach(3, 10) in (3, 5)
    assert completer.memory_needed(3, 10, 4) >= 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence": 1.0}, "confidence=1.0; it must lie between 0 and 1"),
        ({"confidence": "high"}, "confidence='high'"),
        ({"rounds": -1}, "rounds=-1"),
        ({"random_state": 0.5}, "random_state=0.5"),
    ],
)
@every_completer
def test_settings_that_make_no_sense_are_refused(name, settings, message):
    with pytest.raises(MisfeatError, match=message):
        quick(name, **settings).complete(table(name), 2)


@every_completer
def test_the_selector_takes_it_by_name(name):
    quick(name)  # skips without PyTorch
    rng = np.random.default_rng(0)
    columns = {f"f{i}": rng.integers(3, size=120).astype(float) for i in range(3)}
    columns["y"], columns["site"] = rng.integers(2, size=120), np.arange(120) % 2
    columns["f0"][columns["site"] == 0] = np.nan
    selector = SubgroupSelector(
        "site",
        size=1,
        measure="r2" if name in NEED_SUMS else "mutual_info",
        completer=quick(name),
        confidence=0.5,
        device="cpu",
    ).fit(columns, "y")
    assert type(selector.completer_) is COMPLETERS[name]
    assert selector.completer_.confidence == confidence_of(completer_of(name, confidence=0.5))
    assert not np.isnan(selector.scores()["score"]).any()
