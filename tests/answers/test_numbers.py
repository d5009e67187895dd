"""A numeric target from its table to every answer."""

import numpy as np
import pytest

from misfeat import Coding, SubgroupSelector, compare
from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.set_cells import explanation
from misfeat.answers.top_sets import best_sets
from misfeat.estimation.set_scores import SetScores

FEATURES = ["a", "b", "c", "d"]


def table(n_rows=240):
    rng = np.random.default_rng(4)
    columns = dict(zip(FEATURES, rng.normal(size=(4, n_rows)), strict=True))
    site = np.repeat(["north", "south"], n_rows // 2)
    price = np.exp(columns["a"] + columns["b"] + 0.5 * rng.normal(size=n_rows))
    columns["b"] = np.where(site == "south", np.nan, columns["b"])
    return {**columns, "site": site, "price": price}


def fitted(**settings):
    return SubgroupSelector("site", **{"size": 2, "k": 3, **settings}).fit(table(), "price")


@pytest.fixture(scope="module")
def selector():
    return fitted()


def test_scores_and_bounds_are_means_of_what_every_grid_gives(selector):
    book = selector.selection_.set_scores
    parts = [SetScores(part, book.estimate).completed(2) for part in book.measure.parts]
    assert len(parts) == len(selector.cohorts_.grids) == 4
    found = book.completed(2)
    for name in ("score", "low", "high"):
        mean = np.mean([getattr(part, name) for part in parts], axis=0)
        np.testing.assert_allclose(getattr(found, name), mean, atol=1e-12)
    np.testing.assert_allclose(
        found.spread, np.std([part.score for part in parts], axis=0), atol=1e-12
    )


def test_the_planted_features_come_first_recorded_or_not(selector):
    best = best_sets(selector.selection_, k=1)
    assert [one.features for one in best] == [("a", "b")] * 2
    assert [one.source for one in best] == ["recorded", "predicted"]


def test_the_choice_is_named_with_what_overrides_it(selector):
    (said,) = [one for one in list_cautions(selector.selection_) if one.kind == "number as target"]
    assert "'price' is taken as a number: scores are means over 4 grids" in said.sentence
    assert "target='classes'" in said.remedy
    classes = fitted(coding=Coding(target="classes"))
    (said,) = [one for one in list_cautions(classes.selection_) if one.kind == "binned target"]
    assert "target='number'" in said.remedy


def test_a_saved_number_answers_as_it_did_and_further_sizes(selector, tmp_path):
    again = fitted()
    again.save(tmp_path / "run")
    loaded = SubgroupSelector.load(tmp_path / "run")
    assert loaded.cohorts_.equals(selector.cohorts_)
    assert loaded.scores().equals(selector.scores())
    assert loaded.scores(size=3).equals(selector.scores(size=3))


def test_a_number_has_a_spread_over_its_grids_and_what_to_tell_is_their_mean(selector):
    whole = selector.selection_.set_scores.measure.whole
    np.testing.assert_allclose(selector.subgroups_["target_entropy"], whole)
    best = best_sets(selector.selection_, k=1)
    shares = [one.score / all_of_it for one, all_of_it in zip(best, whole, strict=True)]
    assert [one.share for one in best] == pytest.approx(shares)
    assert (selector.top_k()["spread"] >= 0).all()
    classes = fitted(coding=Coding(target="classes"))
    assert "spread" not in classes.top_k().columns
    found = explanation(selector.selection_, "site=north", ["a"])
    assert [share.label for share in found.cells[0].shares] == list(selector.cohorts_.classes)


def test_every_answer_about_a_number_can_be_had(selector):
    assert selector.significance()["more_than_chance"].all()
    assert len(selector.enough()) > 0
    assert selector.stability(resamples=3)["frequency"].between(0, 1).all()
    assert len(selector.worth_collecting()) > 0
    assert selector.validate()["coverage"].between(0, 1).all()


def test_a_comparison_says_where_a_target_is_a_number_in_one_run_alone(selector):
    classes = fitted(coding=Coding(target="classes"))
    notes = compare(selector, classes).notes
    assert any("is taken as a number in one run, and in classes" in note for note in notes)
    again = compare(selector, fitted())
    assert not any("taken as a number" in note for note in again.notes)
