from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.completion.base import (
    check_confidence,
    check_not_negative,
    check_probability,
    check_share,
)


@pytest.mark.parametrize("value", [0.5, np.float32(0.25)])
def test_numbers_of_any_kind_are_taken(value):
    check_confidence(value)
    check_probability(value, "alpha")
    check_share(value, "dropout")
    check_not_negative(value, "weight_decay")


def test_the_ends_of_the_range_are_in_it_or_not():
    check_confidence(None)
    check_share(0, "dropout")
    check_not_negative(1e30, "learning_rate")
    for refused in (
        lambda: check_confidence(1),
        lambda: check_probability(0, "alpha"),
        lambda: check_share(1, "dropout"),
        lambda: check_not_negative(float("inf"), "learning_rate"),
    ):
        with pytest.raises(MisfeatError, match="it must"):
            refused()


@pytest.mark.parametrize("value", [True, "much", None, [0.5], float("nan")])
def test_what_is_no_number_is_refused(value):
    for check in (check_probability, check_share, check_not_negative):
        with pytest.raises(MisfeatError, match="setting="):
            check(value, "setting")
