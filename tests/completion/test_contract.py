"""What every completer that can be asked for by name has to keep."""

from dataclasses import replace

import numpy as np
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.completion.neural_completers import NeuralCompleter
from misfeat.completion.registry import COMPLETERS, completer_class, completer_of, confidence_of
from misfeat.testing import check_completer
from tests.completion.coded import known_of, random_cohorts

QUICK = {
    "epochs": 5,
    "steps": 5,
    "masks": 2,
    "hidden": 8,
    "rounds": 2,
    "device": "cpu",
    "random_state": 0,
}
NEED_ROWS = ("knn", "markov_blanket", "transfer")
NEED_SCORES = ("paper",)
"""Refuse a table that holds no score at all."""
NOT_CLOSED = ("paper",)
"""May score a set lower than a part of it, as they say."""
DRAW_ANEW = ("paper",)
"""Differ from one time to the next unless they have a seed."""

every_completer = pytest.mark.parametrize("name", COMPLETERS)


def quick(name, **settings):
    """A completer that takes little time."""
    kind = completer_class(name)
    if issubclass(kind, NeuralCompleter):
        pytest.importorskip("torch", reason="PyTorch is not installed: pip install misfeat[neural]")
    own = kind().get_params(deep=False)
    return kind(**{k: v for k, v in QUICK.items() if k in own}).set_params(**settings)


@every_completer
def test_it_keeps_the_contract(name):
    check_completer(
        quick(name),
        closed=name not in NOT_CLOSED,
        seeded=name in DRAW_ANEW,
        learns=name in NEED_SCORES,
    )


@pytest.mark.parametrize("name", NEED_SCORES)
def test_what_cannot_learn_from_nothing_says_so(name):
    known = known_of(random_cohorts(3), 4)
    nothing = known.hidden(np.ones_like(known.exact.missing))
    with pytest.raises(MisfeatError, match="to learn from"):
        quick(name).complete(nothing, 2)


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
        quick(name, confidence=None).complete(known_of(rows, 4), 2).score
        for rows in (cohorts, single)
    )
    assert together == pytest.approx(apart, abs=1e-6)


REFUSED = {
    "knn": [({"n_neighbors": 0}, "n_neighbors=0")],
    "markov_blanket": [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"repeats": 0}, "repeats=0"),
        ({"alpha": 1}, "alpha=1; it must lie between 0 and 1"),
        ({"rows_per_cell": -1}, "rows_per_cell=-1; it must be a number that is not negative"),
    ],
    "paper": [
        ({"layers": 0}, "layers=0"),
        ({"layers": None}, "layers=None"),
        ({"hidden": 1.5}, "hidden=1.5"),
        ({"dropout": 1.0}, "dropout=1.0; it must be at least 0 and below 1"),
        ({"validation_share": -0.1}, "validation_share=-0.1"),
        ({"learning_rate": float("nan")}, "learning_rate=nan"),
        ({"learning_rate": True}, "learning_rate=True"),
        ({"weight_decay": "much"}, "weight_decay='much'"),
        ({"random_state": -1}, "random_state=-1"),
        ({"layers": 4}, "scores up to size 6 are read; by_size ends at size 4"),
    ],
    "mlp": [
        ({"hidden": 0}, "hidden=0"),
        ({"epochs": 1.5}, "epochs=1.5"),
        ({"learning_rate": -1}, "learning_rate=-1; it must be a number that is not negative"),
        ({"validation_share": 1.0}, "validation_share=1.0"),
        ({"device": "tpu"}, "device='tpu' is unknown"),
    ],
    "multiplex": [
        ({"steps": -1}, "steps=-1"),
        ({"dropout": 1}, "dropout=1; it must be at least 0 and below 1"),
        ({"learning_rate": "fast"}, "learning_rate='fast'"),
    ],
}


@pytest.mark.parametrize("name", REFUSED)
def test_settings_that_make_no_sense_are_refused(name):
    known = known_of(random_cohorts(3, hidden=0.3), 4)
    for settings, message in REFUSED[name]:
        with pytest.raises(MisfeatError, match=message):
            quick(name, **settings).complete(known, 2)


@every_completer
def test_an_explicit_setting_wins_over_the_selectors(name):
    kind = completer_class(name)
    given = {"confidence": 0.9, "random_state": 0, "device": "auto"}
    given = {setting: value for setting, value in given.items() if setting in kind().get_params()}
    others = {"confidence": 0.5, "random_state": 7, "device": "cpu"}
    kept = completer_of(kind(**given), **others)
    assert {setting: getattr(kept, setting) for setting in given} == given
    kept = completer_of(kind(confidence=None, random_state=None), **others)
    assert (kept.confidence, kept.random_state) == (None, None)
    left_open = completer_of(kind(**dict.fromkeys(given, "inherit")), **others)
    assert all(getattr(left_open, setting) == others[setting] for setting in given)
    told = [confidence_of(kind(confidence=one)) for one in ("inherit", 0.5, None)]
    assert told == [0.9, 0.5, None]
    assert completer_of(name).confidence == confidence_of(kind())


@every_completer
def test_scores_alone_are_enough_or_it_says_that_rows_are_needed(name):
    known = known_of(random_cohorts(3, hidden=0.3), 4)
    scores = replace(known, cohorts=None, sums=None)
    if name in NEED_ROWS:
        with pytest.raises(MisfeatError, match=f"The completer '{name}' needs the rows"):
            quick(name).complete(scores, 2)
    else:
        assert not np.isnan(quick(name).complete(scores, 2).score).any()


@every_completer
def test_the_selector_takes_it_by_name(name):
    quick(name)  # skips without PyTorch
    rng = np.random.default_rng(0)
    columns = {f"f{i}": rng.integers(3, size=120).astype(float) for i in range(3)}
    columns["y"], columns["site"] = rng.integers(2, size=120), np.arange(120) % 2
    columns["f0"][columns["site"] == 0] = np.nan
    selector = SubgroupSelector(
        "site", size=1, completer=quick(name), confidence=0.5, device="cpu"
    ).fit(columns, "y")
    assert type(selector.completer_) is completer_class(name)
    assert selector.completer_.confidence == confidence_of(completer_of(name, confidence=0.5))
    assert not np.isnan(selector.scores()["score"]).any()
