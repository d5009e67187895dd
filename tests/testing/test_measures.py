from __future__ import annotations

import numpy as np
import pytest

from misfeat.information import GiniExplained
from misfeat.testing import check_measure, measure_checks
from tests.information.own import Accuracy, Information

CHECKS = [check.name for check in measure_checks(GiniExplained())]


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("measure", [GiniExplained(), Information()], ids=repr)
def test_measures_keep_the_contract(measure, name):
    {check.name: check for check in measure_checks(measure)}[name]()


def wrong(of_counts, **own):
    return type("Wrong", (GiniExplained,), {"of_counts": of_counts, **own})()


def gini(counts):
    return GiniExplained().of_counts(counts)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (wrong(lambda _, c: gini(c), words=""), "has no words"),
        (wrong(lambda _, c: gini(c)[:1]), "one number a table"),
        (wrong(lambda _, c: gini(c) / c.shape[1]), "three cells without rows"),
        (wrong(lambda _, c: gini(c) * c.sum(axis=(1, 2))), "ten times the rows"),
        (wrong(lambda _, c: gini(c) / len(c)), "a table in a stack"),
        (wrong(lambda _, c: gini(c) + 0.1), "instead of 0"),
        (wrong(lambda _, c: c[:, 0, 0] / c.sum(axis=(1, 2))), "in another order"),
        (wrong(lambda _, c: 1e-3 * (gini(c) + 1e-6)), "instead of 0"),
        (wrong(lambda _, c: gini(c) / (c.any(axis=2).sum(axis=1))), "first two cells put together"),
    ],
)
def test_what_is_wrong_is_said_in_words(measure, message):
    with pytest.raises(AssertionError, match=message):
        check_measure(measure)


def test_counts_must_not_be_changed():
    def of_counts(self, counts):
        counts /= counts.sum(axis=(1, 2), keepdims=True)
        return gini(counts)

    with pytest.raises(AssertionError, match="changes the counts"):
        check_measure(wrong(of_counts))


def test_a_large_unit_is_no_mistake():
    check_measure(wrong(lambda _, c: 1e8 * gini(c)))


class WithSettings(GiniExplained):
    def __init__(self, costs=None):
        self.costs = costs


class Misspelt(GiniExplained):
    def __init__(self, cost=1.0):
        self.price = cost


def test_settings_may_be_arrays_and_have_their_own_names():
    check_measure(WithSettings(np.array([1.0, 2.0])))
    with pytest.raises(AssertionError, match="does not store an argument of __init__"):
        check_measure(Misspelt())


def test_what_there_is_to_tell_must_be_the_most():
    def whole(self, by_class):
        return 0.1

    with pytest.raises(AssertionError, match="which must be the most"):
        check_measure(wrong(lambda _, c: gini(c), whole=whole))


def test_a_measure_with_settings_is_a_measure():
    for check in measure_checks(Accuracy(cost=2.0)):
        if check.name not in NEED_TWO_CLASSES:
            check()


NEED_TWO_CLASSES = (
    "it_gives_a_number_for_every_table",
    "shares_count_not_rows",
    "cells_with_the_same_shares_tell_nothing",
    "cells_put_together_never_tell_more",
    "nothing_tells_more_than_the_target_itself",
)
"""A cost of two classes says nothing of three."""


def test_a_single_table_has_a_score():
    assert gini(np.array([[[3.0, 1.0], [1.0, 3.0]]])) == pytest.approx(0.25)
