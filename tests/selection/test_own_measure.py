"""Every answer works with a measure of one's own, or refuses by name."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from misfeat import Coding, MisfeatError, SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.information import GiniExplained
from tests.information.own import Accuracy, Information

DATA = make_cohorts(n_rows=200, n_features=5, random_state=1)


def asked(measure=None, **settings):
    chosen = GiniExplained() if measure is None else measure
    return SubgroupSelector(DATA.groups, size=2, k=2, measure=chosen, **settings)


@pytest.fixture(scope="module")
def selector():
    return asked(random_state=0).fit(DATA.columns, DATA.target)


def test_scores_lie_in_their_intervals_and_the_best_come_first(selector):
    best = selector.top_k()
    assert (best["low"] <= best["score"]).all()
    assert (best["score"] <= best["high"]).all()
    assert set(best["source"]) <= {"recorded", "predicted"}
    assert best["share"].to_numpy() == pytest.approx(best["score"])  # there is 1 to explain


def test_information_is_estimated_as_ours_is():
    """Through the same door as any other measure, but for deals and what other tables know."""
    own, ours = (
        asked(measure).fit(DATA.columns, DATA.target) for measure in (Information(), "mutual_info")
    )
    scores, others = own.scores(), ours.scores()
    recorded = (scores["source"] == "recorded").to_numpy()
    assert scores["observed"].to_numpy() == pytest.approx(others["observed"], nan_ok=True)
    apart = np.abs(scores["score"] - others["score"])[recorded]
    wide = (others["high"] - others["low"])[recorded]
    assert (apart < wide / 2).mean() > 0.9


def test_answers_that_need_scores_alone_are_given(selector):
    names = ["scores", "features", "enough", "worth_collecting", "cautions", "validate"]
    for name in names:
        assert len(getattr(selector, name)().columns) > 2
    assert selector.significance()["p_value"].min() == pytest.approx(0.001)
    within = selector.significance(within="f1", permutations=99)
    assert (within["p_value"] >= 0.01).all()
    assert "A score is the explained share of Gini impurity" in selector.report().html()
    assert "| tau |" in selector.to_markdown()


def test_rows_can_be_drawn_anew(selector):
    found = selector.selection_.resampled(resamples=4)
    assert found.resamples == 4


def test_what_it_cannot_do_is_refused_by_name(selector):
    with pytest.raises(MisfeatError, match="measure='gini'"):
        selector.why("c1", ["f1"])
    for settings, message in [
        ({"completer": "transfer"}, "use completer='interactions'"),
        ({"completer": "knn"}, "use completer='gain'"),
        ({"coding": Coding(min_cell=5)}, "min_cell=5 needs measure='mutual_info'"),
    ]:
        with pytest.raises(MisfeatError, match=message):
            asked(**settings).fit(DATA.columns, DATA.target)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("gini", "measure='gini' is unknown; use 'mutual_info' or 'r2'"),
        (GiniExplained, "an instance of a CountMeasure"),
        (3, "an instance of a CountMeasure"),
    ],
)
def test_what_is_no_measure_is_refused(measure, message):
    with pytest.raises(MisfeatError, match=message):
        asked(measure).fit(DATA.columns, DATA.target)


@pytest.mark.parametrize("estimate", ["sample", "above_chance"])
def test_other_estimates_work_too(estimate):
    found = asked(estimate=estimate, budget=0.7, random_state=0).fit(DATA.columns, DATA.target)
    assert np.isfinite(found.scores()["score"]).all()


def test_weights_blocks_threads_and_settings_of_the_measure_work():
    weights = np.random.default_rng(0).uniform(0.2, 3.0, DATA.n_rows)
    found = asked(n_jobs=2).fit(DATA.columns, DATA.target, sample_weight=weights)
    alone = asked(n_jobs=1).fit(DATA.columns, DATA.target, sample_weight=weights)
    assert found.scores().equals(alone.scores())
    assert asked(blocks={"both": ["f1", "f2"]}).fit(DATA.columns, DATA.target).k == 2
    costly = clone(asked(Accuracy())).set_params(measure__cost=3.0)
    assert "Accuracy(cost=3.0)" in repr(costly)
    plain, dear = (
        one.fit(DATA.columns, DATA.target).scores()["observed"]
        for one in (asked(Accuracy()), costly)
    )
    assert not plain.equals(dear)


def test_a_saved_run_answers_without_the_code(selector, tmp_path):
    fresh = asked(random_state=0).fit(DATA.columns, DATA.target)
    fresh.save(tmp_path / "run")
    loaded = SubgroupSelector.load(tmp_path / "run")
    assert loaded.top_k().equals(fresh.top_k())
    assert loaded.scores(size=1).equals(fresh.scores(size=1))
    assert len(loaded.worth_collecting()) == len(fresh.worth_collecting())
    assert "lacks the code" in loaded.report().html()
    for ask in (loaded.significance, loaded.enough, loaded.stability, loaded.validate):
        with pytest.raises(MisfeatError, match="needs the measure 'gini'"):
            ask()
    with pytest.raises(MisfeatError, match="sets of 1, 2 features"):
        loaded.top_k(size=3)
    with pytest.raises(MisfeatError, match=r"set_params\(measure=\.\.\.\)"):
        loaded.fit(DATA.columns, DATA.target)
    loaded.save(tmp_path / "again")
    assert SubgroupSelector.load(tmp_path / "again").top_k().equals(fresh.top_k())
    loaded.set_params(measure=GiniExplained()).fit(DATA.columns, DATA.target)
    assert loaded.top_k().equals(fresh.top_k())


def test_a_numeric_target_is_saved_as_well(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.integers(3, size=200)
    table = {"a": a, "b": rng.integers(2, size=200), "y": a + rng.normal(size=200)}
    found = SubgroupSelector(size=1, measure=GiniExplained()).fit(table, "y")
    found.save(tmp_path / "run")
    assert SubgroupSelector.load(tmp_path / "run").top_k().equals(found.top_k())


def test_a_damaged_run_is_noticed(selector, tmp_path):
    from dataclasses import replace

    from misfeat.information.saved import SavedScores, saved_measure
    from misfeat.selection.checking import ContradictionError
    from misfeat.selection.checking_tables import check_measured

    measure, cohorts = selector.selection_.book.measure, selector.cohorts_
    saved = saved_measure(measure, [1, 2], None)
    check_measured(saved, cohorts)
    assert SavedScores(saved, cohorts).of_levels(0, 2, 2, None)[0] == pytest.approx(
        measure.plug_in.of_levels(0, 2, 2, None)[0], nan_ok=True
    )
    for wrong in (
        {"name": ""},
        {"sizes": (1,)},
        {"sizes": (1, 9)},
        {"whole": -saved.whole},
        {"observed": saved.observed + 1.0},
        {"observed": np.nan_to_num(saved.observed)},
        {"n_grids": 3},
    ):
        with pytest.raises((ContradictionError, ValueError)):
            check_measured(replace(saved, **wrong), cohorts)


def test_runs_are_compared_by_what_they_show(selector):
    from misfeat import compare

    again = asked(random_state=0).fit(DATA.columns, DATA.target)
    notes = [str(note) for note in compare(selector, again).notes]
    assert any("not known of measure='gini'" in note for note in notes)
    with pytest.raises(MisfeatError, match="measure='gini', the second measure='mutual_info'"):
        compare(selector, asked("mutual_info").fit(DATA.columns, DATA.target))


def test_it_is_pickled(selector):
    again = pickle.loads(pickle.dumps(selector))  # noqa: S301
    assert again.top_k(size=1).equals(selector.top_k(size=1))
