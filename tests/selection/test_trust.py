from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.bench.hiding import Truth
from misfeat.completion import GainCompleter, Known
from misfeat.datasets import make_cohorts
from misfeat.selection.trust import trust
from tests.completion.coded import drawn_cohorts


class TruthTeller(GainCompleter):
    """Knows what is hidden, or is off by a share of it."""

    truth, off = None, 0.0

    def complete(self, known, size):
        completed = super().complete(known, size)
        score = self.truth.exact.by_size[size] * (1 + self.off)
        return type(completed)(
            completed.subsets, score, score, score, completed.predicted, completed.support
        )


@pytest.mark.parametrize(("off", "coverage"), [(0.0, 1.0), (0.1, 0.0)])
def test_predictions_are_compared_with_what_was_hidden(monkeypatch, off, coverage):
    truth = Truth.of(drawn_cohorts(n_features=6), 2)
    monkeypatch.setattr(TruthTeller, "truth", truth)
    monkeypatch.setattr(TruthTeller, "off", off)
    known = truth.hidden(np.zeros((3, 6), dtype=bool))
    found = trust(known, TruthTeller(confidence=None), 2, k=3, rounds=6)
    assert [one.cohort for one in found] == [0, 1, 2]
    for one in found:
        assert one.hidden == 2
        assert one.ndcg == pytest.approx(1)
        assert one.captured == pytest.approx(1)
        assert one.coverage == coverage
        assert one.error == pytest.approx(off * np.sqrt(1.0), abs=0.02)


def test_nothing_can_be_hidden_where_no_feature_was_recorded_twice():
    truth = Truth.of(drawn_cohorts(n_cohorts=2, n_features=4), 2)
    known = truth.hidden(np.array([[True, True, False, False], [False, False, True, True]]))
    assert trust(known, GainCompleter(), 2, k=3, rounds=4) == []
    assert trust(Known(known.exact), GainCompleter(), 2, k=3, rounds=4) == []


def test_the_selector_says_how_far_to_trust_it():
    data = make_cohorts(4, 400, 6, hide=0.2, random_state=0)
    selector = SubgroupSelector(data.groups, size=2, k=5, random_state=0)
    selector.fit(data.columns, data.target)
    found = selector.validate()
    assert found["subgroup"].tolist() == list(selector.cohorts_.names)
    assert found[["ndcg", "captured", "coverage"]].stack().between(0, 1).all()
    assert selector.validation_.startswith("With ")
    assert "90 % intervals" in selector.validation_
    again = selector.validate()
    assert found.equals(again)
    with pytest.raises(MisfeatError, match="rounds=0"):
        selector.validate(rounds=0)
    scores = selector.scores()
    selector.validate(size=3)
    assert selector.scores().equals(scores)


def test_a_single_subgroup_cannot_be_checked():
    data = make_cohorts(1, 100, 4, hide=0, random_state=0)
    selector = SubgroupSelector(size=2).fit(data.complete, data.target)
    assert len(selector.validate()) == 0
    assert "cannot be checked" in selector.validation_


def test_the_same_question_is_answered_once_until_the_next_fit(monkeypatch):
    asked = []

    def counted(*arguments):
        asked.append(arguments)
        return trust(*arguments)

    monkeypatch.setattr("misfeat.selection.selection.trust", counted)
    data = make_cohorts(n_rows=200, n_features=5, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=1, completer="gain")
    selector.fit(data.columns, data.target)
    first = selector.validate()
    assert selector.validate().equals(first)
    selector.report()
    assert len(asked) == 1
    selector.validate(k=1)
    selector.fit(data.columns, data.target).validate()
    assert len(asked) == 3
