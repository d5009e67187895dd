from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from misfeat import MisfeatError
from misfeat.reading.values import MissingCodes, canonical, label, read_number


def test_every_spelling_of_missing_is_none_and_equal_numbers_have_one():
    for value in (None, float("nan"), np.float32("nan"), pd.NA, pd.NaT):
        assert canonical(value) is None
    for value in (1, 1.0, np.int8(1), np.float32(1), Decimal(1)):
        assert canonical(value) == 1
        assert type(canonical(value)) is int
    for value in (0.5, 1e300, float("inf")):
        assert canonical(value) == value
        assert type(canonical(value)) is float


def test_moments_become_naive_datetimes_in_utc():
    noon = dt.datetime(2024, 3, 1, 12)
    assert canonical(dt.date(2024, 3, 1)) == dt.datetime(2024, 3, 1)
    assert canonical(pd.Timestamp("2024-03-01 12:00")) == noon
    assert type(canonical(pd.Timestamp("2024-03-01 12:00"))) is dt.datetime
    east = dt.timezone(dt.timedelta(hours=2))
    assert canonical(dt.datetime(2024, 3, 1, 14, tzinfo=east)) == noon


def test_labels_show_dates_without_midnight():
    assert label(dt.datetime(2024, 3, 1)) == "2024-03-01"
    assert label(dt.datetime(2024, 3, 1, 12)) == "2024-03-01 12:00:00"
    assert label("as it is") == "as it is"


def test_numbers_are_read_from_text():
    assert (read_number("1.5"), read_number("-3")) == (1.5, -3)
    for text in (" 3", "1_000", "٣", "x", "nan", True, None):
        assert read_number(text) is None


def test_numbers_too_large_for_a_float_are_codes_too():
    assert MissingCodes.parse(10**400).numbers("any") == (10**400,)


@pytest.mark.parametrize("wrong", [len, [["?"]], {"x": {"a": 1}}, {"x": [len]}])
def test_what_can_be_no_code_is_refused(wrong):
    with pytest.raises(MisfeatError, match="a value that means missing is a text") as refused:
        MissingCodes.parse(wrong)
    assert refused.value.parameter == "missing_values"
